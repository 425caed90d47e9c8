# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joint torques of bodies as a model has them, whatever masses any robot could have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.diagnosis.fits.point_mass_regressor import (
    AT_ONCE,
    BodyMotion,
    PointMasses,
    ancestors,
    body_motion,
    cross,
    moves_by,
    moving_masses,
)
from sysid_ros.engine.elements import rotation_matrix


@dataclass(frozen=True)
class ModelledBodies:
    """The bodies on some joints as a model has them, all heavier by one factor, and one besides."""

    dofs: tuple[int, ...]  # the joints' degrees of freedom
    besides: PointMasses | None = None  # what a body may have more

    def torques(self, model: mujoco.MjModel, motion: BodyMotion, dofs: IndexArray) -> FloatArray:
        """Joint torques of all these bodies, then those of what one may have more, (n, dofs, p)."""
        moving = moving_masses(model)
        bodies = [body for body in moving if {*self.dofs} & {*ancestors(model, body)}]
        own: FloatArray = torques_of(model, motion, bodies)[:, dofs].sum(axis=2, keepdims=True)
        if self.besides is None:
            return own
        return np.concatenate([own, self.besides.torques(model, motion, dofs)], axis=2)


def body_torques(
    model: mujoco.MjModel, qpos: FloatArray, qvel: FloatArray, qacc: FloatArray
) -> FloatArray:
    """Joint torque for each body of the model as it is.

    Args:
      model: The model.
      qpos: (n, nq).
      qvel: (n, nv).
      qacc: (n, nv).

    Returns:
      (n, nv, number of moving bodies with a mass).
    """
    return torques_of(model, body_motion(model, qpos, qvel, qacc), moving_masses(model))


def torques_of(model: mujoco.MjModel, motion: BodyMotion, bodies: Sequence[int]) -> FloatArray:
    """Joint torque for some bodies of the model as they are, (n, nv, bodies)."""
    moved = np.array([moves_by(model, body) for body in bodies]).reshape(len(bodies), model.nv).T
    torque = np.empty((len(motion.arm), *moved.shape))
    for first in range(0, len(torque), AT_ONCE):
        rows = slice(first, first + AT_ONCE)
        wrench = _own_wrenches(model, motion, rows, bodies)
        torque[rows] = (motion.axes[rows] @ np.moveaxis(wrench, 1, 2)) * moved
    return torque


def _own_wrenches(
    model: mujoco.MjModel, motion: BodyMotion, rows: slice, bodies: Sequence[int]
) -> FloatArray:
    """Moment about the tree's centre and force that move bodies as they are, (m, b, 6)."""
    turn, arm = motion.turn[rows][:, bodies], motion.arm[rows][:, bodies]
    omega, alpha = motion.omega[rows][:, bodies], motion.alpha[rows][:, bodies]
    place = np.einsum("nbij,bj->nbi", turn, model.body_ipos[bodies])
    force = motion.acceleration[rows][:, bodies] + cross(alpha, place)
    force = model.body_mass[bodies, None] * (force + cross(omega, cross(omega, place)))
    axes = turn @ np.array([rotation_matrix(own) for own in model.body_iquat[bodies]])

    def of_inertia(rate: FloatArray) -> FloatArray:
        local = np.einsum("nbji,nbj->nbi", axes, rate) * model.body_inertia[bodies]
        return np.asarray(np.einsum("nbij,nbj->nbi", axes, local))

    moment = of_inertia(alpha) + cross(omega, of_inertia(omega)) + cross(arm + place, force)
    return np.concatenate([moment, force], axis=2)
