# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction of gears for users of the library; see docs/friction.md."""

from sysid_ros.engine.friction import MODELS as MODELS
from sysid_ros.engine.friction import FrictionParameters as FrictionParameters
from sysid_ros.engine.friction import MotorFile as MotorFile
from sysid_ros.engine.friction import VoltageServo as VoltageServo
from sysid_ros.engine.friction import apply_friction as apply_friction
from sysid_ros.engine.friction import apply_friction_to_spec as apply_friction_to_spec
from sysid_ros.engine.friction import apply_servo_to_spec as apply_servo_to_spec
from sysid_ros.engine.friction import friction_callback as friction_callback
from sysid_ros.engine.friction import joint_frictions as joint_frictions
from sysid_ros.engine.friction import load_motor_file as load_motor_file
from sysid_ros.engine.friction import save_motor_file as save_motor_file
