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
from sysid_ros.engine.regressor import friction_signs, row_weights, thin

_LEFT = 0.8  # of squared residuals, at most, that the model's own law leaves to be taken


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
    loss = np.asarray(model.dof_frictionloss)
    sharp, own = np.zeros(model.nv), np.zeros(model.nv)
    for stretch, prediction in zip(evidence.smooth, fit.predictions, strict=True):
        signs = [
            friction_signs(model, stretch.motion.qvel, stretch.motion.qacc, sharp=one)
            for one in (True, False)
        ]
        added = np.zeros((len(stretch.times), model.nv))
        weights = row_weights(evidence.filters, stretch.inner, 0)
        thin(weights, stretch.every, loss * (signs[1] - signs[0]), added)
        left = prediction.measured - prediction.total
        sharp += np.nansum(left**2, axis=0)
        own += np.nansum((left - added) ** 2, axis=0)
    used = (loss > 0.0) & (sharp > 0.0)
    better = used.any() and float(np.mean(own[used] / sharp[used])) < _LEFT
    return model if better else None
