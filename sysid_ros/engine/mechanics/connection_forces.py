# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces between connected bodies and their derivatives, compiled; see :mod:`.connections`."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    Three,
    at_point,
    compiled,
    compiled_apart,
    cross,
    cross_motion,
    load,
    rotated,
    scalar,
)
from sysid_ros.engine.mechanics.connection_changes import (
    Displaced,
    Held,
    accelerated,
    angular,
    change_violation,
    error_rate,
    plus,
    rates_at,
    set_error_rate,
    spread_change,
)
from sysid_ros.engine.mechanics.constraint_rows import MIN_VALUE, impedance, reference
from sysid_ros.engine.mechanics.displacements import (
    Displacements,
    carries,
    motion_before,
    moved_along,
)
from sysid_ros.engine.mechanics.floor_contacts import Footing
from sysid_ros.engine.mechanics.kinematics import Motion, Pose
from sysid_ros.engine.mechanics.model_tables import Tables
from sysid_ros.engine.mechanics.rigid_body import Derivatives


@compiled_apart
def connect(
    t: Tables,
    pose: Pose,
    motion: Motion,
    derivatives: Derivatives,
    v: FloatArray,
    acceleration: FloatArray,
    displacements: Displacements,
    total: FloatArray,
    out: Footing,
) -> None:
    """Evaluate all connections, after the feet.

    Args:
      t: The model.
      pose: Where everything is.
      motion: Velocities of all bodies.
      derivatives: Of these.
      v: Joint velocities, (nv,).
      acceleration: ``qacc`` of the constraint solver, (nv,).
      displacements: By what parameters change.
      total: The forces are added to it, (nv,).
      out: Added to.
    """
    for k in range(t.connections.weld.size):
        _hold(t, pose, motion, derivatives, k, v, acceleration, displacements, total, out)


