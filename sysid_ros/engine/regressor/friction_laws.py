# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Columns of the friction laws m2 to m6, about values of their parameters.

A law resists motion with a budget (:mod:`sysid_ros.engine.friction.models`), so that it asks for
the torque sign(v) budget(v, tm, te). The budget is linear in its coefficients but for the velocity
and the exponent of the Stribeck terms, and for the signs inside its absolute values. About given
values its columns are those of the coefficients, with signs as they are there, and the derivatives
by the two shape parameters, whose parameters in the regressor are *steps* from those values.

Load is that of the model about the same values, not of measured torque, whose noise would enter
the regressor: tm the torque that the motion takes, te gravity, Coriolis forces and springs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.friction import PARAMETERS, SHAPE, STRIBECK_TERMS, FrictionParameters

LAW_KINDS = PARAMETERS[2:]  # beyond damping and frictionloss, which every regressor has
LOAD_KINDS = tuple(kind for kind in LAW_KINDS if kind.startswith("load_"))
_ROUNDS = 20  # at most, of friction that depends on the torque that it is part of
_SAME = 1e-6  # of the largest torque: a round that changes it by less is the last


@dataclass(frozen=True)
class FrictionLaws:
    """Laws of some joints."""

    laws: Mapping[int, FrictionParameters]  # by the joint's degree of freedom
    theta: FloatArray  # of the regressor, (p,), about which load is computed


def law_torque(
    p: FrictionParameters, velocity: FloatArray, sign: FloatArray, tm: FloatArray, te: FloatArray
) -> FloatArray:
    """The torque (n,) of a law beyond damping and frictionloss, by motor and external torque."""
    columns = law_columns(p, velocity, sign, tm, te)
    total: FloatArray = np.zeros_like(velocity)
    for name, column in columns.items():
        if name not in SHAPE:
            total += getattr(p, name) * column
    return total


def law_columns(
    p: FrictionParameters, velocity: FloatArray, sign: FloatArray, tm: FloatArray, te: FloatArray
) -> dict[str, FloatArray]:
    """Columns (n,) of every parameter in ``LAW_KINDS``; takes what :func:`law_torque` takes."""
    ratio = (np.abs(velocity) / p.dtheta_stribeck) ** p.alpha
    slow = sign * np.exp(-ratio)
    load = np.abs(tm - te)
    driven, opposed = np.abs(tm) > np.abs(te), tm * te < 0.0
    moving = _side(p.load_friction_motor * tm - p.load_friction_external * te, tm - te)
    resting = _side(
        p.load_friction_motor_stribeck * tm - p.load_friction_external_stribeck * te, tm - te
    )
    found = {
        "friction_stribeck": slow,
        "load_friction_base": sign * load,
        "load_friction_stribeck": slow * load,
        "load_friction_motor": sign * moving * tm,
        "load_friction_external": -sign * moving * te,
        "load_friction_motor_stribeck": slow * resting * tm,
        "load_friction_external_stribeck": -slow * resting * te,
        "load_friction_motor_quad": slow * np.where(opposed & ~driven, tm**2, 0.0),
        "load_friction_external_quad": slow * np.where(opposed & driven, te**2, 0.0),
    }
    size = sum(getattr(p, name) * found[name] for name in STRIBECK_TERMS)
    logarithm = np.log(np.maximum(np.abs(velocity), 1e-12) / p.dtheta_stribeck)
    found["dtheta_stribeck"] = size * ratio * p.alpha / p.dtheta_stribeck
    found["alpha"] = -size * ratio * logarithm
    return found


def _side(value: FloatArray, otherwise: FloatArray) -> FloatArray:
    """The sign of values, and where they vanish that of others."""
    return np.sign(np.where(value != 0.0, value, otherwise))


def loaded(
    laws: FrictionLaws, velocity: FloatArray, sign: FloatArray, tm: FloatArray, te: FloatArray
) -> FloatArray:
    """The motor's torque (n, nv) with friction that depends on it; ``tm`` is that of all else."""
    found: FloatArray = tm.copy()
    for _ in range(_ROUNDS):
        before = found.copy()
        for dof, p in laws.laws.items():
            extra = law_torque(p, velocity[:, dof], sign[:, dof], before[:, dof], te[:, dof])
            found[:, dof] = tm[:, dof] + extra
        if np.abs(found - before).max(initial=0.0) <= _SAME * np.abs(tm).max(initial=0.0):
            break
    return found
