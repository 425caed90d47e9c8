# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Voltage-controlled servos."""

from __future__ import annotations

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.engine.estimation.servo_combinations import sentences, servo_combinations
from sysid_ros.engine.friction import VoltageServo, apply_servo_to_spec
from sysid_ros.engine.friction.servo import servo_of_spec
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.errors import ModelError, ParameterError
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots.declared_parameters import build_parameters

XML = """<mujoco>
<worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.3"/>
<site name="tip"/></body></worldbody>
<actuator><motor name="servo" joint="j" user="3"/><motor name="jet" site="tip"/></actuator>
</mujoco>"""


@given(
    st.builds(
        VoltageServo,
        kp=st.floats(0.5, 50.0), vin=st.floats(3.0, 24.0), kt=st.floats(0.1, 3.0),
        R=st.floats(0.3, 10.0), pwm_limit=st.floats(0.1, 1.0),
        current_limit=st.just(0.0) | st.floats(1e-3, 5.0),  # 0: unlimited
    ),
    st.floats(-3.0, 3.0), st.floats(-20.0, 20.0), st.floats(-3.0, 3.0),
)  # fmt: skip
def test_the_torque_is_the_formula_s(servo: VoltageServo, q: float, v: float, u: float) -> None:
    spec = mujoco.MjSpec.from_string(XML)
    apply_servo_to_spec(spec, "servo", servo)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[0], data.qvel[0], data.ctrl[0] = q, v, u
    mujoco.mj_forward(model, data)
    volts = servo.vin * np.clip(servo.kp * (u - q), -servo.pwm_limit, servo.pwm_limit)
    limit = servo.current_limit or np.inf
    torque = servo.kt * np.clip(volts / servo.R, -limit, limit) - servo.kt**2 / servo.R * v
    assert data.qfrc_actuator[0] + data.qfrc_passive[0] == pytest.approx(torque, abs=1e-9)
    assert servo_of_spec(spec, "servo") == servo
    assert model.actuator_user[0, 0] == 3.0


def test_numbers_behind_a_servo_stay_when_it_changes() -> None:
    spec = mujoco.MjSpec.from_string(XML)
    apply_servo_to_spec(spec, "servo", VoltageServo())
    item = spec.actuator("servo")
    item.userdata = [*item.userdata, 7.0]
    apply_servo_to_spec(spec, "servo", VoltageServo(kp=4.0))
    assert list(spec.actuator("servo").userdata)[-1] == 7.0
    assert servo_of_spec(spec, "servo") == VoltageServo(kp=4.0)


def test_it_is_identified_by_its_parameters() -> None:
    text = """
model: m.xml
signals: [{actuator: servo, topic: t, field: f}]
parameters:
  - actuator: servo
    servo_vin: {initial: 12, frozen: true}
    servo_kp: {initial: 5}
    servo_kt: {initial: 1.5, min: 0.1, max: 5}
    servo_R: {initial: 3}
    servo_pwm_limit: {initial: 0.8}
"""
    spec = mujoco.MjSpec.from_string(XML)
    parameters = build_parameters(parse_experiment(text), spec)
    assert parameters["servo_servo_kt"].unit == "N m/A"
    for parameter in parameters.values():
        parameter.apply_modifier(spec)
    assert servo_of_spec(spec, "servo") == VoltageServo(5.0, 12.0, 1.5, 3.0, 0.8)
    again = mujoco.MjSpec.from_string(spec.to_xml())
    assert servo_of_spec(again, "servo") == VoltageServo(5.0, 12.0, 1.5, 3.0, 0.8)


def test_what_cannot_be_a_servo_is_refused() -> None:
    spec = mujoco.MjSpec.from_string(XML)
    with pytest.raises(ModelError, match="'jet' cannot be a servo: it acts on no joint"):
        apply_servo_to_spec(spec, "jet", VoltageServo())
    with pytest.raises(ParameterError, match="R of a servo must be above 0, got 0"):
        VoltageServo(R=0.0)
    assert servo_of_spec(spec, "servo") is None


def test_what_cannot_be_separated_is_given_as_combinations() -> None:
    """Estimates that move together along kt / R and kt^2 / R + Kv, with a thousandth across."""
    kt, resistance, viscous = 1.2, 2.5, 0.1
    along = np.array([kt, resistance, -(kt**2) / resistance])  # both combinations stay
    across = np.diag([1e-3, 1e-3, 1e-3]) ** 2
    names = ("kt", "R", "friction_viscous")
    values = dict(zip(names, (kt, resistance, viscous), strict=True))
    flags = ("poorly determined",)
    result = SimpleNamespace(
        parameters=tuple(
            ParameterEstimate(n, "", v, v, 0.0, 9.0, 1.0, 20.0, flags) for n, v in values.items()
        ),
        covariance=np.outer(along, along) + across,
    )
    params = ParameterDict()
    for name, value in values.items():
        element, owner = ("joint", "j") if name not in ("kt", "R") else ("actuator", "servo")
        attribute = name if element == "joint" else f"servo_{name}"
        modifier = AttributeModifier(element, owner, attribute)
        params.add(Parameter(name, value, 0.0, 9.0, modifier=modifier))
    spec = mujoco.MjSpec.from_string(XML)
    ratio, damping = servo_combinations(result, params, spec)  # type: ignore[arg-type]
    assert (ratio.name, ratio.unit) == ("servo: kt / R", "N m/V")
    assert ratio.value == pytest.approx(0.48)
    assert ratio.standard_error == pytest.approx(1e-3 * np.hypot(0.4, 0.48 / 2.5), rel=1e-3)
    assert damping.value == pytest.approx(0.676)
    assert damping.standard_error < 3e-3
    said = sentences((ratio, damping), result)  # type: ignore[arg-type]
    assert "servo: kt / R is 0.48" in said[0]
    assert "not kt, R, friction_viscous one by one" in said[1]
    assert servo_combinations(result, ParameterDict(), spec) == ()  # type: ignore[arg-type]
