# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of voltage servos: ``servo_kp`` and so on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, BoundsRule, fixed, scalar, scaled
from sysid_ros.engine.friction import (
    SERVO_PARAMETERS,
    SERVO_UNITS,
    VoltageServo,
    actuator_on_joint,
    apply_servo_to_spec,
    servo_of_spec,
)


def servo_attributes() -> list[Attribute]:
    """The rows of identifiable attributes: ``servo_kp`` and so on."""
    return [_row(name) for name in SERVO_PARAMETERS]


def _row(name: str) -> Attribute:
    bounds: BoundsRule = fixed(0.05, 1.0) if name == "pwm_limit" else scaled()

    def read(spec: Any, actuator: str) -> FloatArray:
        actuator_on_joint(spec, actuator)
        return scalar(getattr(servo_of_spec(spec, actuator) or VoltageServo(), name))

    def write(spec: Any, actuator: str, value: FloatArray) -> None:
        servo = servo_of_spec(spec, actuator) or VoltageServo()
        apply_servo_to_spec(spec, actuator, replace(servo, **{name: float(value[0])}))

    return Attribute("actuator", f"servo_{name}", SERVO_UNITS.get(name, ""), 1, bounds, read, write)
