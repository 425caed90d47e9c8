# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction, limits and equalities as MuJoCo's solver sees them: rows on joints and on lines.

A row with regularization R = 1 / D has the force ``-D (J qacc - aref)`` in its quadratic zone; a
friction row outside of it slides with the full friction loss, a limit outside of it is open, and
an equality is always in it. See
MuJoCo's documentation, Computation, "Constraint model", and mj_makeImpedance for the formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, zeros
from sysid_ros.engine.compiled import (
    compiled,
    compiled_apart,
)
from sysid_ros.engine.elements import HINGE, SLIDE
from sysid_ros.engine.mechanics.lines import (
    LINE_FRICTIONLOSS,
    LINE_INVWEIGHT,
    along,
    spread,
)
from sysid_ros.engine.mechanics.model_tables import FRICTIONLOSS, INVWEIGHT, Tables

MIN_VALUE = 1e-15  # mjMINVAL
MIN_IMPEDANCE, MAX_IMPEDANCE = 1e-4, 0.9999


class Rows(NamedTuple):
    """Constraint forces, summed over the rows of each joint or line, and their derivatives.

    ``stiffness`` is minus the derivative in the acceleration.
    """

    force: FloatArray  # (n,)
    stiffness: FloatArray  # (n,)
    by_position: FloatArray  # (n,)
    by_velocity: FloatArray  # (n,)
    by_frictionloss: FloatArray  # (n,)
    by_invweight: FloatArray  # (n,)


def new_rows(n: int) -> Rows:
    """Room for rows."""
    return Rows(*zeros(n, n, n, n, n, n))


@compiled_apart
def constrain(
    t: Tables,
    loss: FloatArray,
    resistance: FloatArray,
    damping: FloatArray,
    q: FloatArray,
    v: FloatArray,
    acceleration: FloatArray,
    out: Rows,
    lines: Rows,
) -> None:
    """Evaluate the rows.

    Args:
      t: The model, its lines laid.
      loss: Largest friction of each degree of freedom, (nv,).
      resistance: Regularization of its row, (nv,); see :func:`friction_row`.
      damping: Of its reference acceleration, (nv,).
      q: Joint positions, (nq,).
      v: Joint velocities, (nv,).
      acceleration: ``qacc`` of the constraint solver, (nv,).
      out: Written; the force is that of the lines too.
      lines: Written, by line.
    """
    _clear(out)
    for i in range(v.size):
        if t.friction_enabled and t.dof_fields[FRICTIONLOSS, i] > 0.0:
            _friction(
                resistance[i], damping[i], t.dof_fields[INVWEIGHT, i], loss[i], v[i],
                acceleration[i], out, i,
            )  # fmt: skip
        joint = t.dof_jntid[i]
        scalar = t.jnt_type[joint] == HINGE or t.jnt_type[joint] == SLIDE
        if t.limit_enabled and t.jnt_limited[joint] and scalar:
            _limits(
                t, t.jnt_range[joint], t.jnt_margin[joint], t.jnt_solref[joint],
                t.jnt_solimp[joint], t.dof_fields[INVWEIGHT, i], q[t.jnt_qposadr[joint]], v[i],
                acceleration[i], out, i,
            )  # fmt: skip
    _clear(lines)
    for k in range(t.lines.equality.size):
        _line(t, k, t.lines.course.extent[k], v, acceleration, lines)
        spread(t.lines, k, lines.force[k], out.force)


@compiled
def _clear(out: Rows) -> None:
    for i in range(out.force.size):
        out.force[i] = out.stiffness[i] = out.by_position[i] = out.by_velocity[i] = 0.0
        out.by_frictionloss[i] = out.by_invweight[i] = 0.0


@compiled
def _line(
    t: Tables, k: int, extent: float, v: FloatArray, acceleration: FloatArray, out: Rows
) -> None:
    """The rows of one line."""
    lines, speed, a = t.lines, along(t.lines, k, v), along(t.lines, k, acceleration)
    weight = lines.fields[LINE_INVWEIGHT, k]
    if lines.equality[k]:
        depth = extent - lines.target[k]
        _quadratic(t, lines.solref[k], lines.solimp[k], weight, 1.0, depth, speed, a, out, k, False)
        return
    loss = lines.fields[LINE_FRICTIONLOSS, k]
    if loss > 0.0:
        resistance, damping = friction_row(
            t, lines.friction_solref[k], lines.friction_solimp[k], weight
        )
        _friction(resistance, damping, weight, loss, speed, a, out, k)
    if lines.limited[k]:
        _limits(
            t, lines.range[k], lines.margin[k], lines.solref[k], lines.solimp[k], weight, extent,
            speed, a, out, k,
        )  # fmt: skip


@compiled
def friction_row(
    t: Tables, solref: FloatArray, solimp: FloatArray, weight: float
) -> tuple[float, float]:
    """Regularization of a friction row, and damping of its reference acceleration."""
    _, damping = reference(t, solref, solimp)
    share, _ = impedance(solimp, 0.0)
    return max(MIN_VALUE, (1.0 - share) / share * weight), damping


@compiled
def _friction(
    resistance: float,
    damping: float,
    weight: float,
    loss: float,
    v: float,
    acceleration: float,
    out: Rows,
    i: int,
) -> None:
    violation = acceleration + damping * v
    if abs(violation) >= resistance * loss:
        sign = -np.sign(violation)
        out.force[i] += sign * loss
        out.by_frictionloss[i] += sign
        return
    out.force[i] -= violation / resistance
    out.stiffness[i] += 1.0 / resistance
    out.by_velocity[i] -= damping / resistance
    if resistance > MIN_VALUE:
        out.by_invweight[i] += violation / (resistance * weight)


@compiled
def _limits(
    t: Tables,
    bounds: FloatArray,
    margin: float,
    solref: FloatArray,
    solimp: FloatArray,
    weight: float,
    q: float,
    v: float,
    acceleration: float,
    out: Rows,
    i: int,
) -> None:
    """Both limits of a position, of which one acts at most."""
    for side in (-1.0, 1.0):
        bound = bounds[1] if side > 0.0 else bounds[0]
        depth = side * (bound - q) - margin
        if depth < 0.0:
            _quadratic(t, solref, solimp, weight, -side, depth, v, acceleration, out, i, True)


@compiled
def _quadratic(
    t: Tables,
    solref: FloatArray,
    solimp: FloatArray,
    weight: float,
    sign: float,
    depth: float,
    v: float,
    acceleration: float,
    out: Rows,
    i: int,
    only_pushes: bool,
) -> None:
    """A limit that is reached, or an equality; ``sign`` is the row's Jacobian."""
    stiffness, damping = reference(t, solref, solimp)
    share, slope = impedance(solimp, depth)
    resistance = max(MIN_VALUE, (1.0 - share) / share * weight)
    violation = sign * acceleration + damping * sign * v + stiffness * share * depth
    if only_pushes and violation >= 0.0:
        return
    out.force[i] -= sign * violation / resistance
    out.stiffness[i] += 1.0 / resistance
    out.by_velocity[i] -= damping / resistance
    out.by_position[i] -= stiffness * (share + depth * slope) / resistance
    if resistance > MIN_VALUE:
        out.by_position[i] -= violation * slope / (share * (1.0 - share) * resistance)
        out.by_invweight[i] += sign * violation / (resistance * weight)


@compiled
def reference(t: Tables, solref: FloatArray, solimp: FloatArray) -> tuple[float, float]:
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
def impedance(solimp: FloatArray, depth: float) -> tuple[float, float]:
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
