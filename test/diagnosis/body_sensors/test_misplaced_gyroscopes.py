# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A gyroscope that is drawn on the wrong body is told, with the body that it turns with."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest
from body_motions import measured

from sysid_ros.diagnosis.body_sensors import body_sensor_findings
from sysid_ros.diagnosis.evidence import (
    Declared,
    ExperimentLines,
    Finding,
    FindingKind,
    Recorded,
    Samples,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.experiment import parse_experiment

IMU = '<site name="imu" pos=".02 .03 -.1" euler="{turned}"/>'
ARM = """<mujoco><worldbody><body name="base">
  <geom size=".1"/>{base}<body name="upper"><joint name="j0" axis="0 1 0"/>
  <geom size=".1"/>{upper}<body name="lower" pos="0 0 -.2"><joint name="j1" axis="1 0 0"/>
  <geom size=".1"/>{lower}<body name="tool"><geom size=".1"/></body>
  </body></body></body></worldbody>
  <sensor><jointpos name="p0" joint="j0"/><jointpos name="p1" joint="j1"/>
    <gyro name="gyro" site="imu"/><accelerometer name="accelerometer" site="imu"/></sensor>
</mujoco>"""
EXPERIMENT = """
model: robot.xml
sequences: [bag]
signals:
  - {sensor: gyro, topic: /imu, field: angular_velocity}
  - {sensor: accelerometer, topic: /imu, field: linear_acceleration}
"""


def arm(body: str, turned: str = "10 20 30") -> str:
    """The arm with its IMU on a body."""
    nowhere = dict.fromkeys(("base", "upper", "lower"), "")
    return ARM.format(**{**nowhere, body: IMU.format(turned=turned)})


def findings(drawn: str, true: str, factor: float = 1.0, noise: float = 0.01) -> list[Finding]:
    """What is said of a model where the IMU is as in another, its gyroscope with a bias."""
    signals = measured(true, 1, noise=noise)
    gyro = signals["gyro"]
    signals["gyro"] = Samples(gyro.times, factor * gyro.values + 0.1)
    scalar = {name: one for name, one in signals.items() if one.values.ndim == 1}
    vectors = {name: one for name, one in signals.items() if one.values.ndim == 2}
    model = mujoco.MjModel.from_xml_string(drawn)
    recorded = Recorded(model, (scalar,), (vectors,), {0: "p0", 1: "p1"}, {}, {}, {})
    lines = ExperimentLines(parse_experiment(EXPERIMENT, path=Path("experiment.yaml")))
    return body_sensor_findings(recorded, lines, Declared(ParameterDict()))


@pytest.mark.parametrize(
    ("drawn", "true", "told"),
    [
        ("lower", "upper", "turns as 'upper' does, not as 'lower'"),
        ("upper", "lower", "turns as 'lower' does, not as 'upper'"),
        ("base", "lower", "turns as 'lower' does, not as 'base'"),
        ("lower", "base", "does not turn, as 'lower' does"),
    ],
)
def test_the_body_is_named_and_the_whole_imu_left_out(drawn: str, true: str, told: str) -> None:
    (found,) = findings(arm(drawn, "0 0 0"), arm(true, "40 50 60"))
    assert (found.kind, found.signals) == (FindingKind.SWAP, ("gyro", "accelerometer"))
    assert told in found.sentence and "in the model, with 'accelerometer'" in found.sentence
    assert [line[0] for line in found.repair.splitlines()] == ["#", "#"]


def test_an_imu_that_is_only_turned_or_noisy_is_on_its_body() -> None:
    assert findings(arm("lower"), arm("lower", "40 50 60")) == []
    assert findings(arm("lower"), arm("lower"), noise=0.3) == []


def test_a_base_that_sways_with_its_arm_is_not_the_arm() -> None:
    """What it reads is alike, but smaller."""
    assert findings(arm("base"), arm("lower"), factor=0.3) == []
