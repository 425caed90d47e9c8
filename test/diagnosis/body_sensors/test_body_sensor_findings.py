# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes in an IMU on a moving arm and in the twist of a free body are found and repaired."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
from body_motions import measured

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.body_sensors import (
    body_sensor_findings,
    downward_findings,
)
from sysid_ros.diagnosis.evidence.declared import Declared
from sysid_ros.diagnosis.evidence.finding import Finding, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.evidence.repair import ExperimentLines
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.experiment import parse_experiment

ARM = """<mujoco><worldbody><body><joint name="j0" axis="0 1 0"/>
  <inertial pos="0 0 -.1" mass="1" diaginertia=".01 .01 .01"/>
  <body pos="0 0 -.2"><joint name="j1" axis="1 0 0"/>
    <inertial pos="0 0 -.1" mass="1" diaginertia=".01 .01 .01"/>
    <site name="imu" pos=".02 .03 -.1" euler="10 20 30"/></body></body></worldbody>
  <sensor><jointpos name="p0" joint="j0"/><jointpos name="p1" joint="j1"/>
    <gyro name="gyro" site="imu"/><accelerometer name="accelerometer" site="imu"/></sensor>
</mujoco>"""
FREE = """<mujoco><worldbody><body name="base"><freejoint name="base"/>
    <geom type="box" size=".1 .2 .05"/><site name="imu"/></body></worldbody>
  <sensor><framepos name="base_qpos_position" objtype="xbody" objname="base"/>
    <framequat name="base_qpos_orientation" objtype="xbody" objname="base"/>
    <gyro name="gyro" site="imu"/><velocimeter name="speed" site="imu"/></sensor>
</mujoco>"""
EXPERIMENT = """
model: robot.xml
sequences: [bag]
signals:
  - {sensor: gyro, topic: /imu, field: angular_velocity}
  - {sensor: accelerometer, topic: /imu, field: linear_acceleration}
  - {sensor: speed, topic: /odom, field: twist.twist.linear}
  - {qvel: base, topic: /odom, field: twist.twist}
  - {sensor: grip, topic: /wrench, field: wrench.force}
  - {sensor: twist, topic: /wrench, field: wrench.torque}
"""


def findings(
    xml: str, label: str, change: Callable[[Samples], Samples], seed: int = 1, **motion: float
) -> tuple[Finding, ...]:
    model = mujoco.MjModel.from_xml_string(xml)
    signals = measured(xml, seed, **motion)
    for changed in label.split():
        signals[changed] = change(signals[changed])
    scalar = {name: one for name, one in signals.items() if one.values.ndim == 1}
    vectors = {name: one for name, one in signals.items() if one.values.ndim == 2}
    positions = {joint: f"p{joint}" for joint in range(model.njnt)} if scalar else {}
    recorded = Recorded(model, (scalar,), (vectors,), positions, {}, {}, {})
    lines = ExperimentLines(parse_experiment(EXPERIMENT, path=Path("experiment.yaml")))
    return tuple(body_sensor_findings(recorded, lines, Declared(ParameterDict())))


def values(change: Callable[[FloatArray], FloatArray]) -> Callable[[Samples], Samples]:
    return lambda one: Samples(one.times, change(one.values))


@pytest.mark.parametrize(
    ("xml", "labels"), [(ARM, ("gyro", "accelerometer")), (FREE, ("gyro", "speed"))]
)
def test_each_mistake_is_the_one_finding(xml: str, labels: tuple[str, ...]) -> None:
    for label in labels:
        assert findings(xml, label, lambda one: one) == ()
        (sign,) = findings(xml, label, values(np.negative))
        assert (sign.kind, sign.signals) == (FindingKind.SIGN, (label,))
        assert "scale: -1.0" in sign.repair
        (axes,) = findings(xml, label, values(lambda x: x[:, [1, 2, 0]]))
        assert (axes.kind, axes.signals) == (FindingKind.SWAP, (label,))
        assert "its x is y, its y is z, its z is x" in axes.sentence
        (mirror,) = findings(xml, label, values(lambda x: x * [1.0, -1.0, 1.0]))
        assert (mirror.kind, mirror.signals) == (FindingKind.SIGN, (label,))
        assert "its y is -y" in mirror.sentence
        (late,) = findings(xml, label, lambda one: Samples(one.times + 0.05, one.values))
        assert late.kind is FindingKind.LAG
        assert late.evidence["size"] == pytest.approx(0.05, abs=0.005)


