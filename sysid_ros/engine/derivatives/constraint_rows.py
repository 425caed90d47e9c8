# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint friction and joint limits as MuJoCo's solver sees them: one row each, on a single joint.

A row with regularization R = 1 / D has the force ``-D (J qacc - aref)`` in its quadratic zone; a
friction row outside of it slides with the full friction loss, a limit outside of it is open. See
MuJoCo's documentation, Computation, "Constraint model", and mj_makeImpedance for the formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import compiled
from sysid_ros.engine.derivatives.model_tables import (
    FRICTIONLOSS,
    HINGE,
    INVWEIGHT,
    SLIDE,
    Tables,
)

MIN_VALUE = 1e-15  # mjMINVAL
MIN_IMPEDANCE, MAX_IMPEDANCE = 1e-4, 0.9999


class Rows(NamedTuple):
    """Constraint forces, summed over the rows of each degree of freedom, and their derivatives.

    ``stiffness`` is minus the derivative in the acceleration.
    """

    force: FloatArray  # (nv,)
    stiffness: FloatArray  # (nv,)
    by_position: FloatArray  # (nv,)
    by_velocity: FloatArray  # (nv,)
    by_frictionloss: FloatArray  # (nv,)
    by_invweight: FloatArray  # (nv,)


def new_rows(nv: int) -> Rows:
    """Room for rows."""
    return Rows(np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv))


@compiled
def constrain(
    t: Tables,
    loss: FloatArray,
    q: FloatArray,
    v: FloatArray,
    acceleration: FloatArray,
    out: Rows,
) -> bool:
    """Evaluate the rows.

    Args:
      t: The model.
      loss: Largest friction of each degree of freedom, (nv,).
      q: Joint positions, (nq,).
      v: Joint velocities, (nv,).
      acceleration: ``qacc`` of the constraint solver, (nv,).
      out: Written.

    Returns:
      Whether any row is in its quadratic zone.
    """
    quadratic = False
    for i in range(v.size):
        out.force[i] = out.stiffness[i] = out.by_position[i] = out.by_velocity[i] = 0.0
        out.by_frictionloss[i] = out.by_invweight[i] = 0.0
        if t.friction_enabled and t.dof_fields[FRICTIONLOSS, i] > 0.0:
            quadratic |= _friction(t, i, loss[i], v[i], acceleration[i], out)
        joint = t.dof_jntid[i]
        scalar = t.jnt_type[joint] == HINGE or t.jnt_type[joint] == SLIDE
        if t.limit_enabled and t.jnt_limited[joint] and scalar:
            position = q[t.jnt_qposadr[joint]]
            for side in (-1.0, 1.0):
                quadratic |= _limit(t, joint, i, side, position, v[i], acceleration[i], out)
    return quadratic


@compiled
def _friction(t: Tables, i: int, loss: float, v: float, acceleration: float, out: Rows) -> bool:
    weight = t.dof_fields[INVWEIGHT, i]
    _, damping = _reference(t, t.dof_solref[i], t.dof_solimp[i])
    impedance, _ = _impedance(t.dof_solimp[i], 0.0)
    resistance = max(MIN_VALUE, (1.0 - impedance) / impedance * weight)
    violation = acceleration + damping * v
    if abs(violation) >= resistance * loss:
        sign = -np.sign(violation)
        out.force[i] += sign * loss
        out.by_frictionloss[i] += sign
        return False
    out.force[i] -= violation / resistance
    out.stiffness[i] += 1.0 / resistance
    out.by_velocity[i] -= damping / resistance
    if resistance > MIN_VALUE:
        out.by_invweight[i] += violation / (resistance * weight)
    return True


@compiled
def _limit(
    t: Tables,
    joint: int,
    i: int,
    side: float,
    q: float,
    v: float,
    acceleration: float,
    out: Rows,
) -> bool:
    bound = t.jnt_range[joint, 1] if side > 0.0 else t.jnt_range[joint, 0]
    depth = side * (bound - q) - t.jnt_margin[joint]
    if depth >= 0.0:
        return False
    sign = -side  # the row's Jacobian
    stiffness, damping = _reference(t, t.jnt_solref[joint], t.jnt_solimp[joint])
    impedance, slope = _impedance(t.jnt_solimp[joint], depth)
    weight = t.dof_fields[INVWEIGHT, i]
    resistance = max(MIN_VALUE, (1.0 - impedance) / impedance * weight)
    violation = sign * acceleration + damping * sign * v + stiffness * impedance * depth
    if violation >= 0.0:
        return False
    out.force[i] -= sign * violation / resistance
    out.stiffness[i] += 1.0 / resistance
    out.by_velocity[i] -= damping / resistance
    out.by_position[i] -= stiffness * (impedance + depth * slope) / resistance
    if resistance > MIN_VALUE:
        out.by_position[i] -= violation * slope / (impedance * (1.0 - impedance) * resistance)
        out.by_invweight[i] += sign * violation / (resistance * weight)
    return True


@compiled
def _reference(t: Tables, solref: FloatArray, solimp: FloatArray) -> tuple[float, float]:
    """Stiffness and damping of the reference acceleration."""
    width = min(MAX_IMPEDANCE, max(MIN_IMPEDANCE, solimp[1]))
    first, second = solref
    if (first > 0.0) != (second > 0.0):
        first, second = 0.02, 1.0  # what MuJoCo replaces a mixed format by
    if first > 0.0:
        if t.refsafe:
            first = max(first, 2.0 * t.timestep)
        return 1.0 / max(MIN_VALUE, (width * first * second) ** 2), 2.0 / (width * first)
    return -first / (width * width), -second / width


@compiled
def _impedance(solimp: FloatArray, depth: float) -> tuple[float, float]:
    """The impedance at a depth, and its derivative."""
    low = min(MAX_IMPEDANCE, max(MIN_IMPEDANCE, solimp[0]))
    high = min(MAX_IMPEDANCE, max(MIN_IMPEDANCE, solimp[1]))
    width, power = max(0.0, solimp[2]), max(1.0, solimp[4])
    middle = min(MAX_IMPEDANCE, max(MIN_IMPEDANCE, solimp[3]))
    if low == high or width <= MIN_VALUE:
        return 0.5 * (low + high), 0.0
    x = abs(depth) / width
    if x >= 1.0 or x == 0.0:
        return (high if x >= 1.0 else low), 0.0
    if power == 1.0:
        y, slope = x, 1.0
    elif x <= middle:
        scale = 1.0 / middle ** (power - 1.0)
        y, slope = scale * x**power, power * scale * x ** (power - 1.0)
    else:
        scale = 1.0 / (1.0 - middle) ** (power - 1.0)
        y = 1.0 - scale * (1.0 - x) ** power
        slope = power * scale * (1.0 - x) ** (power - 1.0)
    sign = -1.0 if depth < 0.0 else 1.0
    return low + y * (high - low), slope * sign * (high - low) / width