@compiled
def _hold(
    t: Tables,
    pose: Pose,
    motion: Motion,
    derivatives: Derivatives,
    k: int,
    v: FloatArray,
    a: FloatArray,
    displacements: Displacements,
    total: FloatArray,
    out: Footing,
) -> None:
    """One connection."""
    n, f = 6 if t.connections.weld[k] else 3, out.force
    stiffness, damping = reference(t, t.connections.solref[k], t.connections.solimp[k])
    points = _point(t, pose, k, 0), _point(t, pose, k, 1)
    accelerations, spin, spins, straight, turning = _turning(t, pose, motion, k, v, a, damping, out)
    held = Held(k, v, a, damping, points, accelerations, spin, spins, straight, turning)
    out.violation[:] = 0.0
    square = 0.0
    for d in range(n):
        way = points[0][d] - points[1][d] if d < 3 else 2.0 * out.reach[d - 3]
        out.violation[d] = way
        square += way * way
    gap = np.sqrt(square)
    share, slope = impedance(t.connections.solimp[k], gap)
    softness = (1.0 - share) / share
    _set_rows(t, pose, k, points, out)
    bodies = t.connections.body[k]
    first, second = (
        rates_at(load(motion.velocity[bodies[0]]), accelerations[0], points[0], damping),
        rates_at(load(motion.velocity[bodies[1]]), accelerations[1], points[1], damping),
    )
    turned = (0.0, 0.0, 0.0)
    if n > 3:
        turned = error_rate(out, straight, turning)
    for d in range(n):
        rate = first[d] - second[d] if d < 3 else turned[d - 3]
        out.softness[d] = max(MIN_VALUE, softness * t.connections.weight[k, d // 3])
        f[d] = -(rate + stiffness * share * out.violation[d]) / out.softness[d]
    out.pressed[0] += 1
    _add_rows(t, k, n, total, out)
    # What the gap alone changes: the reference acceleration, and the regularization.
    softer = slope / (share * (1.0 - share))
    pulls = stiffness * share, stiffness * slope, softer, gap
    _differentiate(t, pose, motion, derivatives, held, pulls, displacements, out)


@compiled
def _differentiate(
    t: Tables,
    pose: Pose,
    motion: Motion,
    derivatives: Derivatives,
    held: Held,
    pulls: tuple[float, float, float, float],
    displacements: Displacements,
    out: Footing,
) -> None:
    """Add how the forces change as joints move, and parameters displace bodies."""
    nv, k, bodies = held.v.size, held.k, t.connections.body[held.k]
    for j in range(nv):
        moved = t.dof_bodyid[j]
        carried = carries(t, moved, bodies[0]), carries(t, moved, bodies[1])
        if not (carried[0] or carried[1]):
            continue
        x = Displaced(
            t.dof_first[j], carried, load(pose.subspace[j]), load(derivatives.p[j]),
            load(motion.velocity_before[j]), load(derivatives.w[j]),
        )  # fmt: skip
        _displace(t, pose, motion, held, pulls, x, out, out.by_position, j)
        change_violation(t, pose, motion, held, x, False, out)
        for d in range(6 if t.connections.weld[k] else 3):
            faster = out.gradient[d] / out.softness[d]
            for i in range(nv):
                out.by_velocity[i, j] -= out.rows[d, i] * faster
    for e in range(displacements.direction.size):
        body, end = displacements.body[e], displacements.end[e]
        s, before = moved_along(pose, displacements, e), motion_before(t, motion, displacements, e)
        p = cross_motion(before[0], s)
        carried = carries(t, body, bodies[0]), carries(t, body, bodies[1])
        if end >= 0:
            carried = end == 2 * k, end == 2 * k + 1
        x = Displaced(displacements.first[e], carried, s, p, before[0], p)
        _displace(t, pose, motion, held, pulls, x, out, out.by_displacement, e)


@compiled
def _turning(
    t: Tables,
    pose: Pose,
    motion: Motion,
    k: int,
    v: FloatArray,
    a: FloatArray,
    damping: float,
    out: Footing,
) -> tuple[tuple[Six, Six], Three, Three, float, Three]:
    """The last fields of :class:`Held`; of a weld N and n into ``out``."""
    bodies = t.connections.body[k]
    accelerations = (
        accelerated(t, pose, motion, bodies[0], v, a, v.size),
        accelerated(t, pose, motion, bodies[1], v, a, v.size),
    )
    spin, spins, straight, turning = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)
    if t.connections.weld[k]:
        set_error_rate(t, pose, k, out)
        one, two = load(motion.velocity[bodies[0]]), load(motion.velocity[bodies[1]])
        spin, spins = plus(angular(one), -1.0, angular(two)), plus(angular(one), 1.0, angular(two))
        turning = plus(angular(accelerations[0]), -1.0, angular(accelerations[1]))
        turning = plus(plus(turning, 0.5, cross(spin, spins)), damping, spin)
        straight = -0.5 * scalar(spin, spin)
    return accelerations, spin, spins, straight, turning


@compiled
def _point(t: Tables, pose: Pose, k: int, side: int) -> Three:
    """The place of one of the connected points."""
    body, local = t.connections.body[k, side], t.connections.local[k, side]
    rotation, position = pose.rotation[body], pose.position[body]
    x, y, z = rotated(rotation, local)
    return position[0] + x, position[1] + y, position[2] + z


@compiled
def _set_rows(t: Tables, pose: Pose, k: int, points: tuple[Three, Three], out: Footing) -> None:
    """The Jacobian of the way from the second point to the first, and of a weld's error."""
    rows = out.rows
    rows[:] = 0.0
    for side in range(2):
        sign, point = 1.0 - 2.0 * side, points[side]
        i = t.body_lastdof[t.connections.body[k, side]]
        while i >= 0:
            s = load(pose.subspace[i])
            moved = at_point(s, point)
            for d in range(3):
                rows[d, i] += sign * moved[d]
            if t.connections.weld[k]:
                turned = error_rate(out, 0.0, angular(s))
                for d in range(3):
                    rows[3 + d, i] += sign * turned[d]
            i = t.dof_parentid[i]


@compiled
def _add_rows(t: Tables, k: int, n: int, total: FloatArray, out: Footing) -> None:
    """Add the force, and how it changes with acceleration and weight."""
    nv, bodies = total.size, t.connections.body[k]
    for d in range(n):
        for i in range(nv):
            pull = out.rows[d, i] * out.force[d]
            total[i] += pull
            if out.softness[d] > MIN_VALUE:
                for body in bodies:
                    out.by_weight[body, d // 3, i] -= pull / t.connections.weight[k, d // 3]
            if out.rows[d, i] != 0.0:
                for j in range(nv):
                    out.stiffness[i, j] += out.rows[d, i] * out.rows[d, j] / out.softness[d]


@compiled_apart
def _displace(
    t: Tables,
    pose: Pose,
    motion: Motion,
    held: Held,
    pulls: tuple[float, float, float, float],
    x: Displaced,
    out: Footing,
    changes: FloatArray,
    column: int,
) -> None:
    """Add the derivative of the forces in what moves to a column of ``changes``.

    ``out.violation`` is the way between the points and the error.
    """
    moved = change_violation(t, pose, motion, held, x, True, out)
    stretch, bend, softer, gap = pulls
    wider, way = 0.0, out.violation
    if gap > MIN_VALUE:
        for d in range(6):
            wider += way[d] * moved[d] / gap
    for d in range(6 if t.connections.weld[held.k] else 3):
        change = out.gradient[d] + stretch * moved[d] + bend * wider * way[d]
        out.gradient[d] = -change / out.softness[d]
        if out.softness[d] > MIN_VALUE:
            out.gradient[d] += out.force[d] * softer * wider
    spread_change(t, pose, held, x, out, changes, column)
