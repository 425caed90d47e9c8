# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pairs of mistakes are found, each by its line; what is not decisive is no mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from arm_recording import ArmRecording, arm_model, simulate, write_experiment, wrong_model
from planted_mistakes import changed, checked, label_of, recordings
from planted_mistakes import exchanged as exchanged_fields
from robot_kinds import GANTRY
from robot_to_try import TORQUES

from sysid_ros.diagnosis import Finding, FindingKind, check_experiment
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.rehearsal import Motion

Change = Callable[[ArmRecording], ArmRecording]
LAG = 0.05  # s


def experiment_of(
    folder: Path, change: Change, *, servos: bool, lag: float = 0.0, joints: int = 2
) -> Path:
    truth = arm_model(1, joints, servos=servos)
    recording = change(simulate(truth, 1, lag=lag, duration=5.0))
    return write_experiment(folder, wrong_model(truth, 1), recording, free_inertia=True)


def found(file: Path) -> tuple[Finding, ...]:
    """The findings, whose repairs together are shown to work."""
    experiment = load_experiment(file)
    findings = check_experiment(experiment, None)
    overrides = [one for finding in findings for one in finding.overrides]
    assert check_experiment(with_overrides(experiment, overrides), None) == ()
    return findings


def swapped_and_reversed(recording: ArmRecording) -> ArmRecording:
    return recording.exchanged("command", 0, 1).changed("command", 1, np.negative)


@pytest.mark.parametrize("servos", [True, False])
def test_an_exchange_with_a_sign(tmp_path: Path, servos: bool) -> None:
    findings = found(experiment_of(tmp_path, swapped_and_reversed, servos=servos))
    assert [one.kind for one in findings] == [FindingKind.SWAP, FindingKind.SIGN]
    assert set(findings[0].signals) == {"m0", "m1"}


@pytest.mark.parametrize("servos", [True, False])
def test_a_joint_that_the_model_turns_the_other_way_is_one_finding(
    tmp_path: Path, servos: bool
) -> None:
    def turned(recording: ArmRecording) -> ArmRecording:
        for what in ("position", "velocity", "command"):
            recording = recording.changed(what, 1, np.negative)
        return recording

    findings = found(experiment_of(tmp_path, turned, servos=servos, joints=3))
    assert [one.kind for one in findings] == [FindingKind.SIGN]
    assert {"p1", "m1"} <= set(findings[0].signals)


@pytest.mark.parametrize(
    ("servos", "what", "label"), [(True, "command", "m1"), (False, "position", "p1")]
)
def test_degrees_with_a_lag_that_is_one_finding(
    tmp_path: Path, servos: bool, what: str, label: str
) -> None:
    file = experiment_of(tmp_path, lambda r: r.changed(what, 1, np.rad2deg), servos=servos, lag=LAG)
    degrees, lag = found(file)
    assert (degrees.kind, degrees.signals) == (FindingKind.DEGREES, (label,))
    assert lag.kind is FindingKind.LAG
    assert set(lag.signals) == {"m0", "m1"}
    assert lag.evidence["size_low"] < LAG < lag.evidence["size_high"]
    assert lag.evidence["size_low"] <= lag.evidence["size"] <= lag.evidence["size_high"]


@pytest.mark.parametrize("exchanged", [True, False])
def test_each_of_a_pair_names_what_could_be_wrong_in_its_place(
    tmp_path: Path, exchanged: bool
) -> None:
    """On level slides a torque may be the wrong one as well as its position, beside another."""
    plan = replace(TORQUES, duration=6.0, motion=Motion(reach=0.3))
    robot = recordings(mujoco.MjSpec.from_string(GANTRY), plan, tmp_path)
    places = {label_of(one): place for place, one in enumerate(robot.signals)}
    x, y, z = (places[f"{axis}_axis_qpos"] for axis in "xyz")
    if exchanged:
        wrong = changed(exchanged_fields(robot.signals, x, y), x, {"scale": -1.0})
    else:
        wrong = changed(changed(robot.signals, y, {"scale": -1.0}), z, {"scale": -1.0})
    findings = checked(robot, wrong, late=False)
    signs = {one.signals for one in findings if one.kind is FindingKind.SIGN}
    assert ("y_motor", "y_axis_qpos") in signs and len(findings) == 2
    (other,) = (one for one in findings if one.signals != ("y_motor", "y_axis_qpos"))
    both = {"x_axis_qpos", "y_axis_qpos", "x_motor", "y_motor"}
    assert {*other.signals} == (both if exchanged else {"z_axis_qpos"})


def test_servos_that_are_asked_for_the_same_are_not_exchanged(tmp_path: Path) -> None:
    def alike(recording: ArmRecording) -> ArmRecording:
        noise = 1e-4 * np.random.default_rng(0).standard_normal(len(recording.times))
        same = np.column_stack([recording.command[:, 0], -recording.command[:, 0]])
        both = np.column_stack([recording.position[:, 0], noise - recording.position[:, 0]])
        return ArmRecording(recording.times, both, recording.velocity, same)

    assert found(experiment_of(tmp_path, alike, servos=True)) == ()


def test_what_explains_little_more_is_no_mistake(tmp_path: Path) -> None:
    def disturbed(recording: ArmRecording) -> ArmRecording:
        rng = np.random.default_rng(3)
        t = recording.times[:, None]
        other = sum(np.sin(rng.uniform(1.0, 9.0, 2) * t + rng.uniform(0.0, 6.0, 2))
                    for _ in range(4))  # fmt: skip
        spread = np.std(recording.command, axis=0)
        return ArmRecording(
            recording.times,
            recording.position,
            recording.velocity,
            recording.command.mean(axis=0) + 0.4 * spread * other - 0.4 * recording.command,
        )

    experiment = load_experiment(experiment_of(tmp_path, disturbed, servos=True))
    assert check_experiment(experiment, None) == ()


def test_a_robot_that_nothing_is_told_is_a_mistake(tmp_path: Path) -> None:
    file = experiment_of(tmp_path, lambda r: r, servos=True)
    lines = file.read_text().splitlines()
    file.write_text("\n".join(line for line in lines if "actuator" not in line))
    (finding,) = check_experiment(load_experiment(file), None)
    assert finding.kind is FindingKind.NO_CONTROL
    assert finding.signals == ("m0", "m1")
    spec = mujoco.MjSpec.from_string((tmp_path / "arm.xml").read_text())
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    (tmp_path / "arm.xml").write_text(spec.to_xml())
    assert check_experiment(load_experiment(file), None) == ()