def test_units_are_named() -> None:
    (degrees,) = findings(ARM, "gyro", values(np.rad2deg))
    assert degrees.kind is FindingKind.DEGREES
    assert degrees.overrides == ("signals[0].unit=deg/s",)
    (gravity,) = findings(ARM, "accelerometer", values(lambda x: x / 9.81))
    assert gravity.kind is FindingKind.UNIT
    assert gravity.overrides == ("signals[1].unit=g",)
    assert gravity.sentence.startswith("'accelerometer' is in g; the model uses m/s^2. It reads")
    (milli,) = findings(ARM, "accelerometer", values(lambda x: 1000.0 * x / 9.81))
    assert milli.overrides == ("signals[1].unit=mg",)
    (other,) = findings(ARM, "accelerometer", values(lambda x: x / 8.0))
    assert other.kind is FindingKind.SCALE
    (reversed_,) = findings(ARM, "accelerometer", values(lambda x: -x / 9.81))
    assert reversed_.overrides == ("signals[1].scale=-9.80665",)


def test_a_gyroscope_of_another_scale_than_a_pose_may_be_right() -> None:
    """As beside odometry of wheels that slip; beside joints' encoders it is not."""
    for xml, other in ((FREE, True), (ARM, False)):
        (found,) = findings(xml, "gyro", values(lambda x: 0.68 * x))
        assert found.kind is FindingKind.SCALE and ("wheels" in found.sentence) == other


def test_gravity_alone_names_the_unit_of_an_accelerometer() -> None:
    """No position is measured, so that nothing says how the robot moves."""
    alone = ARM.replace('<jointpos name="p0" joint="j0"/><jointpos name="p1" joint="j1"/>', "")
    (gravity,) = findings(alone, "accelerometer", values(lambda x: x / 9.81))
    assert (gravity.kind, gravity.overrides) == (FindingKind.UNIT, ("signals[1].unit=g",))
    (milli,) = findings(alone, "accelerometer", values(lambda x: 1000.0 * x / 9.81))
    assert milli.overrides == ("signals[1].unit=mg",)
    assert findings(alone, "accelerometer", values(lambda x: x)) == ()
    # what is left as a driver takes gravity out, about as large as a g is in g
    bare = values(lambda x: 1.0 * (x - x.mean(axis=0)) / np.std(x - x.mean(axis=0)) / 3.0**0.5)
    assert findings(alone, "accelerometer", bare) == ()


