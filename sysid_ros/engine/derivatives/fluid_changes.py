# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the forces of a medium by what is in :func:`..mechanics.fluid.fluid_fields`."""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    add_scaled,
    compiled,
    compiled_apart,
    cross_force,
    dot,
    load,
)
from sysid_ros.engine.derivatives.directions import ModelDirections
from sysid_ros.engine.mechanics import (
    WIND,
    Tables,
    Workspace,
    carries,
    motion_before,
    move_shape,
    moved_along,
    relative_to,
    resisting,
    shape_body,
    twist_in_world,
)

_WIND = WIND.start


@compiled_apart
def add_fluid_changes(t: Tables, w: Workspace, m: ModelDirections, out: FloatArray) -> None:
    """Add the derivative of the forces of the medium, also by the places of bodies and joints.

    Args:
      t: The model, in a medium.
      w: The instant.
      m: Directions of the model.
      out: Added to, (nv, n).
    """
    x, nbody, places, frames = w.resistance, t.body_parentid.size, m.displacements, m.mountings
    nsite = t.site_places.shape[0]
    for k in range(x.force.shape[0]):
        body = shape_body(t, k)
        if t.body_lastdof[body] < 0:
            continue
        _by_fields(t, w, m, k, body, out)
        for e in range(places.moving):
            if carries(t, places.body[e], body):
                s, step = moved_along(w.pose, places, e), motion_before(t, x.step, places, e)
                moving = motion_before(t, w.motion, places, e)
                velocity = relative_to(t, body, moving[0])
                move_shape(x, k, s, velocity, step[0])
                first = places.first[e]
                _add_moved(t, w, k, body, s, first, places.direction[e], out)
        for e in range(frames.direction.size if k < nbody else 0):
            if frames.site[e] == nsite + body:
                place, turn = w.pose.position[body], w.pose.quaternion[body]
                s = twist_in_world(frames.twist[e], place, turn)
                velocity = relative_to(t, body, load(w.motion.velocity[body]))
                move_shape(x, k, s, velocity, load(x.step.velocity[body]))
                _add_moved(t, w, k, body, s, out.shape[0], frames.direction[e], out)


@compiled
def _by_fields(
    t: Tables, w: Workspace, m: ModelDirections, k: int, body: int, out: FloatArray
) -> None:
    """Add the derivative by resistances of a box, and by the wind around a shape."""
    x, n_model, fields = w.resistance, m.fluid.shape[2], m.fluid[body]
    for e in range(6):
        speed, change = x.flow[k, e], x.change[k, e]
        i = t.body_lastdof[body]
        while i >= 0:
            share = -dot(load(w.pose.subspace[i]), load(x.along[k, e]))
            if k < t.body_parentid.size:
                add_scaled(out, i, share * (speed + change), fields, 0 if e < 3 else 1, n_model)
                square = abs(speed) * (speed + 2.0 * change)
                add_scaled(out, i, share * square, fields, 2 + e, n_model)
            for c in range(3):
                pushed = 0.0
                for other in range(6):
                    pushed -= x.slope[k, e, other] * x.along[k, other, 3 + c]
                add_scaled(out, i, share * pushed, fields, _WIND + c, n_model)
            i = t.dof_parentid[i]


@compiled_apart
def _add_moved(
    t: Tables,
    w: Workspace,
    k: int,
    body: int,
    s: Six,
    first: int,
    direction: int,
    out: FloatArray,
) -> None:
    """Add what a twist does to the torques of one shape, whose force changes by ``moved``."""
    x, turned = w.resistance, cross_force(s, resisting(w.resistance, k))
    i = t.body_lastdof[body]
    while i >= 0:
        subspace = load(w.pose.subspace[i])
        for e in range(6):
            out[i, direction] -= dot(subspace, load(x.along[k, e])) * x.moved[e]
        if i < first:
            out[i, direction] -= dot(subspace, turned)
        i = t.dof_parentid[i]
