# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts in the tangent space, where orientations have three components."""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.model_tables import BALL, FREE


def start_difference(model: mujoco.MjModel, before: FloatArray, after: FloatArray) -> FloatArray:
    """The way from one state (qpos, qvel, act) to another, (2 nv + na,)."""
    moved = np.empty(model.nv)
    mujoco.mj_differentiatePos(model, moved, 1.0, before[: model.nq], after[: model.nq])
    return np.concatenate([moved, (after - before)[model.nq :]])


def deviation_slope(model: mujoco.MjModel, deviation: FloatArray) -> FloatArray:
    """How a start moves with its deviation from the measured one, square.

    Adding to the rotation vector of an orientation turns it by the right Jacobian of rotations.
    """
    slope = np.eye(deviation.size)
    for joint in range(model.njnt):
        kind, dof = int(model.jnt_type[joint]), int(model.jnt_dofadr[joint])
        if kind in (FREE, BALL):
            ball = dof + (3 if kind == FREE else 0)
            own = slice(ball, ball + 3)
            slope[own, own] = _right_jacobian(deviation[own])
    return slope


def _right_jacobian(vector: FloatArray) -> FloatArray:
    """Sola, Deray & Atchuthan (2018), eq. 143, (3, 3)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    second = 2.0 * (np.sin(0.5 * angle) / angle) ** 2
    third = (angle - np.sin(angle)) / angle**3 if angle > 1e-3 else (1.0 - angle**2 / 20.0) / 6.0
    jacobian: FloatArray = np.eye(3) - second * cross + third * cross @ cross
    return jacobian
