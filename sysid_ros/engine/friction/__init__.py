# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction of gears: six models that grow with velocity and load; see docs/friction.md."""

from __future__ import annotations

from sysid_ros.engine.friction.bam_file import MotorFile, load_motor_file, save_motor_file
from sysid_ros.engine.friction.callback import friction_callback
from sysid_ros.engine.friction.joint_friction import (
    LEAST_FRICTIONLOSS,
    SOLIMP_FRICTION,
    SOLREF_FRICTION,
    apply_friction,
    apply_friction_to_spec,
    friction_of_spec,
    friction_rows,
    frictions_by_joint,
    has_friction,
    is_marked,
    joint_frictions,
    mark_joint,
)
from sysid_ros.engine.friction.models import (
    COEFFICIENTS,
    MODELS,
    PARAMETERS,
    SHAPE,
    STRIBECK_TERMS,
    FrictionParameters,
    parameters_of,
)
from sysid_ros.engine.friction.servo import (
    SERVO_PARAMETERS,
    SERVO_UNITS,
    VoltageServo,
    actuator_on_joint,
    apply_servo_to_spec,
    servo_of_model,
    servo_of_spec,
)

# What the documentation shows to users; the rest is for other rooms.
__all__ = [
    "MODELS",
    "FrictionParameters",
    "MotorFile",
    "VoltageServo",
    "apply_friction",
    "apply_friction_to_spec",
    "apply_servo_to_spec",
    "friction_callback",
    "joint_frictions",
    "load_motor_file",
    "save_motor_file",
]
