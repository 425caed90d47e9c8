# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that only a simulation of the whole model shows."""

from __future__ import annotations

import mujoco
import mujoco.rollout
import numpy as np
import pytest

from sysid_ros.diagnosis.evidence.finding import FindingKind
from sysid_ros.diagnosis.evidence.recorded import recorded
from sysid_ros.diagnosis.simulated.simulated_mistakes import simulated_explanations
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType

SEGMENTS = 5  # of each axis; more of them than signals for which repairs are tried
JOINTS = [f"{axis}{k}" for k in range(SEGMENTS) for axis in "xy"]
DT = 0.002


def soft_arm() -> str:
    """Elastic segments that bend about two axes, each by a tendon of all of them."""
    segment = (
        '<body pos="0 0 -.05"><joint name="x{k}" axis="1 0 0" stiffness="{x}" damping=".02"/>'
        '<joint name="y{k}" axis="0 1 0" stiffness="1" damping=".02"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.05" size=".01" mass=".03" contype="0"/>'
    )  # x is softer, so that its segments are those that are explained worst
    bodies = "".join(segment.format(k=k, x=0.5) for k in range(SEGMENTS)) + "</body>" * SEGMENTS
    pulled = {
        axis: "".join(f'<joint joint="{axis}{k}" coef=".02"/>' for k in range(SEGMENTS))
        for axis in "xy"
    }
    tendons = "".join(f'<fixed name="{axis}">{own}</fixed>' for axis, own in pulled.items())
    servos = "".join(f'<position name="pull_{a}" tendon="{a}" kp="3000" kv="30"/>' for a in "xy")
    sensors = "".join(f'<jointpos name="{joint}_pos" joint="{joint}"/>' for joint in JOINTS)
    return (
        f'<mujoco><option timestep="{DT}" integrator="implicitfast"/><worldbody>{bodies}'
        f"</worldbody><tendon>{tendons}</tendon><actuator>{servos}</actuator>"
        f"<sensor>{sensors}</sensor></mujoco>"
    )


@pytest.mark.parametrize(
    "topics", [("/tendons", "/tendons"), ("/pull_x", "/pull_y")], ids=["one array", "a topic each"]
)
@pytest.mark.parametrize("exchanged", [False, True])
def test_commands_of_tendons_that_bend_other_joints(
    topics: tuple[str, str], exchanged: bool
) -> None:
    model = mujoco.MjModel.from_xml_string(soft_arm())
    times = DT * np.arange(3000)
    pulled = 0.03 * np.column_stack([np.sin(3.0 * times), np.sin(4.3 * times + 1.0)])
    start = create_initial_state(model, model.qpos0, np.zeros(model.nv))
    _, seen = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], pulled[None])
    told = pulled[:, ::-1] if exchanged else pulled
    names = [f"{joint}_pos" for joint in JOINTS]
    group = ModelSequences(
        "arm", mujoco.MjSpec.from_string(soft_arm()), "recording", start,
        TimeSeries(times, told, {
            f"pull_{axis}": (SignalType.MjCtrl, np.array([k])) for k, axis in enumerate("xy")
        }),
        TimeSeries(times + DT, seen[0], {
            name: (SignalType.MjSensor, np.array([k])) for k, name in enumerate(names)
        }),
    )  # fmt: skip
    entries = dict(zip(("pull_x", "pull_y"), topics, strict=True)) | dict.fromkeys(names, "/states")
    found = simulated_explanations(recorded([group]), group, ParameterDict(), 1.0, [], entries)
    assert [(one.change.kind, {*one.change.signals}) for one in found] == (
        [(FindingKind.SWAP, {"pull_x", "pull_y"})] if exchanged else []
    )
