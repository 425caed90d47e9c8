# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Efforts that jump with commanded velocities are simulated where the jumps matter, or told."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import pytest
from robot_kinds import urdf_arm
from robot_to_try import TORQUES

from sysid_ros.diagnosis import Finding, FindingKind
from sysid_ros.errors import DataError
from sysid_ros.experiment import Experiment
from sysid_ros.proposal import propose, repairs
from sysid_ros.proposal.signals.mapping import map_robot
from sysid_ros.proposal.signals.recorded_signals import (
    at_commanded_speeds,
    recorded_signals,
    without_bodies_told_wrong,
    without_efforts,
)
from sysid_ros.proposal.signals.servo_efforts import servo_efforts
from sysid_ros.rehearsal import Controller, Motion, generate


def velocity_servos(share: float) -> mujoco.MjSpec:
    """An arm under stiff velocity servos, of a share of their gains."""
    spec = mujoco.MjSpec.from_string(urdf_arm())
    for joint, gain in zip(list(spec.joints), (200.0, 200.0, 100.0, 30.0), strict=True):
        name = f"{joint.name}_drive"
        servo = spec.add_actuator(name=name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.set_to_velocity(kv=share * gain)
    return spec


@pytest.mark.parametrize(("rate", "share", "told"), [(100.0, 1.0, True), (2000.0, 0.1, False)])
def test_gain_and_time_between_commands_decide(
    tmp_path: Path, rate: float, share: float, told: bool
) -> None:
    spec = velocity_servos(share)
    plan = replace(
        TORQUES, duration=6.0, rate=rate, timestep=5e-4, motion=Motion(reach=0.5),
        controllers=(Controller(topic="/arm_velocity_controller/commands", delay=0.002),),
    )  # fmt: skip
    made = generate(spec, plan, tmp_path / "bag")
    seen = recorded_signals(mujoco.MjSpec.from_string(urdf_arm()), [made.bag], ())
    said = servo_efforts(seen.spec, seen.mapping, seen.channels, seen.orders)
    served = at_commanded_speeds(seen)
    assert bool(said) == bool(served) == told
    if said is None or served is None:
        return
    (error,) = re.findall(r"joint_4 (\S+) kg", said)
    assert float(error) == pytest.approx(0.15, rel=0.3)  # half of 10 ms times its gain
    servos = [line for line in served.mapping.lines if line.kind == "velocity_servo"]
    assert [(line.name, line.channel.field) for line in servos] == [
        (f"joint_{k + 1}", f"data[{k}]") for k in range(4)
    ]
    efforts = [line for line in served.mapping.lines if line.channel.quantity == "effort"]
    assert {line.placed for line in efforts} == {
        ("jointactuatorfrc", f"joint_{k + 1}") for k in range(4)
    }
    currents = Finding(FindingKind.SCALE, ("joint_1_effort",), {}, "amperes", "", ())
    percent = replace(currents, kind=FindingKind.ODD_EFFORT)
    assert without_efforts(seen.spec, seen, (replace(currents, kind=FindingKind.LAG),)) is None
    assert without_efforts(seen.spec, seen, (percent,)) is not None
    commanded = without_efforts(seen.spec, seen, (currents,))
    assert commanded is not None
    assert {line.kind for line in commanded.mapping.lines} == {"qpos", "velocity_servo"}
    short = [one for one in seen.channels if (one.command, one.index) != (True, 3)]
    kept = at_commanded_speeds(replace(seen, channels=short))
    assert kept is not None
    assert {line.kind for line in kept.mapping.lines} == {"qpos", "effort"}
    assert any("sampled between them" in note for note in kept.mapping.unmapped)


def test_a_wrench_that_is_left_out_is_not_mapped_again_with_commands_for_efforts(
    tmp_path: Path,
) -> None:
    plan = replace(
        TORQUES, duration=2.0, timestep=5e-4, motion=Motion(reach=0.5),
        controllers=(Controller(topic="/arm_velocity_controller/commands", delay=0.002),),
    )  # fmt: skip
    made = generate(velocity_servos(1.0), plan, tmp_path / "bag")
    spec = mujoco.MjSpec.from_string(urdf_arm())
    spec.bodies[-1].add_site(name="flange")
    seen = recorded_signals(spec, [made.bag], ())
    measured = next(one for one in seen.channels if one.quantity == "position")
    wrench = replace(
        measured, topic="/flange", msgtype="geometry_msgs/msg/WrenchStamped", name="",
        field="wrench.force.x", quantity="",
    )  # fmt: skip
    channels = [*seen.channels, wrench]
    seen = replace(seen, channels=channels, mapping=map_robot(seen.spec, channels, seen.orders)[1])
    assert [one.name for one in seen.mapping.bodies] == ["flange"]
    finding = Finding(FindingKind.CARRIED, ("flange",), {}, "its own weight", "", ())
    left = without_bodies_told_wrong(seen, (finding,))
    assert left is not None and left.mapping.bodies == ()
    currents = Finding(FindingKind.SCALE, ("joint_1_effort",), {}, "amperes", "", ())
    commanded = without_efforts(spec, left, (currents,))
    assert commanded is not None and commanded.mapping.bodies == ()
    assert without_efforts(spec, commanded, (currents,)) is None  # or init would go on for ever


def test_efforts_that_commanded_speeds_explain_are_tested_for_their_unit_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(
        TORQUES, duration=4.0, timestep=5e-4, motion=Motion(reach=0.5),
        controllers=(Controller(topic="/arm_velocity_controller/commands", delay=0.002),),
    )  # fmt: skip
    model = tmp_path / "arm.urdf"
    model.write_text(urdf_arm())
    made = generate(velocity_servos(1.0), plan, tmp_path / "bag")
    tested = []

    def once(experiment: Experiment, *args: Any, **kwargs: Any) -> tuple[Finding, ...]:
        tested.append({one.label for one in experiment.signals})
        raise DataError("tested")

    monkeypatch.setattr(repairs, "check_dataset", once)
    module = importlib.import_module("sysid_ros.proposal.propose")
    with pytest.raises(DataError, match="tested"):
        propose(model, [made.bag], tmp_path / "experiment.yaml")
    (labels,) = tested
    assert "joint_1_velocity_servo" in labels
    currents = Finding(FindingKind.SCALE, ("joint_1_effort",), {}, "amperes", "", ())
    monkeypatch.setattr(module, "mistaken_units", lambda *_: (currents,))
    with pytest.raises(DataError, match="tested"):
        propose(model, [made.bag], tmp_path / "experiment.yaml")
    assert tested[1] < labels  # without what would be compared with efforts
