# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces of a medium on all bodies with their derivatives, compiled; see :mod:`.fluid`.

A shape, the box of a body's inertia or an ellipsoid, sees the velocity u = F . V of its body
relative to the medium along its unit forces F. What resists it, f(u), is -F f on the body. With
W = F . h J a, what velocities change by in a step, an integrator that treats it implicitly adds
K W, where K is the slope of f, or the symmetric part of it. The derivative of both by u is
f' + K' W and that by W is K. Whatever moves a shape, as of :mod:`.rigid_body`, changes u by F . P.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, zeros
from sysid_ros.engine.compiled import (
    Six,
    add,
    add_scaled,
    clear_matrix,
    compiled,
    compiled_apart,
    couple,
    cross_force,
    cross_motion,
    dot,
    force_at,
    load,
    rotated,
    scale,
    store,
)
from sysid_ros.engine.mechanics.ellipsoid_law import resist_ellipsoid
from sysid_ros.engine.mechanics.fluid import FRAME, WIND
from sysid_ros.engine.mechanics.kinematics import Motion, Pose, new_motion
from sysid_ros.engine.mechanics.model_tables import IMPLICITFAST, Tables
from sysid_ros.engine.mechanics.rigid_body import Derivatives

_WIND, _FRAME = WIND.start, FRAME.start


class Resistance(NamedTuple):
    """The resistance to the motion of each shape: the bodies' boxes, then the ellipsoids."""

    step: Motion  # of all bodies, by what velocities change in a step
    along: FloatArray  # (k, 6, 6): unit forces along its axes, then about them
    flow: FloatArray  # (k, 6): velocity along these, relative to the medium
    change: FloatArray  # (k, 6): by what this changes in a step
    force: FloatArray  # (k, 6): along the same, with what is implicit
    slope: FloatArray  # (k, 6, 6): its derivative by the velocity
    held: FloatArray  # (k, 6, 6): its derivative by the change of the velocity
    scratch: FloatArray  # (2, 6, 6)
    moved: FloatArray  # (6,): scratch
    rows: FloatArray  # (6, nv): the Jacobian of one shape


def new_resistance(t: Tables) -> Resistance:
    """Room for the shapes of a model."""
    nbody, nv, k = t.body_parentid.size, t.dof_bodyid.size, 0
    if t.in_fluid:
        k = nbody + t.ellipsoids.body.size
    square = (k, 6, 6)
    shapes = square, (k, 6), (k, 6), (k, 6), square, square, (2, 6, 6), 6, (6, nv)
    return Resistance(new_motion(nbody, nv), *zeros(*shapes))


@compiled_apart
def resist(t: Tables, pose: Pose, motion: Motion, x: Resistance, d: Derivatives) -> None:
    """Add what moves all bodies against the medium to the torque of their inverse dynamics.

    Args:
      t: The model, in a medium.
      pose: Where everything is.
      motion: How everything moves.
      x: Written; its ``step`` is read.
      d: Added to.
    """
    for k in range(x.force.shape[0]):
        body = shape_body(t, k)
        if not _resists(t, k, body):
            continue
        _set_flow(t, pose, motion, k, body, x)
        total, i = resisting(x, k), t.body_lastdof[body]
        while i >= 0:
            d.torque[i] += dot(load(pose.subspace[i]), total)
            i = t.dof_parentid[i]


@compiled_apart
def differentiate_resistance(
    t: Tables, pose: Pose, motion: Motion, x: Resistance, d: Derivatives, held: FloatArray
) -> None:
    """Add the derivatives of the same, and of what is implicit.

    Args:
      t: The model.
      pose: Where everything is.
      motion: How everything moves.
      x: Written by :func:`resist`; its forces get what is implicit.
      d: Added to.
      held: Added to: the derivative of the torque that is implicit, (nv, nv).
    """
    for k in range(x.force.shape[0]):
        body = shape_body(t, k)
        if not _resists(t, k, body):
            continue
        for e in range(6):
            for c in range(6):
                x.force[k, e] += x.held[k, e, c] * x.change[k, c]
        _set_rows(t, pose, k, body, x)
        _differentiate(t, pose, motion, k, body, x, d, held)


@compiled
def shape_body(t: Tables, k: int) -> int:
    """The body of a shape."""
    nbody = t.body_parentid.size
    return k if k < nbody else t.ellipsoids.body[k - nbody]


@compiled
def _resists(t: Tables, k: int, body: int) -> bool:
    """Return whether a shape moves, and is no box of a body with ellipsoids."""
    fields = t.body_fluid[body]
    flows: bool = k >= t.body_parentid.size or fields[0] != 0.0 or fields[2] != 0.0
    moves: bool = t.body_lastdof[body] >= 0
    return flows and moves


