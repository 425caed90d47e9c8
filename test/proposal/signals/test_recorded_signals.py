# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that do not share the topics of their commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from robot_to_try import ARM_PLAN

from sysid_ros.diagnosis import Finding, FindingKind
from sysid_ros.proposal.signals import RecordedSignals, recorded_signals, without_mistaken
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.mapping import map_robot
from sysid_ros.rehearsal import CommandForm, Controller, generate

PENDULUM = """<mujoco><worldbody><body><joint name="joint" axis="0 1 0" damping=".2"/>
  <geom type="capsule" size=".02" fromto="0 0 0 0 0 -.3" mass=".5"/></body></worldbody>
  <actuator><position name="servo" joint="joint" kp="20"/></actuator></mujoco>"""
ARRAY = Controller(topic="/position_controller/commands")
WHOLE = Controller(topic="/arm_controller/joint_trajectory", form=CommandForm.TRAJECTORY)


@pytest.mark.parametrize(
    ("controllers", "taken"),
    [((ARRAY, WHOLE), [0]), ((WHOLE, ARRAY, ARRAY), [1, 2]), ((ARRAY, ARRAY), [0, 1])],
)
def test_of_recordings_with_different_controllers_those_of_one_are_taken(
    controllers: tuple[Controller, ...], taken: list[int], tmp_path: Path
) -> None:
    spec = mujoco.MjSpec.from_string(PENDULUM)
    bags = [tmp_path / f"bag{k}" for k in range(len(controllers))]
    for bag, controller in zip(bags, controllers, strict=True):
        generate(spec, replace(ARM_PLAN, controllers=(controller,), duration=2.0), bag)
    found = recorded_signals(spec, bags, ())
    (command,) = [line for line in found.mapping.lines if line.input]
    assert command.channel.topic == controllers[taken[0]].topic
    assert found.usable == [bags[k] for k in taken]
    left = [why for _, why in found.left_out]
    assert left == [f"without {command.channel.topic}"] * (len(bags) - len(taken))


@pytest.mark.parametrize("overrides", [(), ("signals.1.frame=world",)])
def test_a_twist_whose_halves_are_in_different_frames_is_left_out(
    overrides: tuple[str, ...],
) -> None:
    """As a Crazyflie's, which tells speeds in the world's axes and rates in its own."""
    part = np.arange(3.0)
    channels = [
        Channel("/odom", "nav_msgs/msg/Odometry", field, "", "", 0, False, (part,), (part,))
        for field in ("pose.pose.position.x", "pose.pose.orientation.z", "twist.twist.linear.x")
    ]
    drone = "<mujoco><worldbody><body name='base'><freejoint/><geom size='.1'/></body></worldbody>"
    spec, mapping = map_robot(mujoco.MjSpec.from_string(f"{drone}</mujoco>"), channels)
    seen = RecordedSignals(spec, mapping, channels, [], [], [], "")
    assert [one.kind for one in seen.mapping.bodies] == ["qpos", "qvel"]
    finding = Finding(
        FindingKind.SWAP, ("base_qvel",), {}, "half of it", "# - {qvel: base}", overrides
    )
    left = without_mistaken(spec, seen, (finding,))
    if overrides:  # its frame is written instead
        assert left is None
    else:
        assert left is not None and [one.kind for one in left.mapping.bodies] == ["qpos"]
        assert "half of it" in left.mapping.unmapped and left.channels == channels
