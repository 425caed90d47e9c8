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

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.elements import fixed_tendons
from sysid_ros.engine.regressor.filtering import thin
from sysid_ros.engine.regressor.regressor import Motion
from sysid_ros.engine.regressor.regressor_tables import tendon_arms

CLASSES = 3  # of rows: friction's sign is known, known for the most part, uncertain
_SHARES = (0.005, 0.3)  # between the classes: the row filter's weight on uncertain instants
_SLOW, _SLOW_SLIDE = 0.02, 0.004  # rad/s and m/s: friction is not whole yet
_SOON = 0.01  # s, within which a joint that decelerates turns round


def row_classes(
    model: mujoco.MjModel, motion: Motion, weights: FloatArray, every: int, rows: int
) -> IndexArray:
    """The class of each row and degree of freedom, (rows, nv), from 0 to CLASSES - 1.

    Args:
      model: The robot.
      motion: On the inner grid.
      weights: The row filter on it, (taps,).
      every: Inner steps from one row to the next.
      rows: How many there are.
    """
    uncertain = _is_slow(motion.qvel, motion.qacc, _limits(model)).astype(np.float64)
    arms = tendon_arms(model)
    for arm in arms[: len(fixed_tendons(model))]:
        slow = _is_slow(motion.qvel @ arm, motion.qacc @ arm, _SLOW)
        uncertain[:, arm != 0.0] = np.maximum(uncertain[:, arm != 0.0], slow[:, None])
    share = np.zeros((rows, model.nv))
    thin(np.abs(weights) / np.abs(weights).sum(), every, uncertain, share)
    return np.digitize(share, _SHARES)


def _is_slow(
    velocity: FloatArray, acceleration: FloatArray, limit: FloatArray | float
) -> BoolArray:
    return np.asarray(np.abs(velocity) < limit + _SOON * np.abs(acceleration))


def _limits(model: mujoco.MjModel) -> FloatArray:
    kinds = np.asarray(model.jnt_type)[np.asarray(model.dof_jntid)]
    return np.where(kinds == int(mujoco.mjtJoint.mjJNT_SLIDE), _SLOW_SLIDE, _SLOW)
