# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Poses, velocities and accelerations of all bodies, in world coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray, zeros
from sysid_ros.engine.compiled import (
    add,
    compiled,
    compiled_apart,
    copy_vector,
    cross_motion,
    load,
    move_inertia,
    multiply_quaternions,
    quaternion_to_matrix,
    rotated,
    scale,
    store,
)
from sysid_ros.engine.elements import BALL, FREE, SLIDE
from sysid_ros.engine.mechanics.model_tables import Tables


class Pose(NamedTuple):
    """The pose of everything, about the fixed point of this step."""

    position: FloatArray  # (nbody, 3), m
    quaternion: FloatArray  # (nbody, 4)
    rotation: FloatArray  # (nbody, 3, 3)
    subspace: FloatArray  # (nv, 6)
    inertia: FloatArray  # (nbody, 10): inertial parameters of each body alone
    before: FloatArray  # (njnt or more, 7): position and quaternion of its body before each joint


class Motion(NamedTuple):
    """Velocities and accelerations; the accelerations include the reaction to gravity."""

    velocity: FloatArray  # (nbody, 6)
    acceleration: FloatArray  # (nbody, 6)
    velocity_before: FloatArray  # (nv, 6): before the joint, or a free joint's part
    acceleration_before: FloatArray  # (nv, 6)
    velocity_behind: FloatArray  # (nv, 6): behind the joint


def new_pose(nbody: int, nv: int) -> Pose:
    """Room for a pose."""
    return Pose(*zeros((nbody, 3), (nbody, 4), (nbody, 3, 3), (nv, 6), (nbody, 10), (nv, 7)))


def new_motion(nbody: int, nv: int) -> Motion:
    """Room for a motion."""
    return Motion(*zeros((nbody, 6), (nbody, 6), (nv, 6), (nv, 6), (nv, 6)))


@compiled
def put_in_place(t: Tables, pose: Pose, motion: Motion) -> None:
    """Write what stays as it is: all of the world, and of the bodies that nothing moves."""
    pose.quaternion[0, 0] = 1.0
    quaternion_to_matrix(pose.quaternion[0], pose.rotation[0])
    for body in range(t.body_parentid.size):
        if t.body_lastdof[body] < 0:
            if body > 0:
                _join(t, body, pose)
            for i in range(3):
                motion.acceleration[body, 3 + i] = -t.gravity[i]


@compiled
def move(t: Tables, q: FloatArray, pose: Pose) -> None:
    """Forward kinematics: write ``pose`` of all that moves for joint positions ``q``, (nq,)."""
    for body in range(1, t.body_parentid.size):
        if t.body_lastdof[body] < 0:
            continue
        _join(t, body, pose)
        for joint in range(t.body_jntadr[body], t.body_jntadr[body] + t.body_jntnum[body]):
            _move_joint(t, q, joint, body, pose)
        move_inertia(t.inertia[body], pose.rotation[body], pose.position[body], pose.inertia[body])


@compiled
def _join(t: Tables, body: int, pose: Pose) -> None:
    """Put a body where its parent has it."""
    parent = t.body_parentid[body]
    position, quaternion = pose.position[body], pose.quaternion[body]
    for i in range(3):
        position[i] = pose.position[parent, i]
        for j in range(3):
            position[i] += pose.rotation[parent, i, j] * t.body_pos[body, j]
    a = pose.quaternion[parent]
    multiply_quaternions(a[0], a[1], a[2], a[3], t.body_quat[body], quaternion)
    quaternion_to_matrix(quaternion, pose.rotation[body])


