# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A leader's joint states are what its follower is asked for, however either is called."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.leaders import with_leaders_asking
from sysid_ros.proposal.signals.mapping import map_channels

TIMES = np.arange(0.0, 20.0, 0.02)
JOINTS = ("pan", "lift")


def states(topic: str, late: float, quantity: str = "position") -> list[Channel]:
    return [
        Channel(
            topic, "sensor_msgs/msg/JointState", f"{quantity}[{name}]", name, quantity, i, False,
            (TIMES,), ((1.0 - 0.1 * late) * np.sin((i + 2.0) * (TIMES - late)),),
        )
        for i, name in enumerate(JOINTS)
    ]  # fmt: skip


@pytest.mark.parametrize(("leader", "follower"), [("leader", "follower"), ("b", "a"), ("a", "b")])
def test_the_follower_is_measured_and_the_leader_asks(leader: str, follower: str) -> None:
    bodies = "".join(f'<body><joint name="{n}"/><geom size=".1" mass="1"/></body>' for n in JOINTS)
    servos = "".join(f'<position name="{n}" joint="{n}" kp="9"/>' for n in JOINTS)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{bodies}</worldbody><actuator>{servos}</actuator></mujoco>"
    )
    ahead, behind = (f"/{one}/joint_states" for one in (leader, follower))
    channels = [*states(ahead, 0.0), *states(ahead, 0.0, "velocity"), *states(behind, 0.06)]
    found = map_channels(model, channels)
    assert {(one.kind, one.name, one.channel.topic) for one in found.lines} == {
        *(("qpos", name, behind) for name in JOINTS),
        *(("actuator", name, ahead) for name in JOINTS),
    }
    assert any(f"{behind} is behind {ahead}" in one for one in found.unmapped)


def test_what_is_no_leader_stays() -> None:
    own = states("/follower/joint_states", 0.06)
    encoders = [*own, *states("/motors/joint_states", 0.061)]
    filtered = [*own, *states("/follower/raw_joint_states", 0.0)]
    asked = replace(own[0], topic="/arm/commands", name="", field="data[0]", command=True)
    commanded = [*own, *states("/leader/joint_states", 0.0), asked]
    for channels in (encoders, filtered, commanded):
        assert with_leaders_asking(channels) == (channels, [])


def test_a_relay_follows_nobody() -> None:
    own = states("/arm/joint_states", 0.0)
    relayed = [
        replace(
            one, topic="/joint_states", times=(TIMES[2:] + 0.02,), values=(one.values[0][1:-1],)
        )
        for one in own
    ]
    assert with_leaders_asking([*own, *relayed]) == ([*own, *relayed], [])


def test_a_leader_that_only_a_later_recording_has_is_found() -> None:
    leader = states("/leader/joint_states", 0.0)
    follower = [
        replace(one, times=(TIMES - 100.0, TIMES), values=(np.cos(9.0 * TIMES), one.values[0]))
        for one in states("/follower/joint_states", 0.06)
    ]
    asking, said = with_leaders_asking([*leader, *follower])
    assert [one.command for one in asking] == [True, True, False, False] and len(said) == 1
