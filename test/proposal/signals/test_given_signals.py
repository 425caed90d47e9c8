# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals that someone corrected are taken as they are, and the rest is proposed for them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from arm_recording import arm_model, simulate, write_bag, wrong_model
from robot_matrix import own_robots
from robot_to_try import Robot

from sysid_ros.diagnosis import FindingKind
from sysid_ros.errors import ExperimentError
from sysid_ros.proposal import propose
from sysid_ros.proposal.propose import Proposal
from sysid_ros.proposal.signals import Line, recorded_signals
from sysid_ros.rehearsal import generate

KINDS = {
    "Gripper on a tendon", "SCARA", "Pan and tilt at commanded speeds", "Wheeled base", "Hexarotor",
    "Arm from URDF with torque sensors", "Arm from URDF under servos", "Leg with elastic joints",
}  # fmt: skip
COUNT, ZERO = 2.0 * math.pi / 4096, 2048  # of an encoder


def named(robot: Robot) -> str:
    return robot.name


def told(lines: tuple[Line, ...]) -> list[object]:
    return [(one.values, one.input, one.channel.command, one.channel.quantity) for one in lines]


@pytest.mark.parametrize("robot", [one for one in own_robots() if one.name in KINDS], ids=named)
def test_what_is_mapped_and_given_back_is_mapped_alike(robot: Robot, tmp_path: Path) -> None:
    generate(robot.model(), replace(robot.plan, duration=3.0), tmp_path / "bag")
    spec = mujoco.MjSpec.from_string(robot.urdf) if robot.urdf else robot.model()
    first = recorded_signals(spec, [tmp_path / "bag"], ())
    entries = [line.values for line in first.mapping.signals]
    again = recorded_signals(spec, [tmp_path / "bag"], (), signals=entries)
    assert told(again.mapping.lines) == told(first.mapping.lines)
    assert told(again.mapping.bodies) == told(first.mapping.bodies)
    assert again.mapping.joints == first.mapping.joints
    assert again.mapping.carried == first.mapping.carried
    assert again.mapping.posed == first.mapping.posed
    assert [one.name for one in again.spec.actuators] == [one.name for one in first.spec.actuators]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arm whose positions and commands are an encoder's counts."""
    made: Path = tmp_path_factory.mktemp("counts")
    truth = arm_model(1, 2, servos=True)
    (made / "arm.xml").write_text(wrong_model(truth, 1))
    recorded = simulate(truth, 1, duration=6.0)
    counted = {
        name: np.round(getattr(recorded, name) / COUNT) + ZERO for name in ("position", "command")
    }
    write_bag(made / "bag", replace(recorded, **counted))
    return made


def wrong_spec(folder: Path) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_file(str(folder / "arm.xml"))


def proposal(folder: Path, signals: Path | None = None) -> Proposal:
    given = (folder / "arm.xml", [folder / "bag"], folder / "experiment.yaml")
    return propose(*given, signals=signals)


def test_parameters_are_those_of_the_corrected_signals(folder: Path) -> None:
    first = proposal(folder)
    tree = yaml.safe_load(first.text)
    for line in tree["signals"]:
        line |= {"scale": COUNT, "offset": -ZERO * COUNT, "noise": 1e-3}
    corrected = folder / "corrected.yaml"
    corrected.write_text(yaml.safe_dump(tree))
    second = proposal(folder, corrected)
    assert [one.values for one in second.draft.signals] == tree["signals"]
    wanted = {(f"j{k}", name) for k in (0, 1) for name in ("damping", "armature")}
    assert [one.kind for one in first.findings] == [FindingKind.RUNAWAY]
    assert first.draft.parameters != second.draft.parameters
    assert wanted <= {(one.name, one.attribute) for one in second.draft.parameters}
    assert second.findings == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"topic": "/other"}, "share no numbers of /other, only of /joint_states"),
        ({"field": "position[j9]"}, r"no 'position\[j9\]' in /joint_states, which has position"),
    ],
)
def test_what_the_recordings_lack_is_named(
    folder: Path, tmp_path: Path, change: dict[str, str], message: str
) -> None:
    file = tmp_path / "experiment.yaml"
    entry = {"qpos": "j0", "topic": "/joint_states", "field": "position[j0]", **change}
    tree = {"model": "arm.xml", "sequences": ["bag"], "signals": [entry], "parameters": []}
    file.write_text(yaml.safe_dump(tree))
    with pytest.raises(ExperimentError, match=message):
        proposal(folder, file)


def test_a_sum_that_somebody_wrote_is_read(folder: Path) -> None:
    spec, first = wrong_spec(folder), recorded_signals(wrong_spec(folder), [folder / "bag"], ())
    entries = [line.values for line in first.mapping.signals]
    summed = [{**one, "field": f"3 * {one['field']} - 2 * {one['field']}"} for one in entries]
    again = recorded_signals(spec, [folder / "bag"], (), signals=summed)
    pairs = zip(first.mapping.signals, again.mapping.signals, strict=True)
    for own, other in pairs:
        np.testing.assert_allclose(other.channel.values[0], own.channel.values[0])
        assert other.values["field"].startswith("3 * ")


def test_a_file_without_signals_is_refused(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text("model: arm.xml\nsequences: [bag]\nsignals: []\nparameters: []\n")
    with pytest.raises(ExperimentError, match="no signals to take"):
        proposal(folder, file)


def test_a_signal_that_was_taken_out_is_left_out(folder: Path, tmp_path: Path) -> None:
    tree = yaml.safe_load(proposal(folder).text)
    lines = [line for line in tree["signals"] if "actuator" not in line or line["actuator"] != "m1"]
    file = tmp_path / "experiment.yaml"
    file.write_text(yaml.safe_dump({**tree, "signals": lines}))
    found = proposal(folder, file)
    assert [one.values for one in found.draft.signals] == lines


def test_a_sensor_that_the_model_lacks_may_tell_a_position(folder: Path, tmp_path: Path) -> None:
    tree = yaml.safe_load(proposal(folder).text)
    for line in tree["signals"]:
        line |= {"scale": COUNT, "offset": -ZERO * COUNT}
        if name := line.pop("sensor", line.pop("qpos", None)):
            joint = f"j{name[-1]}"
            line |= {"sensor": f"{joint}_encoder", "type": "jointpos", "at": joint}
    file = tmp_path / "experiment.yaml"
    file.write_text(yaml.safe_dump(tree))
    free = {(one.name, one.attribute) for one in proposal(folder, file).draft.parameters}
    assert {("j0", "armature"), ("j1", "armature")} <= free
