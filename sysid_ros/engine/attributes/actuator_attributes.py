# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identifiable attributes of actuators: gains, transmission, limits, dynamics, DC motors.

The force of most actuators is affine (MuJoCo documentation, Computation, Actuation model):

    force = gain * u + bias,   gain = gainprm[0],   bias = b0 + b1 * length + b2 * velocity.

A position servo has gainprm[0] = kp, b1 = -kp, b2 = -kv; a velocity servo gainprm[0] = kv,
b2 = -kv. A positive b2 is a damping ratio that the compiler turns into a kv; it depends on the
inertia at the reference configuration, so that an identified armature would move it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes.attribute import Attribute, around, non_negative, scalar, scaled
from sysid_ros.engine.attributes.number_attributes import entry
from sysid_ros.engine.elements import LOW_PASSES, compiled, find
from sysid_ros.errors import ModelError


class ActuatorKindError(ModelError, ValueError):
    """An actuator is not of the kind that has the named attribute."""


def actuator_attributes() -> list[Attribute]:
    """The rows for actuators."""
    return [
        entry("actuator", "gain", "", "gainprm", (0,), scaled(), _with_gain),
        Attribute("actuator", "bias", "N m", 1, around(1.0), _read_bias, _write_bias),
        Attribute("actuator", "kp", "N m/rad", 1, scaled(), _read_kp, _write_kp),
        Attribute("actuator", "kv", "N m s/rad", 1, non_negative(10.0), _read_kv, _write_kv),
        entry("actuator", "gear", "", "gear", (0,), scaled()),
        Attribute("actuator", "force_limit", "N m", 1, scaled(), _read_limit, _write_limit),
        entry("actuator", "time_constant", "s", "dynprm", (0,), scaled(), _filtered),
        Attribute("actuator", "armature", "kg m^2", 1, non_negative(0.1), _read_armature,
                  _write_armature),
        entry("actuator", "damping", "N m s/rad", "damping", (0,), non_negative(10.0),
              partial(_reflected, "damping")),
        Attribute("actuator", "resistance", "ohm", 1, scaled(), _read_resistance,
                  _write_resistance),
        entry("actuator", "motor_constant", "N m/A", "gainprm", (1,), scaled(), _dc_motor),
        Attribute("actuator", "inductance", "H", 1, scaled(), _read_inductance,
                  _write_inductance),
        entry("actuator", "lugre_stiffness", "N m/rad", "dynprm", (5,), scaled(), _with_lugre),
        entry("actuator", "lugre_damping", "N m s/rad", "dynprm", (6,), scaled(), _with_lugre),
        entry("actuator", "lugre_coulomb", "N m", "biasprm", (3,), scaled(), _with_lugre),
        entry("actuator", "lugre_static", "N m", "biasprm", (4,), scaled(), _with_lugre),
        entry("actuator", "lugre_stribeck", "rad/s", "biasprm", (5,), scaled(), _with_lugre),
    ]  # fmt: skip


def is_position_servo(actuator: Any) -> bool:
    """Return whether the actuator's force has a fixed gain and pulls towards a position.

    Args:
      actuator: An actuator of an MjSpec or of an MjModel.
    """
    return bool(
        actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
        and actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE
        and actuator.biasprm[1] != 0.0
    )


def _with_gain(spec: Any, name: str) -> Any:
    actuator = find(spec, "actuator", name)
    if actuator.gaintype not in (mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtGain.mjGAIN_AFFINE):
        raise ActuatorKindError(
            f"actuator {name!r} has no gain: its gain is neither fixed nor affine"
        )
    return actuator


def _read_bias(spec: Any, name: str) -> FloatArray:
    actuator = find(spec, "actuator", name)
    return scalar(actuator.biasprm[0] if _is_affine(actuator) else 0.0)


def _write_bias(spec: Any, name: str, value: FloatArray) -> None:
    actuator = find(spec, "actuator", name)
    if actuator.biastype == mujoco.mjtBias.mjBIAS_NONE:
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        actuator.biasprm[:] = 0.0  # they had no meaning until now
    elif not _is_affine(actuator):
        raise ActuatorKindError(f"actuator {name!r} has no constant bias: its bias is not affine")
    actuator.biasprm[0] = value[0]


def _is_pid(actuator: Any) -> bool:
    kind = getattr(mujoco.mjtGain, "mjGAIN_PID", None)  # since MuJoCo 4
    return bool(kind is not None and actuator.gaintype == kind)


def _is_affine(actuator: Any) -> bool:
    return bool(actuator.biastype == mujoco.mjtBias.mjBIAS_AFFINE)


def _position_servo(spec: Any, name: str) -> Any:
    actuator = find(spec, "actuator", name)
    if not (is_position_servo(actuator) or _is_pid(actuator)):
        raise ActuatorKindError(
            f"Actuator {name} is not a position actuator: kp needs a fixed gain and a bias that "
            "is affine in the position"
        )
    return actuator


def _read_kp(spec: Any, name: str) -> FloatArray:
    return scalar(-_position_servo(spec, name).biasprm[1])


def _write_kp(spec: Any, name: str, value: FloatArray) -> None:
    actuator = _position_servo(spec, name)
    # A general actuator may scale its command: gain u - kp q with gain / kp not 1.
    if not _is_pid(actuator):  # whose gain is the integral's
        actuator.gainprm[0] *= value[0] / -actuator.biasprm[1]
    actuator.biasprm[1] = -value[0]


