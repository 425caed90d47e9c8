# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The law of dry friction at reversals: as sharp as MuJoCo allows, wider, or the model's own.

Real joints change the sign of their friction with their velocity. Gears that bend before they slide
and rows behind a low-pass make that change wider, by as much as the data says. A simulated robot
has MuJoCo's own law, by default so soft that the sign changes some 10 ms before the velocity does.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import Evidence, InverseDynamicsFit
from sysid_ros.engine.measured_torque.declared_columns import Declared
from sysid_ros.engine.regressor import CREEP, friction_signs, row_weights, thin

_WIDER = (0.02, 0.04, 0.08)  # rad/s, from which on friction is whole, beside the sharpest law's
_LEFT = 0.8  # of squared residuals, at most, that the model's own law leaves to be taken
_LESS = 0.9  # likewise, that a wider one leaves: on a real TX40 2 % less is worse on held-out data


def better_law(
    declared: Declared, evidence: Evidence, fit: InverseDynamicsFit, values: FloatArray
) -> mujoco.MjModel | float | None:
    """The law of dry friction that explains torque better than the sharpest one.

    Args:
      declared: The parameters.
      evidence: The recordings' sums.
      fit: With the sharpest law.
      values: What it found, of the declared parameters.

    Returns:
      The model with the friction that was found, if its own law does; the speed [rad/s] from which
      on friction is whole, if a wider one does; ``None`` where the sharpest is as good.
    """
    model = declared.compiled(values, declared.robots[0])
    laws = (None, *_WIDER)
    left = _left_over(model, evidence, fit, (CREEP, *laws))
    used = (np.asarray(model.dof_frictionloss) > 0.0) & (left[0] > 0.0)
    if not used.any():
        return None
    shares = dict(zip(laws, np.mean(left[1:, used] / left[0, used], axis=1).tolist(), strict=True))
    widest = min(_WIDER, key=lambda creep: shares[creep])
    if shares[None] < _LEFT * min(1.0, shares[widest]):
        return model
    return widest if shares[widest] < _LESS else None


def _left_over(
    model: mujoco.MjModel,
    evidence: Evidence,
    fit: InverseDynamicsFit,
    laws: Sequence[float | None],
) -> FloatArray:
    """Squared residuals (laws, nv) with the best viscous and dry friction of each law.

    All else is as it was fitted, with the first law.
    """
    nv, loss = model.nv, np.asarray(model.dof_frictionloss)
    sums = np.zeros((len(laws), nv, 4, 4))  # of the law's sign, velocity, one, and torque
    for stretch, prediction in zip(evidence.smooth, fit.predictions, strict=True):
        motion = stretch.motion
        table = np.hstack([friction_signs(model, motion.qvel, motion.qacc, one) for one in laws])
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
