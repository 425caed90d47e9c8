# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces between connected points and their derivatives, compiled; see :mod:`.connections`."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import compiled, compiled_apart
from sysid_ros.engine.mechanics.constraint_rows import MIN_VALUE, impedance, reference
from sysid_ros.engine.mechanics.floor_contacts import Footing
from sysid_ros.engine.mechanics.kinematics import Motion, Pose
from sysid_ros.engine.mechanics.model_tables import Tables
from sysid_ros.engine.mechanics.rigid_body import Derivatives
from sysid_ros.engine.mechanics.spatial import (
    Six,
    Three,
    add,
    at_point,
    cross,
    cross_motion,
    dot,
    force_at,
    load,
    rotated,
    scale,
)


@compiled_apart
def connect(
    t: Tables,
    pose: Pose,
    motion: Motion,
    derivatives: Derivatives,
    v: FloatArray,
    acceleration: FloatArray,
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
      total: The forces are added to it, (nv,).
      out: Added to.
    """
    for k in range(t.connections.weight.size):
        _hold(t, pose, motion, derivatives, k, v, acceleration, total, out)


@compiled
def _hold(
    t: Tables,
    pose: Pose,
    motion: Motion,
    derivatives: Derivatives,
    k: int,
    v: FloatArray,
    acceleration: FloatArray,
    total: FloatArray,
    out: Footing,
) -> None:
    """One connection."""
    nv, weight, f = v.size, t.connections.weight[k], out.force
    points = _point(t, pose, k, 0), _point(t, pose, k, 1)
    r = (
        points[0][0] - points[1][0], points[0][1] - points[1][1], points[0][2] - points[1][2],
    )  # fmt: skip
    gap = np.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    stiffness, damping = reference(t, t.connections.solref[k], t.connections.solimp[k])
    share, slope = impedance(t.connections.solimp[k], gap)
    resistance = max(MIN_VALUE, (1.0 - share) / share * weight)
    _set_rows(t, pose, k, points, out.rows)
    rates = v, acceleration
    whole = (
        _accelerated(t, pose, motion, t.connections.body[k, 0], rates, -1),
        _accelerated(t, pose, motion, t.connections.body[k, 1], rates, -1),
    )
    first = _rates(t, motion, k, 0, points[0], whole[0], damping)
    second = _rates(t, motion, k, 1, points[1], whole[1], damping)
    for d in range(3):
        f[d] = -(first[d] - second[d] + stiffness * share * r[d]) / resistance
    out.pressed[0] += 1
    for i in range(nv):
        pull = 0.0
        for d in range(3):
            pull += out.rows[d, i] * f[d]
        total[i] += pull
        if resistance > MIN_VALUE:
            out.by_weight[t.feet.body.size + k, i] -= pull / weight
        for j in range(nv):
            for d in range(3):
                out.stiffness[i, j] += out.rows[d, i] * out.rows[d, j] / resistance
    # What the gap alone changes: the reference acceleration, and the regularization.
    opened = (0.0, 0.0, 0.0)
    if gap > MIN_VALUE:
        opened = r[0] / gap, r[1] / gap, r[2] / gap
    softer = slope / (share * (1.0 - share)) if resistance > MIN_VALUE else 0.0
    for j in range(nv):
        one, one_faster = _changes(
            t, pose, motion, derivatives, k, 0, j, points[0], whole[0], rates, damping
        )
        two, two_faster = _changes(
            t, pose, motion, derivatives, k, 1, j, points[1], whole[1], rates, damping
        )
        both = add(one, scale(two, -1.0))
        wider = opened[0] * both[0] + opened[1] * both[1] + opened[2] * both[2]
        for d in range(3):
            change = both[3 + d] + stiffness * (share * both[d] + slope * wider * r[d])
            out.gradient[d] = f[d] * softer * wider - change / resistance
            faster = (one_faster[d] - two_faster[d]) / resistance
            for i in range(nv):
                out.by_velocity[i, j] -= out.rows[d, i] * faster
        _add_change(t, pose, k, 0, j, points[0], one, out)
        _add_change(t, pose, k, 1, j, points[1], two, out)


@compiled
def _point(t: Tables, pose: Pose, k: int, side: int) -> Three:
    """The place of one of the connected points."""
    body, local = t.connections.body[k, side], t.connections.local[k, side]
    rotation, position = pose.rotation[body], pose.position[body]
    x, y, z = rotated(rotation, local)
    return position[0] + x, position[1] + y, position[2] + z


@compiled
def _set_rows(t: Tables, pose: Pose, k: int, points: tuple[Three, Three], rows: FloatArray) -> None:
    """The Jacobian of the way from the second point to the first, into three rows."""
    rows[:3] = 0.0
    for side in range(2):
        sign, point = (1.0, points[0]) if side == 0 else (-1.0, points[1])
        i = t.body_lastdof[t.connections.body[k, side]]
        while i >= 0:
            moved = at_point(load(pose.subspace[i]), point)
            for d in range(3):
                rows[d, i] += sign * moved[d]
            i = t.dof_parentid[i]


@compiled
def _carries(t: Tables, j: int, body: int) -> bool:
    """Return whether a degree of freedom moves a body."""
    i = t.body_lastdof[body]
    while i > j:
        i = t.dof_parentid[i]
    found: bool = i == j
    return found


@compiled
def _accelerated(
    t: Tables,
    pose: Pose,
    motion: Motion,
    body: int,
    rates: tuple[FloatArray, FloatArray],
    joint: int,
) -> Six:
    """The acceleration of a body without gravity, or of what is before one of its joints."""
    result = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    i = t.body_lastdof[body]
    while i >= 0:
        if joint < 0 or t.dof_first[i] < t.dof_first[joint]:
            s = load(pose.subspace[i])
            turning = scale(cross_motion(load(motion.velocity_behind[i]), s), rates[0][i])
            result = add(result, add(scale(s, rates[1][i]), turning))
        i = t.dof_parentid[i]
    return result


@compiled
def _rates(
    t: Tables, motion: Motion, k: int, side: int, point: Three, acceleration: Six, damping: float
) -> Three:
    """A point's acceleration and ``damping`` times its velocity, by its body's acceleration."""
    velocity = load(motion.velocity[t.connections.body[k, side]])
    drift, straight = at_point(velocity, point), at_point(acceleration, point)
    turning = cross((velocity[0], velocity[1], velocity[2]), drift)
    return (
        straight[0] + turning[0] + damping * drift[0],
        straight[1] + turning[1] + damping * drift[1],
        straight[2] + turning[2] + damping * drift[2],
    )


@compiled
def _changes(
    t: Tables,
    pose: Pose,
    motion: Motion,
    derivatives: Derivatives,
    k: int,
    side: int,
    j: int,
    point: Three,
    a: Six,
    rates: tuple[FloatArray, FloatArray],
    damping: float,
) -> tuple[Six, Three]:
    """Derivatives in a degree of freedom: of a point and its :func:`_rates`, and in its velocity.

    In the world a body's velocity V changes by P + S x V with its position, and its acceleration A
    by R + P x V + S x A; with its velocity by S, and by W + S x V.
    """
    body = t.connections.body[k, side]
    if not _carries(t, j, body):
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    s, p, v = load(pose.subspace[j]), load(derivatives.p[j]), load(motion.velocity[body])
    before = _accelerated(t, pose, motion, body, rates, j)
    r = add(cross_motion(before, s), cross_motion(load(motion.velocity_before[j]), p))
    dv, step = add(p, cross_motion(s, v)), at_point(s, point)
    da = add(add(r, cross_motion(p, v)), cross_motion(s, a))
    moved = _rate_changes(v, a, dv, da, point, step, damping)
    still = (0.0, 0.0, 0.0)
    da = add(load(derivatives.w[j]), cross_motion(s, v))
    faster = _rate_changes(v, a, s, da, point, still, damping)
    return (step[0], step[1], step[2], moved[0], moved[1], moved[2]), faster


@compiled
def _rate_changes(
    v: Six, a: Six, dv: Six, da: Six, point: Three, step: Three, damping: float
) -> Three:
    """The change of :func:`_rates` by those of a body's velocity and acceleration and its point."""
    spin, drift = (v[0], v[1], v[2]), at_point(v, point)
    shifted, faster = cross(spin, step), at_point(dv, point)
    ddrift = faster[0] + shifted[0], faster[1] + shifted[1], faster[2] + shifted[2]
    one, two = cross((dv[0], dv[1], dv[2]), drift), cross(spin, ddrift)
    straight, bent = at_point(da, point), cross((a[0], a[1], a[2]), step)
    return (
        straight[0] + bent[0] + one[0] + two[0] + damping * ddrift[0],
        straight[1] + bent[1] + one[1] + two[1] + damping * ddrift[1],
        straight[2] + bent[2] + one[2] + two[2] + damping * ddrift[2],
    )


@compiled
def _add_change(
    t: Tables, pose: Pose, k: int, side: int, j: int, point: Three, step: Six, out: Footing
) -> None:
    """Add the derivative of one point's share of the forces in the position of a dof.

    ``out`` has the force and in ``gradient`` its derivative.
    """
    sign, body = 1.0 if side == 0 else -1.0, t.connections.body[k, side]
    f = sign * out.force[0], sign * out.force[1], sign * out.force[2]
    df = sign * out.gradient[0], sign * out.gradient[1], sign * out.gradient[2]
    push, change = force_at(point, f), force_at(point, df)
    moment = cross((step[0], step[1], step[2]), f)
    change = add(change, (moment[0], moment[1], moment[2], 0.0, 0.0, 0.0))
    carried, turns = _carries(t, j, body), load(pose.subspace[j])
    i = t.body_lastdof[body]
    while i >= 0:
        s = load(pose.subspace[i])
        entry = dot(s, change)
        if carried and t.dof_first[i] >= t.dof_first[j]:
            entry += dot(cross_motion(turns, s), push)
        out.by_position[i, j] += entry
        i = t.dof_parentid[i]
