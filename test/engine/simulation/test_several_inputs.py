# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Actuators of several inputs, of which MuJoCo counts each in ``nu``, beside a motor."""

from __future__ import annotations

import chains
import mujoco
import numpy as np
import pytest
from derivative_errors import differences, jacobians

from sysid_ros.engine.elements import (
    actuators_on,
    control_range,
    first_inputs,
    is_servo,
    servo_gain,
)
from sysid_ros.engine.mechanics.actuator_tables import unsupported_actuators
from sysid_ros.engine.signals import SignalType, TimeSeries, control_names
from sysid_ros.engine.simulation.step_controls import ordered_controls
from sysid_ros.errors import SignalError

ARM = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody>
  <body><joint name="shoulder" axis="0 1 0" damping="0.7" armature="0.05"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1" contype="0"/>
  <body pos="0.3 0 0"><joint name="elbow" axis="0 1 0" damping="0.3" armature="0.02"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0" mass="0.5" contype="0"/>
  <body pos="0.2 0 0"><joint name="wrist" axis="1 0 0" damping="0.1" armature="0.01"/>
  <geom type="box" size="0.03 0.05 0.02" mass="0.2" contype="0"/></body></body></body></worldbody>
  <actuator><pid name="upper" joint="shoulder" kp="60" kv="4"/>
  <pid name="fore" joint="elbow" kp="20" kv="1" ki="{ki}"/><motor name="last" joint="wrist"
  ctrllimited="true" ctrlrange="-3 2"/></actuator><sensor><jointpos name="a" joint="shoulder"/>
  <jointpos name="b" joint="elbow"/><jointpos name="c" joint="wrist"/></sensor></mujoco>"""

pytestmark = pytest.mark.skipif(
    not hasattr(mujoco.mjtGain, "mjGAIN_PID"), reason="MuJoCo 4 brought actuators of several inputs"
)


def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(ARM.format(ki=5))


def test_an_actuators_inputs_are_not_its_number() -> None:
    own = model()
    assert (own.nu, own.nactuator) == (5, 3)
    assert first_inputs(own).tolist() == [0, 2, 4]
    assert actuators_on(own, 2) == [2]
    assert control_range(own, 2).tolist() == [-3.0, 2.0]
    assert np.isinf(control_range(own, 1)).all()
    assert [is_servo(own, actuator) for actuator in range(3)] == [True, True, False]
    assert [servo_gain(own, actuator) for actuator in range(3)] == [60.0, 20.0, 1.0]
    names = ("upper", "upper.velocity", "fore", "fore.velocity", "last")
    assert control_names(own) == names


def test_commands_reach_the_inputs_that_they_name() -> None:
    names = ["fore.velocity", "last", "upper"]
    columns = {name: (SignalType.MjCtrl, np.array([i])) for i, name in enumerate(names)}
    series = TimeSeries(np.array([0.0, 1.0]), np.array([[1.0, 2.0, 3.0]] * 2), columns)
    assert ordered_controls(model(), series)[0].tolist() == [3.0, 0.0, 0.0, 1.0, 2.0]
    wrong = TimeSeries(
        series.times, series.data[:, :1], {"last.velocity": columns["fore.velocity"]}
    )
    with pytest.raises(SignalError, match=r"last\.velocity"):
        ordered_controls(model(), wrong)


@pytest.mark.parametrize("ki", [0, 5])
def test_derivatives_are_those_of_central_differences(ki: int) -> None:
    root = mujoco.MjSpec.from_string(ARM.format(ki=ki))
    assert unsupported_actuators(root.copy().compile()) is not None  # so that differences are used
    params = chains.of_elements(
        ("joint", "shoulder", "damping", 0.7),
        ("actuator", "fore", "kp", 20.0),
        ("joint", "wrist", "armature", 0.01),
    )
    problem = chains.problem(root, params)
    point = problem.initial_point()
    found = jacobians(problem, point)[0]
    right = differences(problem, point, 1e-5, 1e-5, np.arange(found.shape[1]))[0]
    sizes = np.linalg.norm(right, axis=0)
    assert np.all(sizes[:3] > 0.0)
    np.testing.assert_allclose(found, right, atol=1e-4 * sizes.max(), rtol=1e-3)
