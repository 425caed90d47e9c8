# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The compiled inverse-dynamics regressor, sample by sample.

Poses and motions of the bodies, and the derivative of a body's wrench by its ten parameters, in
which it is linear (Atkeson, An & Hollerbach, Estimation of inertial parameters of manipulator loads
and links, IJRR 5, 1986), are those of :mod:`sysid_ros.engine.mechanics`; a joint carries the power
of that wrench on its motion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import compiled, compiled_apart, into_body, load
from sysid_ros.engine.mechanics import (
    Motion,
    Pose,
    felt,
    force_regressor,
    move,
    new_motion,
    new_pose,
    propagate,
    put_in_place,
)

MUJOCO_LAW, VELOCITY_LAW = 0, 1

_part: Any = compiled_apart
_inlined: Any = compiled


class Room(NamedTuple):
    """Poses and motions of all bodies at one instant, in room that is reused."""

    pose: Pose
    motion: Motion
    basis: FloatArray  # (2, 6, 10): scratch


def new_room(nbody: int, nv: int) -> Room:
    """Room for a model."""
    return Room(new_pose(nbody, nv), new_motion(nbody, nv), np.zeros((2, 6, 10)))


@_part
def begin(tree, room):  # type: ignore[no-untyped-def]
    """Write what no joint moves, once for many instants."""
    put_in_place(tree, room.pose, room.motion)


@_part
def _bodies(tree, layout, room, rows):  # type: ignore[no-untyped-def]
    """Add what the inertia of every body asks of every degree of freedom that moves it.

    Gravity that is compensated is felt by joints alone whose actuators do that.
    """
    for b in range(1, len(tree.body_parentid)):
        column, compensated = layout.body[b], tree.gravity_compensation[b] != 0.0
        if column < 0:
            continue
        for borne in range(2 if compensated else 1):
            acceleration = felt(tree, room.motion, b)
            if borne > 0:
                acceleration = load(room.motion.acceleration[b])
            force_regressor(room.pose, room.motion, b, acceleration, room.basis)
            dof = tree.body_lastdof[b]
            while dof >= 0:
                if not compensated or tree.dof_actuated_gravity[dof] == borne:
                    _project(room, b, dof, rows[dof, column : column + 10])
                dof = tree.dof_parentid[dof]


@_inlined
def _project(room, body, dof, out):  # type: ignore[no-untyped-def]
    """Add the power of a body's wrench on a degree of freedom by its ten parameters."""
    rotation, position = room.pose.rotation[body], room.pose.position[body]
    s, force = into_body(load(room.pose.subspace[dof]), rotation, position), room.basis[1]
    for k in range(4):  # an inertia has no force, a mass in the body's origin no torque
        out[k] += s[3] * force[3, k] + s[4] * force[4, k] + s[5] * force[5, k]
    for k in range(1, 10):
        out[k] += s[0] * force[0, k] + s[1] * force[1, k] + s[2] * force[2, k]


@_part
def _sign(law, friction, place, v, a):  # type: ignore[no-untyped-def]
    if law == VELOCITY_LAW:
        return np.tanh(v / friction.width[place])
    return min(1.0, max(-1.0, (a + friction.rate[place] * v) / friction.width[place]))


@_part
def _joints(tree, layout, friction, law, q, v, a, rows):  # type: ignore[no-untyped-def]
    """Add armature, damping, friction, spring and offset of every degree of freedom."""
    for dof in range(rows.shape[0]):
        if layout.armature[dof] >= 0:
            rows[dof, layout.armature[dof]] += a[dof]
        if layout.damping[dof] >= 0:
            rows[dof, layout.damping[dof]] += v[dof]
        if layout.damping2[dof] >= 0:
            rows[dof, layout.damping2[dof]] += abs(v[dof]) * v[dof]
        if layout.damping3[dof] >= 0:
            rows[dof, layout.damping3[dof]] += v[dof] ** 3
        if layout.frictionloss[dof] >= 0:
            sign = _sign(law, friction, dof, v[dof], a[dof])
            rest = friction.rest[dof] if abs(sign) < 1.0 else 1.0
            rows[dof, layout.frictionloss[dof]] += sign * rest
            if abs(sign) < 1.0:
                for column in range(friction.inertia.shape[1]):
                    rows[dof, column] += sign * friction.inertia[dof, column]
        if layout.stiffness[dof] >= 0:
            at = tree.jnt_qposadr[tree.dof_jntid[dof]]
            rows[dof, layout.stiffness[dof]] += q[at] - tree.qpos_spring[at]
        if layout.offset[dof] >= 0:
            rows[dof, layout.offset[dof]] += 1.0


@_part
def _tendons(tree, layout, friction, law, v, a, rows):  # type: ignore[no-untyped-def]
    """Add what fixed tendons do: they couple the joints in whose positions they are linear.

    Their armature couples joints on one branch only, as MuJoCo's mass matrix does.
    """
    nv = rows.shape[0]
    for t in range(len(layout.tendon_armature)):
        speed, surge = 0.0, 0.0
        for dof in range(nv):
            speed += tree.tendon[t, dof] * v[dof]
            surge += tree.tendon[t, dof] * a[dof]
        for dof in range(nv):
            arm = tree.tendon[t, dof]
            if arm == 0.0:
                continue
            if layout.tendon_armature[t] >= 0:
                for other in range(nv):
                    if tree.related[dof, other]:
                        share = arm * tree.tendon[t, other] * a[other]
                        rows[dof, layout.tendon_armature[t]] += share
            if layout.tendon_damping[t] >= 0:
                rows[dof, layout.tendon_damping[t]] += arm * speed
            if layout.tendon_frictionloss[t] >= 0:
                sign = _sign(law, friction, nv + t, speed, surge)
                rows[dof, layout.tendon_frictionloss[t]] += arm * sign


@_part
def _fold(tree, q, rows):  # type: ignore[no-untyped-def]
    """Let what drives a coupled joint carry its torque; the joint's own row becomes zero."""
    for e in range(len(tree.coupling)):
        dependent, driving = int(tree.coupling[e, 0]), int(tree.coupling[e, 1])
        if driving >= 0:
            at = tree.jnt_qposadr[tree.dof_jntid[driving]]
            x = q[at] - tree.qpos0[at]
            c = tree.coupling[e]
            gain = c[3] + x * (2.0 * c[4] + x * (3.0 * c[5] + x * 4.0 * c[6]))
            for column in range(rows.shape[1]):
                rows[driving, column] += gain * rows[dependent, column]
        for column in range(rows.shape[1]):
            rows[dependent, column] = 0.0


@_part
def sample(tree, layout, friction, law, q, v, a, room, rows):  # type: ignore[no-untyped-def]
    """Write the regressor (nv, p) of one instant; takes what :func:`.kernels.fill` takes."""
    for dof in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            rows[dof, column] = 0.0
    move(tree, q, room.pose)
    propagate(tree, room.pose, v, a, room.motion)
    _bodies(tree, layout, room, rows)
    _joints(tree, layout, friction, law, q, v, a, rows)
    _tendons(tree, layout, friction, law, v, a, rows)
    _fold(tree, q, rows)