def _servo(spec: Any, name: str) -> Any:
    actuator = find(spec, "actuator", name)
    fixed = actuator.gaintype == mujoco.mjtGain.mjGAIN_FIXED
    if (fixed or _is_pid(actuator)) and _is_affine(actuator):
        return actuator
    raise ActuatorKindError(
        f"actuator {name!r} has no kv: it needs a fixed gain and an affine bias, as position and "
        "velocity servos have"
    )


def _read_kv(spec: Any, name: str) -> FloatArray:
    actuator = _servo(spec, name)
    if actuator.biasprm[2] > 0.0:  # a damping ratio
        return scalar(-compiled(spec).actuator(name).biasprm[2])
    return scalar(abs(actuator.biasprm[2]))


def _write_kv(spec: Any, name: str, value: FloatArray) -> None:
    actuator = _servo(spec, name)
    plain = actuator.biasprm[1] == 0.0 and not _is_pid(actuator)
    velocity_servo = plain and actuator.gainprm[0] == -actuator.biasprm[2]
    actuator.biasprm[2] = -value[0]
    if velocity_servo:
        actuator.gainprm[0] = value[0]


def _read_limit(spec: Any, name: str) -> FloatArray:
    actuator = find(spec, "actuator", name)
    low, high = actuator.forcerange
    if low == high or actuator.forcelimited == mujoco.mjtLimited.mjLIMITED_FALSE:
        raise ActuatorKindError(
            f"actuator {name!r} has no force limit in the model: give an initial value and bounds"
        )
    if not np.isclose(-low, high):
        raise ActuatorKindError(
            f"actuator {name!r} has the unsymmetric force range [{low:g}, {high:g}]; force_limit "
            "identifies one limit for both directions: give an initial value and bounds"
        )
    return scalar(high)


def _write_limit(spec: Any, name: str, value: FloatArray) -> None:
    actuator = find(spec, "actuator", name)
    actuator.forcerange = np.array([-value[0], value[0]])
    actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE


def _filtered(spec: Any, name: str) -> Any:
    actuator = find(spec, "actuator", name)
    if int(actuator.dyntype) in LOW_PASSES:
        return actuator
    raise ActuatorKindError(
        f"actuator {name!r} has no time constant: its dyntype is neither filter nor filterexact "
        "(for a position servo set timeconst in the model)"
    )


def least_time_constant(spec: Any, name: str) -> float:
    """Return the shortest time constant that an actuator's dynamics can be simulated with, s.

    MuJoCo steps the activation of ``dyntype="filter"`` by Euler's method (but with RK4): below the
    time step it overshoots and rings, below half of it it diverges, so that what comes out depends
    on where in a time step a command changes.
    """
    stepped = find(spec, "actuator", name).dyntype == mujoco.mjtDyn.mjDYN_FILTER
    euler = spec.option.integrator != mujoco.mjtIntegrator.mjINT_RK4
    return float(spec.option.timestep) if stepped and euler else 0.0


def _reflected(attribute: str, spec: Any, name: str) -> Any:
    actuator = find(spec, "actuator", name)
    if not hasattr(actuator, attribute):
        raise ActuatorKindError(
            f"actuators have no {attribute} in MuJoCo {mujoco.__version__}; identify the joint's"
        )
    return actuator


def _read_armature(spec: Any, name: str) -> FloatArray:
    return scalar(_reflected("armature", spec, name).armature)


def _write_armature(spec: Any, name: str, value: FloatArray) -> None:
    _reflected("armature", spec, name).armature = float(value[0])


def _dc_motor(spec: Any, name: str) -> Any:
    """A dcmotor: gainprm = (R, K, ...), dynprm[0] = L/R, lugre in dynprm[5:7], biasprm[3:6]."""
    actuator = find(spec, "actuator", name)
    kind = getattr(mujoco.mjtGain, "mjGAIN_DCMOTOR", None)
    if kind is None or actuator.gaintype != kind:
        raise ActuatorKindError(f"actuator {name!r} is not a dcmotor")
    return actuator


def _read_resistance(spec: Any, name: str) -> FloatArray:
    return scalar(_dc_motor(spec, name).gainprm[0])


def _write_resistance(spec: Any, name: str, value: FloatArray) -> None:
    motor = _dc_motor(spec, name)
    motor.dynprm[0] *= motor.gainprm[0] / value[0]  # the inductance stays
    motor.gainprm[0] = value[0]


def _inductive(spec: Any, name: str) -> Any:
    motor = _dc_motor(spec, name)
    if motor.dynprm[0] <= 0.0:
        # With inductance the actuator gets a state, which would change the model's size.
        raise ActuatorKindError(
            f"dcmotor {name!r} has no inductance in the model; give it a small one there"
        )
    return motor


def _read_inductance(spec: Any, name: str) -> FloatArray:
    motor = _inductive(spec, name)
    return scalar(motor.dynprm[0] * motor.gainprm[0])


def _write_inductance(spec: Any, name: str, value: FloatArray) -> None:
    motor = _inductive(spec, name)
    motor.dynprm[0] = value[0] / motor.gainprm[0]


def _with_lugre(spec: Any, name: str) -> Any:
    """A dcmotor with LuGre friction, where the model has it switched on."""
    motor = _dc_motor(spec, name)
    if motor.dynprm[5] <= 0.0:
        raise ActuatorKindError(f"dcmotor {name!r} has no lugre friction in the model")
    return motor
