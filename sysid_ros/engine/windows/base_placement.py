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
from sysid_ros.engine.elements import FREE
from sysid_ros.engine.windows.settling import settling_times

# How a base comes to rest: damped, so that it does not bounce, it still falls by the farthest that
# it may go in twenty steps; what does not rest after fifteen times as many tips over.
_STEP, _STEPS = 2e-3, 300  # s
_KEPT = 0.9  # of the velocity, from step to step
_SETTLED = 1e-4  # m/s or rad/s, at rest
_HELD = 1e6  # kg m^2, armature of joints that do not move
# A few times what a pose is measured to; what would go farther falls, and stays.
_FARTHEST, _FARTHEST_TURN = 4e-3, 5e-3  # m, rad
_LARGEST_SLIP = 0.05  # m/s or rad/s, that a measured velocity may be off
_TRUSTED = 0.03  # weight of a measured velocity beside a contact that does not slip
_UPRIGHT = (2, 3, 4)  # height, roll and pitch among the degrees of freedom of a free joint


def place_bases(model: mujoco.MjModel, states: FloatArray) -> None:
    """Move floating bases that nearly touch something, in place, in states (w, nstate)."""
    near = np.flatnonzero(settling_times(model, states) > 0.0)
    bases = np.flatnonzero(model.jnt_type == FREE)
    if not near.size or len(bases) != 1:
        return
    place, dof = int(model.jnt_qposadr[bases[0]]), int(model.jnt_dofadr[bases[0]])
    slow = copy.copy(model)
    slow.opt.timestep = _STEP
    slow.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    slow.dof_armature[np.delete(np.arange(model.nv), np.arange(dof, dof + 6))] = _HELD
    data = mujoco.MjData(slow)
    for number in near:
        qpos = states[number, 1 : 1 + model.nq]
        for free in (_UPRIGHT, _UPRIGHT[:1]):  # what would tip over is only lowered
            moved = _at_rest(slow, data, qpos, dof, free)
            if moved is not None:
                states[number, 1 + place : 1 + place + 7] = moved[place : place + 7]
                _keep_from_slipping(slow, data, states[number, 1 + model.nq :], dof)
                break


def _at_rest(
    model: mujoco.MjModel, data: mujoco.MjData, qpos: FloatArray, dof: int, free: tuple[int, ...]
) -> FloatArray | None:
    """The posture (nq,) in which a base comes to rest; ``None`` if there is none nearby."""
    mujoco.mj_resetData(model, data)
    data.qpos[:] = qpos
    kept = np.zeros(model.nv)
    kept[[dof + one for one in free]] = _KEPT
    away = np.zeros(model.nv)
    for _ in range(_STEPS):
        mujoco.mj_forward(model, data)
        data.qvel[:] = kept * (data.qvel + _STEP * data.qacc)
        mujoco.mj_integratePos(model, data.qpos, data.qvel, _STEP)
        mujoco.mj_differentiatePos(model, away, 1.0, qpos, data.qpos)
        far = (
            abs(away[dof + 2]) > _FARTHEST or np.abs(away[dof + 3 : dof + 6]).max() > _FARTHEST_TURN
        )
        if far or not np.all(np.isfinite(data.qpos)):
            return None
        if np.abs(data.qvel).max() < _SETTLED:
            return np.array(data.qpos)
    return None  # it goes on tipping over


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
