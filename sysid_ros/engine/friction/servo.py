# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hobby and smart servos: firmware with a position gain that puts a voltage on a DC motor.

With the command u, the joint at q, its velocity v and the duty cycle limited by the firmware,

    V = vin clip(kp (u - q), -pwm_limit, pwm_limit)
    torque = kt clip(V / R, -current_limit, current_limit) - kt^2 / R v

(a motor without inductance: V = R i + kt v, torque = kt i); see docs/friction.md.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import ON_JOINT, find
from sysid_ros.engine.friction.user_rows import row_start, user_data, with_row
from sysid_ros.errors import ModelError, ParameterError

_MARK = (161803.0, 271828.0)  # in front of a servo's numbers in an actuator's ``user``


@dataclass(frozen=True)
class VoltageServo:
    """A servo."""

    kp: float = 10.0  # duty cycle per radian of position error, 1/rad
    vin: float = 7.4  # supply voltage, V
    kt: float = 1.0  # torque constant at the joint, gears included, N m/A
    R: float = 2.0  # resistance, ohm
    pwm_limit: float = 1.0  # largest duty cycle, above 0 and up to 1
    current_limit: float = 0.0  # largest current that the firmware commands, A; 0 for none

    def __post_init__(self) -> None:
        """Refuse what no servo has.

        Raises:
          ParameterError: A number is not positive, or the current limit is negative.
        """
        for name in SERVO_PARAMETERS:
            value = getattr(self, name)
            if not (value >= 0.0 if name == "current_limit" else value > 0.0):
                raise ParameterError(f"{name} of a servo must be above 0, got {value}")

    @property
    def stiffness(self) -> float:
        """Torque per position error before a limit acts, ``kp vin kt / R``, N m/rad."""
        return self.kp * self.vin * self.kt / self.R

    @property
    def stall_torque(self) -> float:
        """The largest torque at rest, N m."""
        current = self.pwm_limit * self.vin / self.R
        return self.kt * (min(current, self.current_limit) if self.current_limit else current)

    @property
    def back_emf(self) -> float:
        """Damping by the back-EMF, ``kt^2 / R``, N m s/rad."""
        return self.kt**2 / self.R


SERVO_PARAMETERS = tuple(field.name for field in fields(VoltageServo))
_ROW = len(_MARK) + len(SERVO_PARAMETERS)
SERVO_UNITS = {"kp": "1/rad", "vin": "V", "kt": "N m/A", "R": "ohm", "current_limit": "A"}


def apply_servo_to_spec(spec: Any, actuator: str, servo: VoltageServo) -> None:
    """Make an actuator of a spec a voltage-controlled servo.

    Args:
      spec: An MjSpec, which is changed.
      actuator: An actuator on a joint; its control is the position command.
      servo: Its parameters.

    Raises:
      ModelError: There is no such actuator, it does not act on a joint, or this MuJoCo's actuators
        have no damping (before 3.7).
    """
    item = actuator_on_joint(spec, actuator)
    item.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    item.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    item.gainprm[:] = 0.0
    item.biasprm[:] = 0.0
    item.gainprm[0] = servo.stiffness
    item.biasprm[1] = -servo.stiffness
    item.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
    item.forcerange = np.array([-servo.stall_torque, servo.stall_torque])
    damping = np.zeros_like(np.array(item.damping))
    damping[0] = servo.back_emf
    item.damping = damping
    _write_row(spec, item, servo)


def servo_of_spec(spec: Any, actuator: str) -> VoltageServo | None:
    """The servo that an actuator of a spec was made, ``None`` where it is none.

    Raises:
      ModelError: There is no such actuator.
    """
    return _servo_in(user_data(find(spec, "actuator", actuator).userdata))


def servo_of_model(model: Any, actuator: int) -> VoltageServo | None:
    """The servo that an actuator of a compiled model is, by its id; ``None`` where it is none."""
    return _servo_in(model.actuator_user[actuator])


def _servo_in(users: FloatArray) -> VoltageServo | None:
    start = row_start(users, _MARK, _ROW)
    if start is None:
        return None
    return VoltageServo(*(float(x) for x in users[start + len(_MARK) : start + _ROW]))


def actuator_on_joint(spec: Any, actuator: str) -> Any:
    """Find an actuator that can be a servo.

    Raises:
      ModelError: It acts on no joint, or actuators of this MuJoCo have no damping.
    """
    item = find(spec, "actuator", actuator)
    if int(item.trntype) not in ON_JOINT:
        raise ModelError(f"actuator {actuator!r} cannot be a servo: it acts on no joint")
    if not hasattr(item, "damping"):
        raise ModelError(
            f"actuators of MuJoCo {mujoco.__version__} have no damping, which a servo's back-EMF "
            "is; MuJoCo 3.7 and later do"
        )
    return item


def _write_row(spec: Any, item: Any, servo: VoltageServo) -> None:
    values = [getattr(servo, name) for name in SERVO_PARAMETERS]
    item.userdata = with_row(item.userdata, _MARK, values)
    if spec.nuser_actuator >= 0:  # -1: as many as needed
        spec.nuser_actuator = max(int(spec.nuser_actuator), len(item.userdata))
