# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of forces and readings by a model's geometry: :mod:`..mechanics.displacements`.

They are those by the position of a joint that is not there, in
:mod:`sysid_ros.engine.mechanics.rigid_body` and :mod:`.frame_sensors`, with the same names.
"""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import (
    Six,
    add,
    compiled,
    compiled_apart,
    cross_force,
    cross_motion,
    dot,
    load,
    multiply_inertia,
    multiply_product,
    scale,
)
from sysid_ros.engine.derivatives.directions import ModelDirections
from sysid_ros.engine.mechanics import (
    Displacements,
    Mountings,
    Tables,
    Workspace,
    carries,
    motion_before,
    moved_along,
    turned_gravity,
    twist_in_world,
)


@compiled_apart
def add_displaced_forces(
    t: Tables, w: Workspace, x: Displacements, weight: float, out: FloatArray
) -> None:
    """Subtract ``weight`` times the derivative of the inverse dynamics, as in ``w.derivatives``.

    Args:
      t: The model.
      w: The instant.
      x: The displacements.
      weight: A factor.
      out: Subtracted from, (nv, n).
    """
    d = w.derivatives
    for e in range(x.moving):
        body, direction = x.body[e], x.direction[e]
        s, p, r = _displaced(t, w, x, e)
        above = add(_change_behind(w, body, p, r), cross_force(s, load(d.force[body])))
        turned = turned_gravity(t, s)
        if t.compensates:
            above = add(above, multiply_inertia(d.lifted[body], turned))
        for i in range(out.shape[0]):
            if x.side[e, i] == 0:
                continue
            si = load(w.pose.subspace[i])
            if x.side[e, i] < 0:
                out[i, direction] -= weight * dot(si, above)
                continue
            change = dot(p, load(d.below_product[i])) + dot(r, load(d.below_inertia[i]))
            if t.compensates:
                change += dot(turned, multiply_inertia(d.lifted[t.dof_bodyid[i]], si))
            out[i, direction] -= weight * change


@compiled_apart
def _displaced(t: Tables, w: Workspace, x: Displacements, e: int) -> tuple[Six, Six, Six]:
    """S, P and R of a displacement."""
    s = moved_along(w.pose, x, e)
    velocity, acceleration = motion_before(t, w.motion, x, e)
    p, r = _seen_changes(s, velocity, acceleration)
    return s, p, r


@compiled
def _seen_changes(s: Six, velocity: Six, acceleration: Six) -> tuple[Six, Six]:
    """P and R of a twist behind what has this velocity and acceleration."""
    p = cross_motion(velocity, s)
    return p, add(cross_motion(acceleration, s), cross_motion(velocity, p))


@compiled
def _change_behind(w: Workspace, body: int, p: Six, r: Six) -> Six:
    """The change of what everything behind a body needs to move, as this body sees it."""
    d = w.derivatives
    return add(multiply_inertia(d.inertia[body], r), multiply_product(d.product[body], p))


@compiled_apart
def add_displaced_reading(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    body: int,
    site: int,
    covectors: tuple[Six, Six, Six],
    row: int,
    out: FloatArray,
) -> None:
    """Add the derivative of one component of a sensor by the places of bodies, joints and sites.

    Args:
      t: The model.
      w: The instant.
      m: Directions of the model.
      body: The sensor's.
      site: Where it is mounted, -1 for none.
      covectors: The forces f, u and d of the component.
      row: The reading.
      out: Added to, (n_reading, n).
    """
    x, mountings = m.displacements, m.mountings
    for e in range(x.moving):
        if carries(t, x.body[e], body):
            out[row, x.direction[e]] += _read_of(covectors, _displaced(t, w, x, e))
    for e in range(mountings.direction.size):
        if mountings.site[e] == site:
            s = _mounted_along(w, mountings, e, body)
            velocity, acceleration = w.motion.velocity[body], w.motion.acceleration[body]
            p, r = _seen_changes(s, load(velocity), load(acceleration))
            out[row, mountings.direction[e]] += _read_of(covectors, (s, p, r))


@compiled
def _read_of(covectors: tuple[Six, Six, Six], changes: tuple[Six, Six, Six]) -> float:
    """The change of a component by S, P and R."""
    accelerating, moving, displacing = covectors
    return dot(displacing, changes[0]) + dot(moving, changes[1]) + dot(accelerating, changes[2])


@compiled
def _mounted_along(w: Workspace, mountings: Mountings, e: int, body: int) -> Six:
    """The twist of a site on a body, in the world."""
    return twist_in_world(mountings.twist[e], w.pose.position[body], w.pose.quaternion[body])


@compiled_apart
def add_displaced_force(
    t: Tables,
    w: Workspace,
    m: ModelDirections,
    body: int,
    site: int,
    twist: Six,
    row: int,
    out: FloatArray,
) -> None:
    """Add the same of the force between a body and its parent along ``twist``.

    Args:
      t: The model.
      w: The instant.
      m: Directions of the model.
      body: The sensor's.
      site: Where it is mounted.
      twist: What the reading is the product of the force with.
      row: The reading.
      out: Added to, (n_reading, n).
    """
    x, mountings = m.displacements, m.mountings
    for e in range(x.moving):
        moved = x.body[e]
        outer = max(moved, body)
        if not carries(t, min(moved, body), outer):
            continue
        s, p, r = _displaced(t, w, x, e)
        change = _change_behind(w, outer, p, r)
        if moved > body:
            change = add(change, cross_force(s, force_behind(t, w, outer)))
        out[row, x.direction[e]] += dot(twist, change)
    for e in range(mountings.direction.size):
        if mountings.site[e] == site:
            along = cross_motion(_mounted_along(w, mountings, e, body), twist)
            out[row, mountings.direction[e]] += dot(along, force_behind(t, w, body))


@compiled
def force_behind(t: Tables, w: Workspace, body: int) -> Six:
    """The force that moves everything behind a body, weight included that is compensated."""
    d, gravity = w.derivatives, (0.0, 0.0, 0.0, t.gravity[0], t.gravity[1], t.gravity[2])
    return add(load(d.force[body]), scale(multiply_inertia(d.lifted[body], gravity), -1.0))