@compiled
def _set_flow(t: Tables, pose: Pose, motion: Motion, k: int, body: int, x: Resistance) -> None:
    """Write the force on one shape, and its slopes."""
    fields, e = t.body_fluid[body], k - t.body_parentid.size
    relative, step = relative_to(t, body, load(motion.velocity[body])), load(x.step.velocity[body])
    for i in range(6):
        if e < 0:
            center, frame = fields[_FRAME : _FRAME + 3], t.body_frame[body]
        else:
            center, frame = t.ellipsoids.place[e], t.ellipsoids.frame[e]
        along = _unit_force(pose.rotation[body], pose.position[body], center, frame, i)
        store(along, x.along[k, i])
        x.flow[k, i], x.change[k, i] = dot(relative, along), dot(step, along)
    slope, held, bend = x.slope[k], x.held[k], x.scratch[0]
    if e >= 0:
        both = t.integrator == IMPLICITFAST and t.dof_turned[t.body_lastdof[body]] == 0
        resist_ellipsoid(
            t.ellipsoids.coefficients[e], x.flow[k], x.change[k], both, x.force[k], slope, bend,
            x.scratch[1],
        )  # fmt: skip
        for i in range(6):
            for j in range(6):
                held[i, j] = 0.5 * (slope[i, j] + slope[j, i]) if both else slope[i, j]
    else:
        clear_matrix(slope)
        clear_matrix(held)
        clear_matrix(bend)
        for i in range(6):
            speed = x.flow[k, i]
            linear, square = (fields[0] if i < 3 else fields[1]), fields[2 + i]
            x.force[k, i] = (linear + square * abs(speed)) * speed
            slope[i, i] = linear + 2.0 * square * abs(speed)
            held[i, i] = slope[i, i]
            bend[i, i] = 2.0 * square * np.sign(speed) * x.change[k, i]
    if not t.holds:
        clear_matrix(held)
    for i in range(6):
        add_scaled(slope, i, 1.0, bend, i, 6)


@compiled
def relative_to(t: Tables, body: int, velocity: Six) -> Six:
    """A body's velocity relative to the medium."""
    wind = t.body_fluid[body, _WIND : _WIND + 3]
    return add(velocity, (0.0, 0.0, 0.0, -wind[0], -wind[1], -wind[2]))


@compiled
def _unit_force(
    rotation: FloatArray, position: FloatArray, center: FloatArray, frame: FloatArray, k: int
) -> Six:
    """A unit force along axis ``k`` of a frame on a body, or from 3 on a torque about it."""
    e = rotated(rotation, frame[:, k % 3])
    if k >= 3:
        return couple(e)
    x, y, z = rotated(rotation, center)
    return force_at((position[0] + x, position[1] + y, position[2] + z), e)


@compiled_apart
def _set_rows(t: Tables, pose: Pose, k: int, body: int, x: Resistance) -> None:
    """The Jacobian of one shape, for the degrees of freedom that move it."""
    i = t.body_lastdof[body]
    while i >= 0:
        s = load(pose.subspace[i])
        for e in range(6):
            x.rows[e, i] = dot(s, load(x.along[k, e]))
        i = t.dof_parentid[i]


@compiled
def _differentiate(
    t: Tables,
    pose: Pose,
    motion: Motion,
    k: int,
    body: int,
    x: Resistance,
    d: Derivatives,
    held: FloatArray,
) -> None:
    """Add the derivatives of one shape's torques."""
    total = resisting(x, k)
    j = t.body_lastdof[body]
    while j >= 0:
        s = load(pose.subspace[j])
        velocity = relative_to(t, body, load(motion.velocity_before[j]))
        move_shape(x, k, s, velocity, load(x.step.velocity_before[j]))
        turned, faster = cross_force(s, total), x.scratch[0]
        for e in range(6):
            faster[0, e], faster[1, e] = 0.0, 0.0
            for c in range(6):
                faster[0, e] += x.slope[k, e, c] * x.rows[c, j]
                faster[1, e] += x.held[k, e, c] * x.rows[c, j]
        i = t.body_lastdof[body]
        while i >= 0:
            for e in range(6):
                share = x.rows[e, i]
                d.by_position[i, j] += share * x.moved[e]
                d.by_velocity[i, j] += share * faster[0, e]
                held[i, j] += share * faster[1, e]
            if i < j and t.dof_first[i] != t.dof_first[j]:
                d.by_position[i, j] += dot(load(pose.subspace[i]), turned)
            i = t.dof_parentid[i]
        j = t.dof_parentid[j]


@compiled
def resisting(x: Resistance, k: int) -> Six:
    """The force against the motion of one shape."""
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for e in range(6):
        total = add(total, scale(load(x.along[k, e]), x.force[k, e]))
    return total


@compiled_apart
def move_shape(x: Resistance, k: int, s: Six, velocity: Six, step: Six) -> None:
    """Write the change of a shape's force as it sees it, by a twist before it, into ``x.moved``.

    Args:
      x: The shapes.
      k: The shape.
      s: The twist.
      velocity: Where it happens, relative to the medium.
      step: By what this changes in a step.
    """
    p, r = cross_motion(velocity, s), cross_motion(step, s)
    x.moved[:] = 0.0
    for c in range(6):
        along = load(x.along[k, c])
        by_velocity, by_step = dot(along, p), dot(along, r)
        for e in range(6):
            x.moved[e] += x.slope[k, e, c] * by_velocity + x.held[k, e, c] * by_step
