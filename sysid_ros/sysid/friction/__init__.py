# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction of gears: six models that grow with velocity and load; see docs/friction.md."""

from sysid_ros.sysid.friction.bam_file import MotorFile, load_motor_file, save_motor_file
from sysid_ros.sysid.friction.callback import friction_callback
from sysid_ros.sysid.friction.joint_friction import (
    apply_friction,
    apply_friction_to_spec,
    joint_frictions,
)
from sysid_ros.sysid.friction.models import MODELS, FrictionParameters
from sysid_ros.sysid.friction.servo import VoltageServo, apply_servo_to_spec
from sysid_ros.sysid.friction.stepper import FrictionStepper

__all__ = [
    "MODELS",
    "FrictionParameters",
    "FrictionStepper",
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
