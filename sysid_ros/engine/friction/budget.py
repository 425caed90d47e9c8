# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The friction models in NumPy: what the native code is checked against."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.friction.models import FrictionParameters, parameters_of


def budget(
    model: str,
    v: npt.ArrayLike,
    tm: npt.ArrayLike,
    te: npt.ArrayLike,
    parameters: FrictionParameters,
) -> FloatArray:
    """Return the friction budget of a model by its name, the largest torque of the friction.

    It is the sum of all terms in :mod:`~sysid_ros.engine.friction.models`, where the parameters
    that the model lacks are zero.

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
    own = {name: getattr(parameters, name) for name in parameters_of(model)}
    p = FrictionParameters(**own)
    speed, motor, external = (np.asarray(x, dtype=np.float64) for x in (v, tm, te))
    load = np.abs(motor - external)
    moving = p.friction_viscous * np.abs(speed) + p.friction_base + p.load_friction_base * load
    moving = moving + np.abs(p.load_friction_motor * motor - p.load_friction_external * external)
    resting = p.friction_stribeck + p.load_friction_stribeck * load
    resting = resting + np.abs(
        p.load_friction_motor_stribeck * motor - p.load_friction_external_stribeck * external
    )
    resting = resting + _quadratic(motor, external, p)
    stribeck = np.exp(-(np.abs(speed / p.dtheta_stribeck) ** p.alpha))
    return np.asarray(moving + stribeck * resting)


def _quadratic(tm: FloatArray, te: FloatArray, p: FrictionParameters) -> FloatArray:
    """``Q``: Keq te^2 where |tm| > |te|, else Kmq tm^2, where the torques oppose each other."""
    driven = np.abs(tm) > np.abs(te)
    size = np.where(
        driven, p.load_friction_external_quad * te**2, p.load_friction_motor_quad * tm**2
    )
    return np.where(tm * te < 0.0, size, 0.0)
