# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings for inverse dynamics from sequences: where the body is that a marker is on."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.engine.measured_torque.rows.sequence_recordings import (
    sequence_recording,
    torque_sources,
)
from sysid_ros.engine.signals import with_wrenches

FLOATING = """
<mujoco>
  <worldbody><body name="base"><freejoint/><geom size="0.1"/>
    <site name="marker" pos="0.1 -0.2 0.3" euler="20 -30 40"/>
    <body name="arm"><joint name="elbow"/><geom size="0.1" pos="0.3 0 0"/></body>
  </body></worldbody>
  <actuator><motor name="drive" joint="elbow"/></actuator>
  <sensor>
    <framepos name="place" objtype="site" objname="marker"/>
    <framequat name="turn" objtype="site" objname="marker"/>
    <jointpos name="angle" joint="elbow"/>
  </sensor>
</mujoco>
"""

MOTOR = """
<mujoco>
  <worldbody><body name="arm"><joint name="elbow" axis="0 1 0" {joint}/><geom size="0.1"/>
  </body></worldbody>
  <actuator><motor name="drive" joint="elbow" {motor}/></actuator>
  <sensor><jointpos name="angle" joint="elbow"/></sensor>
</mujoco>
"""

SERVO = """
<mujoco>
  <worldbody><body name="arm" gravcomp="0.5">
    <joint name="elbow" axis="0 1 0" actuatorgravcomp="true"/><geom size="0.1" pos="0.5 0 0"/>
    <site name="tip" pos="1 0 0"/>
  </body></worldbody>
  <actuator><position name="drive" joint="elbow" kp="100"/></actuator>
  <sensor>
    <jointpos name="angle" joint="elbow"/><jointactuatorfrc name="effort" joint="elbow"/>
  </sensor>
</mujoco>
"""


def test_what_drives_the_joint_adds_nothing_to_a_measured_wrench() -> None:
    spec = with_wrenches(mujoco.MjSpec.from_string(SERVO), ["tip"])
    model, times = spec.compile(), 0.01 * np.arange(30)
    inputs = np.zeros((30, model.nu))
    inputs[:, model.actuator("tip_force_z").id] = 2.0
    measured = np.tile([0.3, 5.0], (30, 1))  # rad and N m
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences(
        "robot", spec, "run", start,
        sysid.TimeSeries.from_control_names(times, inputs, model),
        sysid.TimeSeries.from_names(times, measured, model),
    )  # fmt: skip
    sources = torque_sources(model, group)
    torque = sequence_recording(model, group, 0, sources, {}).torque
    np.testing.assert_allclose(torque, 5.0 - 2.0 * 1.0)  # the force at the tip, a metre away


RANGES = ['ctrlrange="-1 0.5"', 'forcerange="-3 2"', 'ctrlrange="-1 1" gear="-2"', 'gear="3"']


@pytest.mark.parametrize("joint", ["", 'actuatorfrcrange="-2 1"'])
@pytest.mark.parametrize("motor", RANGES)
def test_of_a_command_no_more_counts_than_reaches_the_joint(motor: str, joint: str) -> None:
    text = MOTOR.format(joint=joint, motor=motor)
    spec, times = mujoco.MjSpec.from_string(text), 0.01 * np.arange(30)
    model, told = spec.compile(), np.linspace(-4.0, 4.0, 30)
    data, reached = mujoco.MjData(model), []
    for one in told:
        data.ctrl[0] = one
        mujoco.mj_forward(model, data)
        reached.append(float(data.qfrc_actuator[0]))
    measured = told * model.actuator_gear[0, 0]  # counts as it is
    for method, expected in (("zoh", reached), ("linear", measured)):
        group = sysid.ModelSequences(
            "robot", spec, "run",
            sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv)),
            sysid.TimeSeries.from_control_names(
                times, told[:, None], model, interpolation=(method,)
            ),
            sysid.TimeSeries.from_names(times, np.zeros((30, 1)), model),
        )  # fmt: skip
        found = sequence_recording(model, group, 0, torque_sources(model, group), {}).torque
        np.testing.assert_allclose(found[:, 0], expected)


