# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The information that measured torque along a motion carries about a model's parameters."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.elements import places_in_qpos, places_in_qvel
from sysid_ros.engine.inverse_dynamics import base_combination, base_names, grouping_order
from sysid_ros.engine.regressor import Motion, Regressor
from sysid_ros.excitation.design.fitted_parameters import KINDS, FittedParameters

_ANGLE_STEP = 1e-5  # rad or m; errors of central differences are about its square
_RATE_STEP = 1e-3  # rad/s; friction bends within a few hundredths
_ACCELERATION = 2  # derivative by time
FRICTION_SHARE = 0.02  # of the least velocity limit within which friction changes its sign
_DRAWS = 400  # motions that show which parameters act together
_SEED = 20


class JointMotion(NamedTuple):
    """A motion of n joints at m instants, each (m, n)."""

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class TorqueInformation:
    """Rows of inverse dynamics of the joints that move, in terms of identifiable parameters.

    The other joints of the model stand still. Friction is smoothed over ``friction_velocity``, so
    that a motion is not rewarded for creeping.

    Attributes:
      names: Of the p parameters: base parameters ("link_1.Izz + link_2.m ..."), or those of a fit.
      values: The model's own values of them, (p,).
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        joints: tuple[str, ...],
        home: FloatArray,
        noise: FloatArray,
        *,
        reach: JointMotion,
        friction_velocity: float,
        fitted: FittedParameters | None = None,
    ) -> None:
        """Find what can be identified at all.

        Args:
          model: Compiled.
          joints: n hinges or slides that move.
          home: Posture of the whole model, (nq,).
          noise: Standard deviations (n,) of measured torque, sample by sample.
          reach: Magnitudes (1, n) that motions have; the position's is about ``home``.
          friction_velocity: rad/s or m/s within which dry friction changes its sign.
          fitted: Parameters to tell instead of all that can be identified.
        """
        self._regressor = Regressor(model, kinds=KINDS, friction_velocity=friction_velocity)
        self._home, self._joints = home, joints
        self.qpos = places_in_qpos(model, joints)
        self.dofs = places_in_qvel(model, joints)
        self._weight = 1.0 / noise**2
        self.theta = self._regressor.columns.nominal
        if fitted is None:
            kept, combination = self._identifiable(reach)
            self.names = base_names(self._regressor.columns.names, kept, combination)
            self.values = np.asarray(combination @ self.theta)
            self._columns: FloatArray = np.eye(len(self.theta))[:, kept]
        else:
            self.names, self.values, self._columns = fitted.names, fitted.values, fitted.columns

    def smoothed(self, friction_velocity: float) -> TorqueInformation:
        """The same with dry friction that changes its sign within another velocity."""
        other = copy.copy(self)
        model = self._regressor.model
        other._regressor = Regressor(model, kinds=KINDS, friction_velocity=friction_velocity)
        return other

    def rows(self, motion: JointMotion) -> FloatArray:
        """Torque per unit of each parameter, (m, n, p)."""
        return np.asarray(self.every_row(motion) @ self._columns)

    def torque(self, motion: JointMotion) -> FloatArray:
        """The model's torque, (m, n)."""
        return self.every_row(motion) @ self.theta

    def information(self, motion: JointMotion, share: float = 1.0) -> FloatArray:
        """Fisher information (p, p) of torque samples, each counted ``share`` times."""
        rows = self.rows(motion) * np.sqrt(share * self._weight)[:, None]
        flat = rows.reshape(-1, rows.shape[2])
        return np.asarray(flat.T @ flat)

    def slopes(
        self, motion: JointMotion, weight: FloatArray, share: float
    ) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
        """Derivatives with respect to each position, velocity and acceleration.

        Args:
          motion: m instants.
          weight: W (p, p), symmetric.
          share: How often each sample is counted.

        Returns:
          Three slopes (m, n) of tr(W information), and three (m, n, n) of the torque, whose last
          index is what is changed.
        """
        rows = self.rows(motion) * (2.0 * share * self._weight)[:, None]
        pull = rows @ weight @ self._columns.T
        traces = tuple(np.empty_like(motion.position) for _ in range(3))
        torques = tuple(np.empty((*motion.position.shape, len(self.dofs))) for _ in range(3))
        for order, joint, change in self.changes(motion):
            traces[order][:, joint] = np.einsum("mip,mip->m", pull, change)
            torques[order][:, :, joint] = change @ self.theta
        return traces, torques

    def torque_slopes(self, motion: JointMotion, wanted: BoolArray) -> tuple[FloatArray, ...]:
        """The slopes of the torque at some of m instants, as in :meth:`slopes`; 0 at others."""
        torques = tuple(np.zeros((*motion.position.shape, len(self.dofs))) for _ in range(3))
        if wanted.any():
            some = JointMotion(*(part[wanted] for part in motion))
            for order, joint, change in self.changes(some):
                torques[order][wanted, :, joint] = change @ self.theta
        return torques

    def changes(self, motion: JointMotion) -> Iterator[tuple[int, int, FloatArray]]:
        """Derivatives of all rows, (m, n, s), by position, velocity, acceleration of each joint.

        Yields:
          0, 1 or 2 for what changes, the joint, and the derivative.
        """
        base = self.every_row(motion)
        for order, step in enumerate((_ANGLE_STEP, _RATE_STEP, 1.0)):
            for joint in range(len(self.dofs)):
                shift = np.zeros(len(self.dofs))
                shift[joint] = step
                after = self.every_row(_moved(motion, order, shift))
                if order == _ACCELERATION:  # in which rows are linear
                    yield order, joint, after - base
                else:
                    before = self.every_row(_moved(motion, order, -shift))
                    yield order, joint, (after - before) / (2.0 * step)

    def _identifiable(self, reach: JointMotion) -> tuple[IndexArray, FloatArray]:
        generator = np.random.default_rng(_SEED)
        size = (_DRAWS, len(self.dofs))
        drawn = JointMotion(*(generator.uniform(-1.0, 1.0, size) * part for part in reach))
        center = self._home[self.qpos]
        rows = self.every_row(drawn._replace(position=center + drawn.position))
        flat = rows.reshape(-1, rows.shape[2])
        columns = self._regressor.columns
        order = grouping_order(self._regressor.model, columns)
        return base_combination(flat.T @ flat, order)

    def every_row(self, motion: JointMotion) -> FloatArray:
        """Torque of each joint per unit of each column of the regressor, (m, n, s)."""
        whole = whole_motion(self._regressor.model, self._joints, self._home, motion)
        return self._regressor.rows(whole)[:, self.dofs]


def _moved(motion: JointMotion, order: int, shift: FloatArray) -> JointMotion:
    """A motion with another position, velocity or acceleration."""
    return motion._replace(**{motion._fields[order]: motion[order] + shift})


def whole_motion(
    model: mujoco.MjModel, joints: tuple[str, ...], home: FloatArray, motion: JointMotion
) -> Motion:
    """The motion of a whole model of which some joints move and the others stand at ``home``."""
    count = len(motion.position)
    qpos = places_in_qpos(model, joints)
    dofs = places_in_qvel(model, joints)
    q = np.tile(home, (count, 1))
    v, a = np.zeros((count, model.nv)), np.zeros((count, model.nv))
    q[:, qpos] = motion.position
    v[:, dofs], a[:, dofs] = motion.velocity, motion.acceleration
    return Motion(q, v, a)
