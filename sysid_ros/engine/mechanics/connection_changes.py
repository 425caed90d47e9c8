# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rates of what a connection holds, and their changes, compiled; see :mod:`.connections`.

A weld's error of orientation is e = s vec(c* q) with the quaternions q and c of both frames. With

    E(r, x) = s/2 vec(c* (r, x) q) = r n + N x

and the difference w and the sum z of both bodies' angular velocities, de/dt = E(0, w) and
d2e/dt2 = E(-|w|^2 / 2, dw/dt + w x z / 2). As the bodies are turned by small vectors with the
difference d and the sum m, E(r, x) changes by E(-x . d / 2, (r d + x x m) / 2).
"""

from __future__ import annotations

from typing import NamedTuple

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    Three,
    add,
    at_point,
    compiled,
    compiled_apart,
    couple,
    cross,
    cross_motion,
    dot,
    force_at,
    load,
    scalar,
    scale,
)
from sysid_ros.engine.mechanics.floor_contacts import Footing
from sysid_ros.engine.mechanics.kinematics import Motion, Pose
from sysid_ros.engine.mechanics.model_tables import Tables

Four = tuple[float, float, float, float]


class Held(NamedTuple):
    """A connection at one instant, and the joints' motion."""

    k: int  # which it is
    v: FloatArray  # joint velocities, (nv,)
    a: FloatArray  # joint accelerations, (nv,)
    damping: float  # of its reference acceleration
    points: tuple[Three, Three]  # m
    accelerations: tuple[Six, Six]  # of the bodies, without gravity
    spin: Three  # the difference of their angular velocities
    spins: Three  # and the sum
    straight: float  # r of d2e/dt2 + B de/dt as an error's rate E(r, x)
    turning: Three  # x of it


class Displaced(NamedTuple):
    """A degree of freedom, or a displacement, and which bodies move by it."""

    first: int  # the first degree of freedom that it carries
    carried: tuple[bool, bool]  # whether it carries the first and the second body
    s: Six
    p: Six
    before: Six  # the velocity before it
    w: Six


@compiled
def plus(a: Three, s: float, b: Three) -> Three:
    """``a + s b``."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@compiled
def angular(m: Six) -> Three:
    """The angular part of a motion."""
    return m[0], m[1], m[2]


@compiled
def set_error_rate(t: Tables, pose: Pose, k: int, out: Footing) -> None:
    """Write N into ``out.frame`` and n into ``out.reach``, which no foot needs meanwhile."""
    c, q = _quaternion(t, pose, k, 1), _quaternion(t, pose, k, 0)
    half = 0.5 * t.connections.torque_scale[k]
    for i in range(4):
        one = _turned(c, q, i)
        for d in range(3):
            if i == 0:
                out.reach[d] = half * one[d]
            else:
                out.frame[d, i - 1] = half * one[d]


@compiled
def _quaternion(t: Tables, pose: Pose, k: int, side: int) -> Four:
    """The orientation of one of the welded frames."""
    a, b = pose.quaternion[t.connections.body[k, side]], t.connections.quaternion[k, side]
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@compiled
def _turned(c: Four, q: Four, i: int) -> Three:
    """The vector part of ``c* u q`` with the unit quaternion u along axis ``i``."""
    r = 1.0 if i == 0 else 0.0
    x = (1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0, 1.0 if i == 3 else 0.0)
    a, back = (q[1], q[2], q[3]), (-c[1], -c[2], -c[3])
    first = r * q[0] - scalar(x, a)
    vector = plus(plus(cross(x, a), q[0], x), r, a)
    return plus(plus(cross(back, vector), c[0], vector), first, back)


@compiled
def error_rate(out: Footing, r: float, x: Three) -> Three:
    """``E(r, x)``."""
    n, rows = out.reach, out.frame
    return (
        r * n[0] + rows[0, 0] * x[0] + rows[0, 1] * x[1] + rows[0, 2] * x[2],
        r * n[1] + rows[1, 0] * x[0] + rows[1, 1] * x[1] + rows[1, 2] * x[2],
        r * n[2] + rows[2, 0] * x[0] + rows[2, 1] * x[1] + rows[2, 2] * x[2],
    )


@compiled
def torque_of(out: Footing, f: FloatArray) -> Three:
    """``N^T f``: the torque between both bodies of the forces that act on the error, (3,)."""
    rows = out.frame
    return (
        rows[0, 0] * f[0] + rows[1, 0] * f[1] + rows[2, 0] * f[2],
        rows[0, 1] * f[0] + rows[1, 1] * f[1] + rows[2, 1] * f[2],
        rows[0, 2] * f[0] + rows[1, 2] * f[1] + rows[2, 2] * f[2],
    )


@compiled_apart
def accelerated(
    t: Tables,
    pose: Pose,
    motion: Motion,
    body: int,
    v: FloatArray,
    a: FloatArray,
    first: int,
) -> Six:
    """The acceleration of a body without gravity, by its degrees of freedom before the ``first``.

    Args:
      t: The model.
      pose: Where everything is.
      motion: Velocities of all bodies.
      body: The body.
      v: Joint velocities, (nv,).
      a: Joint accelerations, (nv,).
      first: The degree of freedom.
    """
    result = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    i = t.body_lastdof[body]
    while i >= 0:
        if t.dof_first[i] < first:
            s = load(pose.subspace[i])
            turning = scale(cross_motion(load(motion.velocity_behind[i]), s), v[i])
            result = add(result, add(scale(s, a[i]), turning))
        i = t.dof_parentid[i]
    return result


@compiled
def rates_at(velocity: Six, acceleration: Six, point: Three, damping: float) -> Three:
    """The acceleration of a body's point and ``damping`` times its velocity."""
    drift, straight = at_point(velocity, point), at_point(acceleration, point)
    return plus(plus(straight, 1.0, cross(angular(velocity), drift)), damping, drift)


