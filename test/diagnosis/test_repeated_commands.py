# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions that are commands told again, and encoders that count the same steps as commands."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import ExperimentLines, FindingKind, Recorded, Samples
from sysid_ros.diagnosis.repeated_commands import repeated_command_findings
from sysid_ros.experiment import parse_experiment

TOLD = np.arange(0.0, 12.0, 0.02)
SEEN = np.arange(0.0, 12.0, 0.01) + 0.0003
ARM = """<mujoco><worldbody><body><joint name="shoulder"/><geom size=".1" mass="1"/></body>
  </worldbody><actuator><position name="servo" joint="shoulder" kp="10"/></actuator></mujoco>"""


def motion(times: FloatArray) -> FloatArray:
    return np.asarray(0.4 * np.sin(1.9 * times) + 0.2 * np.sin(5.1 * times))


def found(tmp_path: Path, told: FloatArray, seen: FloatArray, late: float = 0.0) -> list[str]:
    """Sentences about a servo's command and its joint's position."""
    text = """
model: arm.xml
sequences: [bag]
signals:
  - {actuator: servo, topic: /commands, field: "data[0]"}
  - {qpos: shoulder, topic: /joint_states, field: "position[shoulder]"}
"""
    lines = ExperimentLines(parse_experiment(text, path=tmp_path / "experiment.yaml"))
    signals = {"servo": Samples(TOLD + late, told, "zoh"), "shoulder_qpos": Samples(SEEN, seen)}
    model = mujoco.MjModel.from_xml_string(ARM)
    recorded = Recorded(model, (signals,), ({},), {0: "shoulder_qpos"}, {}, {}, {0: "servo"})
    findings = repeated_command_findings(recorded, lines)
    assert all(one.kind is FindingKind.ECHO for one in findings)
    return [one.sentence for one in findings]


@pytest.mark.parametrize("behind", [0, 1])
@pytest.mark.parametrize("late", [0.0, 0.0006])
def test_commands_told_again_are_no_positions(tmp_path: Path, behind: int, late: float) -> None:
    """Numbers of 32 bits too, and where a command is dated by when it was received."""
    told = motion(TOLD)
    last = np.maximum(np.searchsorted(TOLD, SEEN, side="right") - 1 - behind, 0)
    (said,) = found(tmp_path, told, told[last].astype(np.float32).astype(float), late)
    assert "'shoulder_qpos' repeats what the servo had been told" in said
    assert "/joint_states tells the commands of /commands" in said


def test_a_good_servo_with_an_encoder_is_one(tmp_path: Path) -> None:
    """Its encoder and its commands count the same steps, and meet now and then."""
    step = 2.0 * np.pi / 4096.0
    told, seen = motion(TOLD), motion(SEEN - 0.03)
    assert not found(tmp_path, told, seen)
    assert not found(tmp_path, np.round(told / step) * step, np.round(seen / step) * step)


@pytest.mark.parametrize(("speed", "step"), [(0.03, 0.0015), (0.3, 0.02)])
def test_a_slow_servo_whose_encoder_is_coarse_is_one(
    tmp_path: Path, speed: float, step: float
) -> None:
    """Each step of its encoder is one that had been asked for, as there are no others."""
    told, seen = speed * motion(TOLD), speed * motion(SEEN - 0.03)
    told, seen = (np.round(values / step) * step for values in (told, seen))
    assert np.isin(seen, told).all()
    assert not found(tmp_path, told, seen)


def test_goals_told_again_are_no_positions(tmp_path: Path) -> None:
    """Commands that are held for a while, as of poses taught one by one."""
    told = np.repeat(np.random.default_rng(0).uniform(-1.0, 1.0, 60), 10)
    last = np.maximum(np.searchsorted(TOLD, SEEN, side="right") - 1, 0)
    assert found(tmp_path, told, told[last])