@pytest.mark.parametrize("method", ["zoh", "linear", "cubic"])
def test_of_commands_that_are_missing_nothing_is_known(method: str) -> None:
    spec, times = mujoco.MjSpec.from_string(MOTOR.format(joint="", motor="")), 0.01 * np.arange(30)
    model, told = spec.compile(), np.sin(times)
    told[10:15] = told[25:] = np.nan
    group = sysid.ModelSequences(
        "robot", spec, "run",
        sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv)),
        sysid.TimeSeries.from_control_names(times, told[:, None], model, interpolation=(method,)),
        sysid.TimeSeries.from_names(times, np.zeros((30, 1)), model),
    )  # fmt: skip
    found = sequence_recording(model, group, 0, torque_sources(model, group), {}).torque
    np.testing.assert_allclose(found[:, 0], told)


def test_a_marker_on_a_free_body_tells_the_body_s_pose() -> None:
    spec = mujoco.MjSpec.from_string(FLOATING)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[:] = np.random.default_rng(0).normal(size=model.nv)
    times, qpos, readings = 0.01 * np.arange(30), [], []
    for _ in times:
        mujoco.mj_forward(model, data)
        qpos.append(np.array(data.qpos))
        readings.append(np.array(data.sensordata))
        for _ in range(5):
            mujoco.mj_step(model, data)
    measured = np.array(readings)
    measured[10:20, 3:7] *= -1.0  # the same orientation
    measured[9, 3:7] = np.nan  # and one beside it that has to be interpolated
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences(
        "robot", spec, "run", start,
        sysid.TimeSeries.from_control_names(times, np.zeros((30, 1)), model),
        sysid.TimeSeries.from_names(times, measured, model),
    )  # fmt: skip
    sources = torque_sources(model, group)
    assert sources.base_is_known
    found = sequence_recording(model, group, 0, sources, {}).qpos
    expected = np.array(qpos)
    signs = np.sign(np.sum(found[:, 3:7] * expected[:, 3:7], axis=1, keepdims=True))
    found[:, 3:7] *= signs
    np.testing.assert_allclose(found[9], expected[9], atol=1e-4)
    np.testing.assert_allclose(np.delete(found, 9, 0), np.delete(expected, 9, 0), atol=1e-12)


LINKED = """
<mujoco><worldbody>
  <body><joint name="a"/><geom size="0.1"/></body><body><joint name="b"/><geom size="0.1"/></body>
  <body><joint name="c"/><geom size="0.1"/></body>
</worldbody>
<equality><joint joint1="b" joint2="a" polycoef="0 -2 0 0 0"/>
  <joint joint1="a" joint2="c" polycoef="0 1 0.5 0 0"/></equality>
<actuator><motor joint="a" name="a"/><motor joint="b" name="b"/>
  <motor joint="c" name="c"/></actuator>
<sensor><jointpos name="angle" joint="c"/></sensor></mujoco>
"""


def test_torque_of_linked_joints_is_handed_to_the_one_that_drives_them() -> None:
    spec = mujoco.MjSpec.from_string(LINKED)
    model, times = spec.compile(), 0.01 * np.arange(30)
    angle = np.sin(times)
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences(
        "robot", spec, "run", start,
        sysid.TimeSeries.from_control_names(times, np.tile([1.0, 2.0, 3.0], (30, 1)), model),
        sysid.TimeSeries.from_names(times, angle[:, None], model),
    )  # fmt: skip
    sources = torque_sources(model, group)
    found = sequence_recording(model, group, 0, sources, {})
    np.testing.assert_allclose(found.torque[:, 2], 3.0 + (1.0 + angle) * (1.0 - 2.0 * 2.0))
    np.testing.assert_allclose(found.torque[:, :2], 0.0)
    moved = angle + 0.5 * angle**2
    np.testing.assert_allclose(found.qpos, np.column_stack([moved, -2.0 * moved, angle]))
