# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows in which the sign of dry friction is uncertain, to be given weights of their own.

While a joint rests or turns round, its friction is anything between both signs, and no smoothed
velocity tells which. What a law of friction gets wrong there is far larger than the noise of
torque, and pulls damping, friction and armature away from what the rest of the motion says.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray, IntArray
from sysid_ros.engine.elements import SLIDE, fixed_tendons
from sysid_ros.engine.regressor.filtering import thin
from sysid_ros.engine.regressor.regressor import Motion
from sysid_ros.engine.regressor.regressor_tables import Friction, tendon_arms

CLASSES = 3  # of rows: friction's sign is known, known for the most part, uncertain
_SHARES = (0.005, 0.3)  # between the classes: the row filter's weight on uncertain instants
_SLOW, _SLOW_SLIDE = 0.02, 0.004  # rad/s and m/s: friction is not whole yet
_FEWEST = 0.1  # of the rows of a degree of freedom, that must be away from reversals
_BLURRED = 0.003  # s, times acceleration: a velocity that smoothing has added or taken away
_SOON = 0.01  # s, within which a joint that decelerates turns round


def row_classes(
    model: mujoco.MjModel,
    motion: Motion,
    weights: FloatArray,
    every: int,
    rows: int,
    own_law: Friction | None = None,
) -> IndexArray:
    """The class of each row and degree of freedom, (rows, nv), from 0 to CLASSES - 1.

    Args:
      model: The robot.
      motion: On the inner grid.
      weights: The row filter on it, (taps,).
      every: Inner steps from one row to the next.
      rows: How many there are.
      own_law: The model's own law of dry friction, where that is the robot's.
    """
    uncertain = _is_uncertain(model, motion, own_law).astype(np.float64)
    arms = tendon_arms(model)
    for arm in arms[: len(fixed_tendons(model))]:
        slow = _is_slow(motion.qvel @ arm, motion.qacc @ arm, _SLOW)
        uncertain[:, arm != 0.0] = np.maximum(uncertain[:, arm != 0.0], slow[:, None])
    share = np.zeros((rows, model.nv))
    thin(np.abs(weights) / np.abs(weights).sum(), every, uncertain, share)
    return np.digitize(share, _SHARES)


def sure_kinds(dofs: IndexArray, rows: IntArray, fewest: int = 0) -> BoolArray:
    """The kinds of rows in which friction's sign is known, and all of joints that have few such.

    Args:
      dofs: The degree of freedom of each kind, (kinds,), its surest kind first.
      rows: How many there are, (kinds,).
      fewest: Of the surest kind, with which the others of its joint are not needed.

    Returns:
      (kinds,).
    """
    plain = np.append(True, dofs[1:] != dofs[:-1])
    known = np.bincount(dofs, np.where(plain, rows, 0))
    moving = (known >= _FEWEST * np.bincount(dofs, rows)) & (known >= fewest)
    return np.asarray(plain | ~moving[dofs])


def slow_speeds(model: mujoco.MjModel) -> FloatArray:
    """The speed of each degree of freedom below which friction is not whole, (nv,) rad/s or m/s."""
    kinds = np.asarray(model.jnt_type)[np.asarray(model.dof_jntid)]
    return np.where(kinds == SLIDE, _SLOW_SLIDE, _SLOW)


def _is_slow(
    velocity: FloatArray, acceleration: FloatArray, limit: FloatArray | float
) -> BoolArray:
    return np.asarray(np.abs(velocity) < limit + _SOON * np.abs(acceleration))


def _is_uncertain(model: mujoco.MjModel, motion: Motion, own_law: Friction | None) -> BoolArray:
    """The instants (n, nv) at which smoothed motion leaves friction open.

    Where a law is soft, what it is within its range of velocities is known as well as beyond; in
    doubt are the edges, which the accelerations that smoothing took away cross to and fro.
    """
    limits = slow_speeds(model)
    slow = _is_slow(motion.qvel, motion.qacc, limits)
    if own_law is None:
        return slow
    rate = np.maximum(own_law.rate[: model.nv], 1e-9)
    whole = own_law.width[: model.nv] / rate
    beyond = np.abs(motion.qvel + motion.qacc / rate) - whole
    edge = np.abs(beyond) < limits + _BLURRED * np.abs(motion.qacc)
    return np.where(whole > 0.5 * limits, edge, slow)