@compiled
def _move_joint(t: Tables, q: FloatArray, joint: int, body: int, pose: Pose) -> None:
    """Move a body by one of its joints and write the joint's motion subspace."""
    position, rotation = pose.position[body], pose.rotation[body]
    local, axis = t.jnt_pos[joint], t.jnt_axis[joint]
    address = t.jnt_qposadr[joint]
    copy_vector(position, pose.before[joint, :3])
    copy_vector(pose.quaternion[body], pose.before[joint, 3:])
    if t.jnt_type[joint] == FREE or t.jnt_type[joint] == BALL:
        _turn_freely(t, q, joint, body, pose)
        return
    x, y, z = rotated(rotation, axis)
    ox, oy, oz = rotated(rotation, local)
    px, py, pz = position[0] + ox, position[1] + oy, position[2] + oz
    value = q[address] - t.qpos0[address]
    s = pose.subspace[t.jnt_dofadr[joint]]
    if t.jnt_type[joint] == SLIDE:
        position[0] += value * x
        position[1] += value * y
        position[2] += value * z
        store((0.0, 0.0, 0.0, x, y, z), s)
        return
    store((x, y, z, py * z - pz * y, pz * x - px * z, px * y - py * x), s)
    # Turning about the world's axis on the left is turning about the body's on the right.
    sine = np.sin(0.5 * value)
    quaternion = pose.quaternion[body]
    multiply_quaternions(np.cos(0.5 * value), sine * x, sine * y, sine * z, quaternion, quaternion)
    quaternion_to_matrix(quaternion, rotation)
    ox, oy, oz = rotated(rotation, local)
    position[0], position[1], position[2] = px - ox, py - oy, pz - oz


@compiled
def _turn_freely(t: Tables, q: FloatArray, joint: int, body: int, pose: Pose) -> None:
    """The same for a ball or a free joint; the ball's axes are those of the body."""
    position, rotation, quaternion = pose.position[body], pose.rotation[body], pose.quaternion[body]
    local, address, dof = t.jnt_pos[joint], t.jnt_qposadr[joint], t.jnt_dofadr[joint]
    ox, oy, oz = rotated(rotation, local)
    px, py, pz = position[0] + ox, position[1] + oy, position[2] + oz
    if t.jnt_type[joint] == FREE:
        px, py, pz = q[address], q[address + 1], q[address + 2]
        for i in range(3):
            quaternion[i + 1] = 0.0
            for k in range(6):
                pose.subspace[dof + i, k] = 1.0 if k == 3 + i else 0.0
        quaternion[0] = 1.0
        address, dof = address + 3, dof + 3
    a, b = quaternion, q[address : address + 4]
    size = np.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3])
    multiply_quaternions(a[0] / size, a[1] / size, a[2] / size, a[3] / size, b, quaternion)
    quaternion_to_matrix(quaternion, rotation)
    for k in range(3):
        x, y, z = rotation[0, k], rotation[1, k], rotation[2, k]
        store((x, y, z, py * z - pz * y, pz * x - px * z, px * y - py * x), pose.subspace[dof + k])
    if t.jnt_type[joint] == BALL:
        ox, oy, oz = rotated(rotation, local)
        px, py, pz = px - ox, py - oy, pz - oz
    position[0], position[1], position[2] = px, py, pz


@compiled_apart
def propagate(t: Tables, pose: Pose, v: FloatArray, a: FloatArray, motion: Motion) -> None:
    """Velocities and accelerations of all bodies that move.

    Args:
      t: The model.
      pose: Where everything is.
      v: Joint velocities, (nv,).
      a: Joint accelerations, (nv,).
      motion: Written.
    """
    for body in range(1, t.body_parentid.size):
        if t.body_lastdof[body] < 0:
            continue
        parent = t.body_parentid[body]
        velocity = load(motion.velocity[parent])
        acceleration = load(motion.acceleration[parent])
        first, end = t.body_dofadr[body], t.body_dofadr[body] + t.body_dofnum[body]
        while first < end:
            last = first + t.dof_together[first]
            behind, before = velocity, acceleration
            for dof in range(first, last):
                behind = add(behind, scale(load(pose.subspace[dof]), v[dof]))
            for dof in range(first, last):
                s = load(pose.subspace[dof])
                store(velocity, motion.velocity_before[dof])
                store(before, motion.acceleration_before[dof])
                store(behind, motion.velocity_behind[dof])
                turned = scale(cross_motion(behind, s), v[dof])
                acceleration = add(acceleration, add(scale(s, a[dof]), turned))
            velocity, first = behind, last
        store(velocity, motion.velocity[body])
        store(acceleration, motion.acceleration[body])
