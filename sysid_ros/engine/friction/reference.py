# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The friction models in NumPy, formula by formula: what the native code is checked against.

Each function gives the budget of one model, the largest torque of the friction, for arrays of any
broadcastable shapes: v the velocity (rad/s), tm the motor's torque and te the external one (N m).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.friction.models import FrictionParameters, parameters_of


def stribeck(v: FloatArray, p: FrictionParameters) -> FloatArray:
    """``s = exp(-|v / dtheta_stribeck|^alpha)``: 1 at rest, 0 at speed."""
    return np.exp(-(np.abs(v / p.dtheta_stribeck) ** p.alpha))


def m1(v: FloatArray, tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``Kv |v| + Kc``."""
    return p.friction_viscous * np.abs(v) + p.friction_base + 0.0 * (tm + te)


def m2(v: FloatArray, tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``M1 + s Kcs``."""
    return m1(v, tm, te, p) + stribeck(v, p) * p.friction_stribeck


def m3(v: FloatArray, tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``M1 + Kl |tm - te|``."""
    return m1(v, tm, te, p) + p.load_friction_base * np.abs(tm - te)


def m4(v: FloatArray, tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``M3 + s (Kcs + Kls |tm - te|)``."""
    resting = p.friction_stribeck + p.load_friction_stribeck * np.abs(tm - te)
    return m3(v, tm, te, p) + stribeck(v, p) * resting


def m5(v: FloatArray, tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``M1 + |Km tm - Ke te| + s (Kcs + |Kms tm - Kes te|)``."""
    load = np.abs(p.load_friction_motor * tm - p.load_friction_external * te)
    resting = p.friction_stribeck + np.abs(
        p.load_friction_motor_stribeck * tm - p.load_friction_external_stribeck * te
    )
    return m1(v, tm, te, p) + load + stribeck(v, p) * resting


def quadratic(tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``Q``: Keq te^2 where |tm| > |te|, else Kmq tm^2, where the torques oppose each other."""
    driven = np.abs(tm) > np.abs(te)
    size = np.where(
        driven, p.load_friction_external_quad * te**2, p.load_friction_motor_quad * tm**2
    )
    return np.where(tm * te < 0.0, size, 0.0)


def m6(v: FloatArray, tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``M5 + s Q``."""
    return m5(v, tm, te, p) + stribeck(v, p) * quadratic(tm, te, p)


def budget(
    model: str,
    v: npt.ArrayLike,
    tm: npt.ArrayLike,
    te: npt.ArrayLike,
    parameters: FrictionParameters,
) -> FloatArray:
    """The friction budget of a model by its name.

    Args:
      model: m1 to m6.
      v: Velocity, rad/s.
      tm: Torque of the motor at the joint, N m.
      te: External torque at the joint, N m.
      parameters: Those that the model lacks are ignored.

    Returns:
      N m, in the arguments' common shape.

    Raises:
      ParameterError: There is no such model.
    """
    parameters_of(model)
    formula = {"m1": m1, "m2": m2, "m3": m3, "m4": m4, "m5": m5, "m6": m6}[model]
    speed, motor, external = (np.asarray(x, dtype=np.float64) for x in (v, tm, te))
    return np.asarray(formula(speed, motor, external, parameters))
