# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Displacements of bodies against each other by a model's geometry, as twists between its joints.

A body that is placed otherwise on its parent moves with everything behind it, as if there were one
more joint before its first, which no force moves and which stands still. A joint of other position
or axis is the same joint between two such displacements, X before it and X^-1 behind it: X moves
its axis to where that is now, and joint after joint X T X^-1 is the new one's motion. So nothing
but the place of such a joint in the tree, its twist S and the velocity V and acceleration A before
it tell what changes: all formulas for the position of a joint hold, of :mod:`.rigid_body` too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import Six, Three, compiled, compiled_apart, cross, load
from sysid_ros.engine.elements import BALL, FREE, rotation_matrix
from sysid_ros.engine.mechanics.connections import end_places
from sysid_ros.engine.mechanics.kinematics import Motion, Pose
from sysid_ros.engine.mechanics.model_tables import Tables

POSITION, ORIENTATION = slice(0, 3), slice(3, 7)  # of a body's place on its parent
ANCHOR, AXIS = slice(0, 3), slice(3, 6)  # of a joint's place on its body


class Displacements(NamedTuple):
    """Twists that directions have at places of the tree, then at the ends of connections."""

    moving: int  # how many displace bodies; each of the others, one end of a connection
    end: IntArray  # (k,): twice the connection, and 1 for its second end; -1 for bodies
    body: IntArray  # (k,): the body that is displaced, with everything behind it, or has the end
    joint: IntArray  # (k,): the joint of this body that it happens before, -1 behind all of them
    first: IntArray  # (k,): the least degree of freedom behind it, on any way outwards
    side: IntArray  # (k, nv): of bodies 1 for dofs behind it, -1 before it, 0 beside it
    direction: IntArray  # (k,)
    twist: (
        FloatArray  # (k, 6): angular and linear, in the frame of the body there, about its origin
    )


class Mountings(NamedTuple):
    """Twists of sites, or of other frames, on their bodies."""

    site: IntArray  # (k,)
    direction: IntArray  # (k,)
    twist: FloatArray  # (k, 6): angular and linear, in the frame of the body, about its origin


def body_places(model: Any) -> FloatArray:
    """Positions and orientations of all bodies on their parents, (nbody, 7)."""
    return np.hstack([model.body_pos, model.body_quat])


def joint_places(model: Any) -> FloatArray:
    """Positions and axes of all joints on their bodies, (njnt, 6)."""
    return np.hstack([model.jnt_pos, model.jnt_axis])


def local_twists(t: Any, bodies: FloatArray, joints: FloatArray) -> FloatArray:
    """The twists of displacements before every joint, and then behind all joints of every body.

    Args:
      t: The tables, or a compiled model.
      bodies: Derivatives of the bodies' places, (nbody, 7, n).
      joints: Derivatives of the joints' places, (njnt, 6, n).

    Returns:
      Shape (njnt + nbody, 6, n), as of :class:`Displacements`. What a free joint undoes is none.
    """
    njnt = len(joints)
    twists = np.zeros((njnt + len(bodies), 6, bodies.shape[2]))
    for body in np.flatnonzero(np.any(bodies, axis=(1, 2))).tolist():
        joint, number = int(t.body_jntadr[body]), int(t.body_jntnum[body])
        if not number or t.jnt_type[joint] != FREE:
            quaternion = np.asarray(t.body_quat[body])
            moved = bodies[body]
            own = twists[joint if number else njnt + body]
            own[:3] += 2.0 * _conjugate_product(quaternion, moved[ORIENTATION])
            own[3:] += rotation_matrix(quaternion).T @ moved[POSITION]
    for joint in np.flatnonzero(np.any(joints, axis=(1, 2))).tolist():
        if t.jnt_type[joint] == FREE:
            continue
        body = int(t.dof_bodyid[int(t.jnt_dofadr[joint])])
        last = joint + 1 == int(t.body_jntadr[body]) + int(t.body_jntnum[body])
        turned = np.cross(t.jnt_axis[joint], joints[joint, AXIS], axis=0)
        turned *= t.jnt_type[joint] != BALL
        moved = joints[joint, ANCHOR] + np.cross(t.jnt_pos[joint], turned, axis=0)
        change = np.concatenate([turned, moved])
        twists[joint] += change
        twists[njnt + body if last else joint + 1] -= change
    return twists


def _conjugate_product(quaternion: FloatArray, moved: FloatArray) -> FloatArray:
    """The vector part of the conjugate of a quaternion times others, (4, n), shape (3, n)."""
    w, vector = quaternion[0], quaternion[1:]
    result: FloatArray = w * moved[1:] - np.outer(vector, moved[0])
    return result - np.cross(vector, moved[1:], axis=0)


