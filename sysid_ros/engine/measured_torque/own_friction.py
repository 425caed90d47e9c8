# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The law of dry friction at reversals: as sharp as MuJoCo allows, or as soft as the model has it.

Real joints change the sign of their friction with their velocity. A simulated robot is one that
has MuJoCo's own law, by default so soft that the sign changes some 10 ms before the velocity does.
"""

from __future__ import annotations

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import Evidence, InverseDynamicsFit
from sysid_ros.engine.measured_torque.declared_columns import Declared
from sysid_ros.engine.regressor import friction_of, friction_signs, row_weights, thin

_LEFT = 0.8  # of squared residuals, at most, that the model's own law leaves to be taken
_SAME = 0.005  # of a law's width, by which another differs too little to matter


def own_law_model(
    declared: Declared, evidence: Evidence, fit: InverseDynamicsFit, values: FloatArray
) -> mujoco.MjModel | None:
    """The model with the friction that was found, if its own law explains torque better.

    Args:
      declared: The parameters.
      evidence: The recordings' sums.
      fit: With the sharp law.
      values: What it found, of the declared parameters.

    Returns:
      ``None`` where the sharp law is as good.
    """
    model = declared.compiled(values, declared.robots[0])
    sharp, own = _left_over(model, evidence, fit)
    used = (np.asarray(model.dof_frictionloss) > 0.0) & (sharp > 0.0)
    return model if used.any() and np.mean(own[used] / sharp[used]) < _LEFT else None


def is_same_law(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Tell whether the own laws of two models go over in the same range of velocities.

    Its width is the friction over the inertia that it works against, which are found with it.
    """
    first, second = (friction_of(model, None, sharp=False).width for model in (one, other))
    return bool(np.allclose(first, second, rtol=_SAME, atol=0.0))


def _left_over(model: mujoco.MjModel, evidence: Evidence, fit: InverseDynamicsFit) -> FloatArray:
    """Squared residuals (2, nv) with the best viscous and dry friction of the sharp and own law.

    All else is as it was fitted, with the sharp law.
    """
    laws = (True, False)
    nv, loss = model.nv, np.asarray(model.dof_frictionloss)
    sums = np.zeros((len(laws), nv, 4, 4))  # of the law's sign, velocity, one, and torque
    for stretch, prediction in zip(evidence.smooth, fit.predictions, strict=True):
        motion = stretch.motion
        table = np.hstack(
            [friction_signs(model, motion.qvel, motion.qacc, sharp=one) for one in laws]
        )
        signs = np.zeros((len(stretch.times), len(laws) * nv))
        thin(row_weights(evidence.filters, stretch.inner, 0), stretch.every, table, signs)
        own = signs[:, :nv] * loss + prediction.velocity * np.asarray(model.dof_damping)
        torque = prediction.measured - prediction.total + own
        known = np.isfinite(torque)
        for law, sign in zip(sums, np.split(signs, len(laws), axis=1), strict=True):
            rows = np.stack([sign, prediction.velocity, np.ones_like(sign), torque], axis=-1)
            rows = np.where(known[:, :, None], rows, 0.0)
            law += np.einsum("njp,njq->jpq", rows, rows)
    normal, side = sums[..., :3, :3], sums[..., :3, 3]
    floor = 1e-12 * np.trace(normal, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) + 1e-300
    best = np.linalg.solve(normal + floor, side[..., None])[..., 0]
    return np.asarray(sums[..., 3, 3] - np.einsum("ljp,ljp->lj", best, side))
