# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints of a compiled model: their places in a state, and what they move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray, IntArray, integers
from sysid_ros.files import untaken

FREE = int(mujoco.mjtJoint.mjJNT_FREE)  # kinds of joints, as in ``jnt_type``
BALL = int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
HINGE = int(mujoco.mjtJoint.mjJNT_HINGE)
SCALAR = (HINGE, SLIDE)


def body_label(model: mujoco.MjModel, body: int) -> str:
    """The name of a body; of one without any a name that it may be given, as no other has it."""
    name = str(model.body(body).name)
    return name or untaken(f"body_{body}", [str(model.body(k).name) for k in range(model.nbody)])


def bodies_above(model: mujoco.MjModel, body: int) -> Iterator[int]:
    """Yield a body and those that it hangs on, out to the last before the world."""
    while body:
        yield body
        body = int(model.body_parentid[body])


def joints_above(model: mujoco.MjModel, body: int) -> list[int]:
    """The joints that move a body, those of the nearest bodies first."""
    joints: list[int] = []
    for above in bodies_above(model, body):
        first = int(model.body_jntadr[above])
        joints += range(first, first + int(model.body_jntnum[above]))
    return joints


@dataclass(frozen=True)
class JointPart:
    """One hinge, slide or ball joint, or the linear or the angular half of a free joint."""

    joint: int
    places: slice  # in qpos
    dofs: slice
    turns: bool  # its places are a quaternion


def joint_parts(model: mujoco.MjModel) -> list[JointPart]:
    """All joints of a model in order, free ones in two halves."""
    parts = []
    for joint in range(model.njnt):
        place, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        kind = int(model.jnt_type[joint])
        if kind in SCALAR:
            parts.append(JointPart(joint, slice(place, place + 1), slice(dof, dof + 1), False))
            continue
        if kind == FREE:
            parts.append(JointPart(joint, slice(place, place + 3), slice(dof, dof + 3), False))
            place, dof = place + 3, dof + 3
        parts.append(JointPart(joint, slice(place, place + 4), slice(dof, dof + 3), True))
    return parts


def related_dofs(model: mujoco.MjModel) -> IntArray:
    """Mark pairs of degrees of freedom of which one carries the other, (nv, nv)."""
    related = np.eye(model.nv, dtype=np.int64)
    for dof in range(model.nv):
        above = int(model.dof_parentid[dof])
        while above >= 0:
            related[dof, above] = related[above, dof] = 1
            above = int(model.dof_parentid[above])
    return related


def first_dofs(model: mujoco.MjModel) -> IntArray:
    """The first degree of freedom of the ball that each belongs to, itself where to none, (nv,)."""
    first = np.arange(model.nv)
    for joint in range(model.njnt):
        kind, dof = int(model.jnt_type[joint]), int(model.jnt_dofadr[joint])
        if kind in (FREE, BALL):
            ball = dof + (3 if kind == FREE else 0)
            first[ball : ball + 3] = ball
    return integers(first)


def last_dofs(model: mujoco.MjModel) -> IntArray:
    """The last degree of freedom that moves each body, -1 for none, (nbody,)."""
    last = np.full(model.nbody, -1, dtype=np.int64)
    for body in range(1, model.nbody):
        number = int(model.body_dofnum[body])
        last[body] = (
            int(model.body_dofadr[body]) + number - 1
            if number
            else last[int(model.body_parentid[body])]
        )
    return last


def gravity_of(model: mujoco.MjModel) -> FloatArray:
    """Gravity that acts, (3,), m/s^2: zero where it is switched off."""
    off = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if off else np.array(model.opt.gravity)


def joint_couplings(model: mujoco.MjModel) -> list[tuple[int, int, FloatArray]]:
    """Joints that active equalities move with another, dependents of dependents first.

    Returns:
      The dependent joint, the driving one or -1, and the five coefficients of the polynomial.
    """
    joint = int(mujoco.mjtEq.mjEQ_JOINT)
    found = [
        (int(model.eq_obj1id[e]), int(model.eq_obj2id[e]), np.array(model.eq_data[e, :5]))
        for e in range(model.neq)
        if int(model.eq_type[e]) == joint and model.eq_active0[e]
    ]
    ordered: list[tuple[int, int, FloatArray]] = []
    while found:
        drivers = {driving for _, driving, _ in found}
        free = [one for one in found if one[0] not in drivers] or found
        ordered += free
        found = [one for one in found if not any(one is other for other in free)]
    return ordered


def places_in_qpos(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Places of hinges and slides in ``qpos``, (n,), by name."""
    return np.array([int(model.joint(name).qposadr[0]) for name in joints], dtype=np.intp)


def places_in_qvel(model: mujoco.MjModel, joints: Iterable[str]) -> IndexArray:
    """Places of hinges and slides in ``qvel``, (n,), by name."""
    return np.array([int(model.joint(name).dofadr[0]) for name in joints], dtype=np.intp)