PLANAR = """<mujoco><option gravity="0 0 0"/><worldbody><body>
  <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
  <joint name="turn" axis="{axis}"/><geom type="box" size=".3 .2 .1" pos=".1 0 0"/>
  <site name="imu"/></body></worldbody>
  <sensor><accelerometer name="accelerometer" site="imu"/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("axis", "reads", "told"),
    [
        ("0 0 1", [0.0, 0.0, 9.81], True),
        ("0 1 0", [0.0, 0.0, 9.81], False),  # which would turn under its weight
        ("0 0 1", [0.0, 9.81, 0.0], False),
        ("0 0 1", [0.0, 0.0, 2.0], False),
    ],
)
def test_gravity_that_a_planar_model_lacks_and_its_imu_feels(
    axis: str, reads: list[float], told: bool
) -> None:
    xml = PLANAR.format(axis=axis)
    found = findings(xml, "accelerometer", values(lambda x: 0.1 * x + reads))
    assert [one.kind for one in found] == [FindingKind.MOUNTING] * told
    for one in found:
        assert "gravity: {initial: [0.0, 0.0, -9.81], frozen: true}" in one.repair


def test_a_reversed_force_is_named_and_one_of_another_mass_or_without_its_zero_is_not() -> None:
    xml = ARM.replace("</sensor>", '<force name="grip" site="imu"/></sensor>')
    (sign,) = findings(xml, "grip", values(lambda x: -1.7 * x))  # with a load of its own
    assert (sign.kind, sign.signals) == (FindingKind.SIGN, ("grip",))
    assert "scale: -1.0" in sign.repair
    (axes,) = findings(xml, "grip", values(lambda x: x[:, [1, 2, 0]]))
    assert axes.kind is FindingKind.SWAP
    assert findings(xml, "grip", values(lambda x: 1.7 * x)) == ()
    assert findings(xml, "grip", values(lambda x: x - x[0])) == ()


def test_a_reversed_torque_is_named_and_so_is_a_force_that_nobody_zeroed() -> None:
    xml = ARM.replace(
        "</sensor>", '<force name="grip" site="imu"/><torque name="twist" site="imu"/></sensor>'
    )
    assert findings(xml, "twist", lambda one: one) == ()
    (twist,) = findings(xml, "twist", values(np.negative))
    assert (twist.kind, twist.signals) == (FindingKind.SIGN, ("twist",))
    (grip,) = findings(xml, "grip", values(lambda x: 3.0 * np.abs(x).max() - x))
    assert (grip.kind, grip.signals) == (FindingKind.SIGN, ("grip",))


TWIST = FREE.replace("imu", "base_qvel_frame").replace("speed", "base_qvel_linear").replace(
    'name="gyro"', 'name="base_qvel_angular"'
)  # fmt: skip


def turned_by(quaternions: FloatArray) -> Callable[[Samples], Samples]:
    def turned(one: Samples) -> Samples:
        rows = np.empty_like(one.values)
        for row, quaternion, value in zip(rows, quaternions, one.values, strict=True):
            mujoco.mju_rotVecQuat(row, value, quaternion)
        return Samples(one.times, rows)

    return turned


def test_a_twist_in_the_worlds_axes_is_told_once_with_its_repair() -> None:
    in_world = turned_by(measured(TWIST, 1)["base_qpos_orientation"].values)
    assert findings(TWIST, "base_qvel_linear", lambda one: one) == ()
    (half,) = findings(TWIST, "base_qvel_linear", in_world)
    assert (half.kind, half.signals) == (FindingKind.SWAP, ("base_qvel",))
    assert "in the axes of the world, not of the body" in half.sentence
    assert "The other half is not" in half.sentence and half.overrides == ()
    (both,) = findings(TWIST, "base_qvel_linear base_qvel_angular", in_world)
    assert both.overrides == ("signals[3].frame=world",)


def test_the_frame_of_a_twist_shows_where_the_base_hardly_turns_and_noise_is_much_more() -> None:
    motion = {"turning": 0.1, "noise": 0.05}
    in_world = turned_by(measured(TWIST, 1, turning=0.1, noise=0.0)["base_qpos_orientation"].values)
    both = "base_qvel_linear base_qvel_angular"
    assert findings(TWIST, both, lambda one: one, **motion) == ()
    (told,) = findings(TWIST, both, in_world, **motion)
    assert (told.kind, told.signals) == (FindingKind.SWAP, ("base_qvel",))
    assert told.evidence["correlation_turned"] - told.evidence["correlation"] < 0.02


def test_an_orientation_noisier_than_the_base_turns_tells_no_frame() -> None:
    """Noise turns what is expected in the body's axes as if the measured stayed in the world's."""
    both = "base_qvel_linear base_qvel_angular"
    assert findings(TWIST, both, lambda one: one, seed=7, turning=0.02, noise=0.05) == ()


FLYING = FREE.replace(
    "<velocimeter", '<accelerometer name="accelerometer" site="imu"/><velocimeter'
)
POSED = EXPERIMENT + "  - {qpos: base, topic: /odom, field: pose.pose}\n"
DOWN = {3: np.array([1.0, -1.0, -1.0]), 4: np.array([1.0, 1.0, -1.0, -1.0])}


def downward(xml: str, change: Callable[[str, FloatArray], FloatArray]) -> list[Finding]:
    """What is said of axes that point down where every signal is changed by its name."""
    signals = {
        name: Samples(one.times, change(name, one.values))
        for name, one in measured(xml, 3, turning=0.4, noise=1e-2).items()
    }
    scalar = {name: one for name, one in signals.items() if one.values.ndim == 1}
    vectors = {name: one for name, one in signals.items() if one.values.ndim == 2}
    model = mujoco.MjModel.from_xml_string(xml)
    positions = {joint: f"p{joint}" for joint in range(model.njnt)} if scalar else {}
    recorded = Recorded(model, (scalar,), (vectors,), positions, {}, {}, {})
    lines = ExperimentLines(parse_experiment(POSED, path=Path("experiment.yaml")))
    return downward_findings(recorded, lines)


def test_north_east_down_is_seen_by_an_accelerometer_beside_the_pose() -> None:
    (found,) = downward(FLYING, lambda name, one: one * DOWN[one.shape[1]])
    assert found.kind is FindingKind.SIGN
    assert set(found.signals) == {"accelerometer", "base_qpos", "gyro", "speed"}
    assert sum(one.endswith("z_down=true") for one in found.overrides) == 4
    assert "NED and FRD" in found.sentence


@pytest.mark.parametrize(
    "change",
    [
        lambda name, one: one,
        lambda name, one: -one if name == "accelerometer" else one,  # a sign of its own
        lambda name, one: one * DOWN[3] if name in ("gyro", "accelerometer") else one,  # a mount
    ],
)
def test_other_mistakes_and_none_are_not_axes_that_point_down(change) -> None:
    assert not downward(FLYING, change)


def test_an_arm_that_hangs_is_mounted_otherwise_and_has_no_axes_that_point_down() -> None:
    hanging = ARM.replace("<mujoco>", '<mujoco><option gravity="0 0 9.81"/>')
    signals = measured(hanging, 3)
    model = mujoco.MjModel.from_xml_string(ARM)
    scalar = {name: one for name, one in signals.items() if one.values.ndim == 1}
    vectors = {name: one for name, one in signals.items() if one.values.ndim == 2}
    recorded = Recorded(model, (scalar,), (vectors,), {0: "p0", 1: "p1"}, {}, {}, {})
    lines = ExperimentLines(parse_experiment(EXPERIMENT, path=Path("experiment.yaml")))
    assert not downward_findings(recorded, lines)