@compiled
def _rate_changes(
    v: Six, a: Six, dv: Six, da: Six, point: Three, step: Three, damping: float
) -> Three:
    """The change of :func:`rates_at` by those of a body's velocity and acceleration and a step."""
    spin, drift = angular(v), at_point(v, point)
    faster = plus(at_point(dv, point), 1.0, cross(spin, step))
    turned = plus(cross(angular(dv), drift), 1.0, cross(spin, faster))
    straight = plus(at_point(da, point), 1.0, cross(angular(a), step))
    return plus(plus(straight, 1.0, turned), damping, faster)


@compiled_apart
def change_violation(
    t: Tables,
    pose: Pose,
    motion: Motion,
    held: Held,
    x: Displaced,
    position: bool,
    out: Footing,
) -> Six:
    """Write the change of a violation but for its stiffness into ``out.gradient``, (6,).

    In the world a body's velocity V changes by P + S x V with its position, and its acceleration A
    by R + P x V + S x A; with its velocity by S, and by W + S x V.

    Args:
      t: The model.
      pose: Where everything is.
      motion: Velocities of all bodies.
      held: The connection.
      x: What moves.
      position: Whether its position does, rather than its velocity.
      out: N and n; written.

    Returns:
      The change of the way between the points, and of the error of orientation.
    """
    still = (0.0, 0.0, 0.0)
    way, turned, summed, spun, spins, faster = still, still, still, still, still, still
    change = still
    for side in range(2):
        if not x.carried[side]:
            continue
        sign, body = 1.0 - 2.0 * side, t.connections.body[held.k, side]
        v, a, point = load(motion.velocity[body]), held.accelerations[side], held.points[side]
        step, about, dv, da = still, still, x.s, add(x.w, cross_motion(x.s, v))
        if position:
            r = cross_motion(accelerated(t, pose, motion, body, held.v, held.a, x.first), x.s)
            r = add(r, cross_motion(x.before, x.p))
            step, about, dv = at_point(x.s, point), angular(x.s), add(x.p, cross_motion(x.s, v))
            da = add(add(r, cross_motion(x.p, v)), cross_motion(x.s, a))
        change = plus(change, sign, _rate_changes(v, a, dv, da, point, step, held.damping))
        way, turned, summed = (
            plus(way, sign, step),
            plus(turned, sign, about),
            plus(summed, 1.0, about),
        )
        spun, spins = plus(spun, sign, angular(dv)), plus(spins, 1.0, angular(dv))
        faster = plus(faster, sign, angular(da))
    for d in range(3):
        out.gradient[d] = change[d]
    error = still
    if t.connections.weld[held.k]:
        bent = plus(cross(spun, held.spins), 1.0, cross(held.spin, spins))
        vector = plus(plus(faster, 0.5, bent), held.damping, spun)
        bent = plus(cross(held.turning, summed), held.straight, turned)
        first = -scalar(held.spin, spun) - 0.5 * scalar(held.turning, turned)
        change = error_rate(out, first, plus(vector, 0.5, bent))
        for d in range(3):
            out.gradient[3 + d] = change[d]
        error = error_rate(out, 0.0, turned)
    return way[0], way[1], way[2], error[0], error[1], error[2]


@compiled_apart
def spread_change(
    t: Tables,
    pose: Pose,
    held: Held,
    x: Displaced,
    out: Footing,
    changes: FloatArray,
    column: int,
) -> None:
    """Add the derivative of a connection's forces in what moves.

    Args:
      t: The model.
      pose: Where everything is.
      held: The connection.
      x: What moves.
      out: The force, and its derivative in ``gradient``.
      changes: Added to, (nv, columns).
      column: Where.
    """
    f, df, n = out.force, out.gradient, out.reach
    about, still = angular(x.s), (0.0, 0.0, 0.0)
    torque, twisted = still, still
    if t.connections.weld[held.k]:
        one, two = 1.0 if x.carried[0] else 0.0, 1.0 if x.carried[1] else 0.0
        turned, summed = plus(still, one - two, about), plus(still, one + two, about)
        torque, twisted = torque_of(out, f[3:]), torque_of(out, df[3:])
        along = f[3] * n[0] + f[4] * n[1] + f[5] * n[2]
        twisted = plus(twisted, -0.5 * along, turned)
        twisted = plus(twisted, 0.5, cross(summed, torque))
    for side in range(2):
        sign, body, point = 1.0 - 2.0 * side, t.connections.body[held.k, side], held.points[side]
        pull = sign * f[0], sign * f[1], sign * f[2]
        push = add(force_at(point, pull), couple(plus(still, sign, torque)))
        change = force_at(point, (sign * df[0], sign * df[1], sign * df[2]))
        change = add(change, couple(plus(still, sign, twisted)))
        if x.carried[side]:
            change = add(change, couple(cross(at_point(x.s, point), pull)))
        i = t.body_lastdof[body]
        while i >= 0:
            s = load(pose.subspace[i])
            entry = dot(s, change)
            if x.carried[side] and t.dof_first[i] >= x.first:
                entry += dot(cross_motion(x.s, s), push)
            changes[i, column] += entry
            i = t.dof_parentid[i]