def displacements_of(
    t: Tables, bodies: FloatArray, joints: FloatArray, ends: FloatArray
) -> Displacements:
    """The displacements that are any.

    Args:
      t: The model.
      bodies: Derivatives of the bodies' places, (nbody, 7, n).
      joints: Derivatives of the joints' places, (njnt, 6, n).
      ends: Derivatives of the places of connections' ends, (2 k, 7, n).
    """
    if not (np.any(bodies) or np.any(joints) or np.any(ends)):
        return _no_displacements(t)
    twists, njnt = local_twists(t, bodies, joints), len(joints)
    place, direction = np.nonzero(np.any(twists != 0.0, axis=1))
    before = place < njnt
    joint = np.where(before, place, -1)
    body = np.where(before, _bodies_of_joints(t)[joint], place - njnt)
    first = np.where(before, np.append(t.jnt_dofadr, 0)[joint], t.body_lastdof[body] + 1)
    sides = {key: _sides(t, *key) for key in set(zip(body.tolist(), first.tolist(), strict=True))}
    nv, held = t.dof_bodyid.size, mountings_of(end_places(t.connections), ends)
    side = [sides[key] for key in zip(body.tolist(), first.tolist(), strict=True)]
    side += [np.zeros(nv, dtype=np.int64)] * held.site.size
    holding = t.connections.body.reshape(-1)[held.site]
    twist = twists[place, :, direction].reshape(-1, 6)
    return Displacements(
        place.size,
        np.append(np.full(place.size, -1), held.site).astype(np.int64),
        np.append(body, holding).astype(np.int64),
        np.append(joint, np.full(held.site.size, -1)).astype(np.int64),
        np.append(first, t.body_lastdof[holding] + 1).astype(np.int64),
        np.array(side, dtype=np.int64).reshape(-1, nv),
        np.append(direction, held.direction).astype(np.int64),
        np.ascontiguousarray(np.vstack([twist, held.twist])),
    )


def _no_displacements(t: Tables) -> Displacements:
    """Displacements of directions that displace nothing, as most do."""
    none = np.zeros(0, dtype=np.int64)
    side = np.zeros((0, t.dof_bodyid.size), dtype=np.int64)
    return Displacements(0, none, none, none, none, side, none, np.zeros((0, 6)))


def mountings_of(places: FloatArray, sites: FloatArray) -> Mountings:
    """The twists of sites that have any.

    Args:
      places: Their positions and orientations on their bodies, (nsite, 7).
      sites: The derivatives of these, (nsite, 7, n).
    """
    site, direction = np.nonzero(np.any(sites != 0.0, axis=1))
    twists = np.zeros((len(site), 6))
    changes = zip(places[site], sites[site, :, direction], strict=True)
    for k, (one, own) in enumerate(changes):
        turn = 2.0 * _conjugate_product(one[ORIENTATION], own[ORIENTATION, np.newaxis])[:, 0]
        turn = rotation_matrix(one[ORIENTATION]) @ turn
        twists[k] = *turn, *(own[POSITION] + np.cross(one[POSITION], turn))
    return Mountings(site.astype(np.int64), direction.astype(np.int64), twists)


def _bodies_of_joints(t: Tables) -> IntArray:
    """The body of each joint, and one more."""
    return np.append(t.dof_bodyid[t.jnt_dofadr], -1)


def _sides(t: Tables, body: int, first: int) -> IntArray:
    """The sides of all degrees of freedom of what happens before ``first`` at a body."""
    carried = np.zeros(t.body_parentid.size, dtype=bool)
    carried[body] = True
    for other in range(body + 1, carried.size):
        carried[other] = carried[t.body_parentid[other]]
    side = (carried[t.dof_bodyid] & (np.arange(t.dof_bodyid.size) >= first)).astype(np.int64)
    i = int(t.body_lastdof[body])
    while i >= 0:
        if i < first:
            side[i] = -1
        i = int(t.dof_parentid[i])
    return side


@compiled_apart
def moved_along(pose: Pose, x: Displacements, e: int) -> Six:
    """The twist of a displacement in the world, about the fixed point."""
    joint, body = x.joint[e], x.body[e]
    if joint >= 0:
        return twist_in_world(x.twist[e], pose.before[joint, :3], pose.before[joint, 3:])
    return twist_in_world(x.twist[e], pose.position[body], pose.quaternion[body])


@compiled
def twist_in_world(twist: FloatArray, place: FloatArray, q: FloatArray) -> Six:
    """A twist about the origin of a frame at ``place`` that is turned by ``q``."""
    turn, go = (twist[0], twist[1], twist[2]), (twist[3], twist[4], twist[5])
    turn, go = _turned(q, turn), _turned(q, go)
    aside = cross((place[0], place[1], place[2]), turn)
    return turn[0], turn[1], turn[2], go[0] + aside[0], go[1] + aside[1], go[2] + aside[2]


@compiled
def _turned(q: FloatArray, x: Three) -> Three:
    """A vector turned by a unit quaternion."""
    axis = q[1], q[2], q[3]
    once = cross(axis, x)
    twice = cross(axis, once)
    w = q[0]
    return (
        x[0] + 2.0 * (w * once[0] + twice[0]),
        x[1] + 2.0 * (w * once[1] + twice[1]),
        x[2] + 2.0 * (w * once[2] + twice[2]),
    )


@compiled
def motion_before(t: Tables, motion: Motion, x: Displacements, e: int) -> tuple[Six, Six]:
    """Velocity and acceleration, with the reaction to gravity, where a displacement happens."""
    joint, body = x.joint[e], x.body[e]
    if joint >= 0:
        dof = t.jnt_dofadr[joint]
        return load(motion.velocity_before[dof]), load(motion.acceleration_before[dof])
    return load(motion.velocity[body]), load(motion.acceleration[body])


@compiled
def carries(t: Tables, body: int, other: int) -> bool:
    """Return whether a body carries the other, or is it."""
    while other > body:
        other = t.body_parentid[other]
    return other == body
