# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Floating bases put down on what carries them, from where their measured poses hang or sink.

A pose is measured to a millimetre at best, and a contact gives by a hundredth of that. A simulation
that starts a millimetre high drops and bounces, and one that starts with a velocity by which wheels
or feet would slip is braked at once: both shake all that the base carries. So height, roll and
pitch are moved to where the weight is carried, as they would come to rest with all joints held, and
the base's velocity to one by which nothing slips. A search for starts begins there, where
derivatives know the contacts. It is a place to begin from: starts are estimated about it.
"""

from __future__ import annotations

import copy

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import moved_inertia
from sysid_ros.engine.windows.settling import settling_times

_SLOWED = 0.02  # s, in which a falling base is braked, so that it does not bounce
_TIME = 0.6  # s, in which it falls, tips and comes to rest at the latest
_RESTS = 1e-4  # m/s or rad/s
_HELD = 1e6  # kg m^2, armature of what does not move
_FARTHEST = 4e-3  # m or rad, that a base is moved; one that would go farther falls, and stays
_LARGEST_SLIP = 0.05  # m/s or rad/s, that a measured velocity may be off
_TRUSTED = 0.03  # weight of a measured velocity beside a contact that does not slip
_UPRIGHT = (2, 3, 4)  # height, roll and pitch among the degrees of freedom of a free joint


def put_down(model: mujoco.MjModel, states: FloatArray) -> None:
    """Move floating bases that nearly touch something, in place.

    Args:
      model: With its geometry.
      states: Starts, ``mjSTATE_FULLPHYSICS`` vectors, (w, nstate).
    """
    near = np.flatnonzero(settling_times(model, states) > 0.0)
    bases = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
    if not near.size or len(bases) != 1:
        return
    place, dof = int(model.jnt_qposadr[bases[0]]), int(model.jnt_dofadr[bases[0]])
    data = mujoco.MjData(model)
    data.qpos[:] = states[near[0], 1 : 1 + model.nq]
    mujoco.mj_forward(model, data)
    damping = (moved_inertia(model, data) / _SLOWED)[dof : dof + 6]
    falling = [_held_but(model, dof, free, damping) for free in (_UPRIGHT, _UPRIGHT[:1])]
    for number in near:
        qpos = states[number, 1 : 1 + model.nq]
        for held in falling:  # what would tip over is only lowered
            if _comes_to_rest(held, data, qpos, dof):
                qpos[place : place + 7] = data.qpos[place : place + 7]
                _keep_from_slipping(model, data, states[number, 1 + model.nq :], dof)
                break


def _held_but(
    model: mujoco.MjModel, dof: int, free: tuple[int, ...], damping: FloatArray
) -> mujoco.MjModel:
    """A copy in which nothing moves but some directions of the base, and no actuator pulls."""
    held = copy.copy(model)
    held.dof_damping[dof : dof + 6] = damping
    held.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    held.dof_armature[np.delete(np.arange(model.nv), [dof + one for one in free])] = _HELD
    return held


def _comes_to_rest(model: mujoco.MjModel, data: mujoco.MjData, qpos: FloatArray, dof: int) -> bool:
    """Let a base fall from a posture (nq,); tell whether it comes to rest nearby, in ``data``."""
    mujoco.mj_resetData(model, data)
    data.qpos[:] = qpos
    away = np.zeros(model.nv)
    for _ in range(round(_TIME / model.opt.timestep)):
        mujoco.mj_step(model, data)
        if np.abs(data.qvel).max() < _RESTS:
            break
    mujoco.mj_differentiatePos(model, away, 1.0, qpos, data.qpos)
    near = bool(np.abs(away[dof : dof + 6]).max() < _FARTHEST)
    return near and bool(np.abs(data.qvel).max() < _RESTS)


def _keep_from_slipping(
    model: mujoco.MjModel, data: mujoco.MjData, rates: FloatArray, dof: int
) -> None:
    """Change a base's velocity, in ``rates`` (nv, ...), to one by which no contact slips.

    Args:
      model: The robot.
      data: At rest on its contacts.
      rates: Velocities of all degrees of freedom, and what comes after them in a state.
      dof: The first one of the base.
    """
    base, known = slice(dof, dof + 6), rates[: model.nv]
    rows = [_contact_rows(model, data, contact) for contact in data.contact]
    if not rows:
        return
    contacts = np.concatenate(rows)
    slip = np.concatenate([-contacts @ known, np.zeros(6)])
    matrix = np.vstack([contacts[:, base], _TRUSTED * np.eye(6)])
    change = np.linalg.lstsq(matrix, slip, rcond=None)[0]
    if np.abs(change).max() < _LARGEST_SLIP:
        known[base] += change


def _contact_rows(
    model: mujoco.MjModel, data: mujoco.MjData, contact: mujoco.MjContact
) -> FloatArray:
    """Velocity at a contact along its normal and, with friction, its tangents, (1 or 3, nv)."""
    apart = np.zeros((3, model.nv))
    for geom, sign in zip(contact.geom, (-1.0, 1.0), strict=True):
        own = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, own, None, contact.pos, int(model.geom_bodyid[geom]))
        apart += sign * own
    rows: FloatArray = contact.frame.reshape(3, 3) @ apart
    return rows if contact.dim > 1 else rows[:1]
