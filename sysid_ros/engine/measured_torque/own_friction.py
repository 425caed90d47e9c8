# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The law of dry friction at reversals: as sharp as MuJoCo allows, or as soft as the model has it.

Real joints change the sign of their friction with their velocity. A simulated robot is one that
has MuJoCo's own law, by default so soft that the sign changes some 10 ms before the velocity does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import (
    Estimate,
    Evidence,
    Settings,
    doubtful_estimate,
    total_torques,
)
from sysid_ros.engine.measured_torque.settled_sums import SettledSums, linearised_sums
from sysid_ros.engine.measured_torque.torque_problem import TorqueProblem, about, with_own_law
from sysid_ros.engine.measured_torque.torque_sums import values_at
from sysid_ros.engine.regressor import friction_of, friction_signs, row_weights, thin
from sysid_ros.errors import StopRequestedError

_LEFT = 0.8  # of squared residuals, at most, that the model's own law leaves to be taken
_SAME = 0.005  # of a law's width, by which another differs too little to matter
_ROUNDS = 8  # at most, with the model's own law about the one before


@dataclass(frozen=True)
class FrictionFit:
    """An estimate with one of the laws of friction.

    Attributes:
      problem: With that law.
      settings: Of the regression.
      sums: Of the recordings.
      found: What they lead to.
    """

    problem: TorqueProblem
    settings: Settings
    sums: SettledSums
    found: Estimate

    @property
    def values(self) -> FloatArray:
        """Of the declared parameters, (n,)."""
        return values_at(self.problem.declared, self.found.x, self.found.gains)[0]

    def model(self) -> mujoco.MjModel:
        """The model with them."""
        declared = self.problem.declared
        return declared.compiled(self.values, declared.robots[0])


def with_settled_friction(
    problem: TorqueProblem,
    settings: Settings,
    values: FloatArray,
    should_stop: Callable[[], bool] | None = None,
) -> FrictionFit:
    """Estimate with the sharp law, or the model's own if that explains torque better.

    The range of velocities of the latter follows from friction and inertia: the equations are
    linearised about those of the round before.

    Args:
      problem: With the sharp law.
      settings: Of the regression.
      values: Of the declared parameters, (n,), to begin at.
      should_stop: Asked before every round.

    Raises:
      StopRequestedError: ``should_stop`` asked for it.
    """
    end_if_asked(should_stop)
    fit = _fitted(problem, settings, values)
    law = fit.model()
    if not _is_softer(law, fit):
        return fit
    settings = replace(settings, reversals_count=False)
    for _ in range(_ROUNDS):
        end_if_asked(should_stop)
        own = about(with_own_law(fit.problem, law), fit.values)
        fit = _fitted(own, settings, fit.values, fit.sums.evidence)
        law, before = fit.model(), law
        if is_same_law(before, law):
            break
    return fit


def end_if_asked(should_stop: Callable[[], bool] | None) -> None:
    """End a fit that is asked to.

    Raises:
      StopRequestedError: It is.
    """
    if should_stop is not None and should_stop():
        raise StopRequestedError("the fit was stopped before its end, and has no result")


def _fitted(
    problem: TorqueProblem,
    settings: Settings,
    values: FloatArray,
    before: Evidence | None = None,
) -> FrictionFit:
    sums = linearised_sums(problem, settings, values, before)
    found = doubtful_estimate(problem.declared.model, sums.free, settings, sums.evidence)
    return FrictionFit(problem, settings, sums, found)


def _is_softer(model: mujoco.MjModel, fit: FrictionFit) -> bool:
    """Tell whether the own law of what was found explains torque better than the sharp one."""
    sharp, own = _left_over(model, fit)
    used = (np.asarray(model.dof_frictionloss) > 0.0) & (sharp > 0.0)
    return bool(used.any() and np.mean(own[used] / sharp[used]) < _LEFT)


def is_same_law(one: mujoco.MjModel, other: mujoco.MjModel) -> bool:
    """Tell whether the own laws of two models go over in the same range of velocities.

    Its width is the friction over the inertia that it works against, which are found with it.
    """
    first, second = (friction_of(model, None, sharp=False).width for model in (one, other))
    return bool(np.allclose(first, second, rtol=_SAME, atol=0.0))


def _left_over(model: mujoco.MjModel, fit: FrictionFit) -> FloatArray:
    """Squared residuals (2, nv) with the best viscous and dry friction of the sharp and own law.

    All else is as it was fitted, with the sharp law.
    """
    laws = (True, False)
    nv, loss = model.nv, np.asarray(model.dof_frictionloss)
    moments = np.zeros((len(laws), nv, 4, 4))  # of the law's sign, velocity, one, and torque
    evidence, found = fit.sums.evidence, fit.found
    for stretch in evidence.smooth:
        motion = stretch.motion
        condition = fit.problem.recordings[stretch.recording].condition
        theta = fit.sums.free.theta(found.x, condition)
        velocity, (total,) = total_torques(
            fit.problem.regressor, stretch, evidence.filters, theta[None]
        )
        table = np.hstack(
            [friction_signs(model, motion.qvel, motion.qacc, sharp=one) for one in laws]
        )
        signs = np.zeros((len(stretch.times), len(laws) * nv))
        thin(row_weights(evidence.filters, stretch.inner, 0), stretch.every, table, signs)
        own = signs[:, :nv] * loss + velocity * np.asarray(model.dof_damping)
        torque = stretch.torque / found.gains - total + own
        known = np.isfinite(torque)
        for law, sign in zip(moments, np.split(signs, len(laws), axis=1), strict=True):
            rows = np.stack([sign, velocity, np.ones_like(sign), torque], axis=-1)
            rows = np.where(known[:, :, None], rows, 0.0)
            law += np.einsum("njp,njq->jpq", rows, rows)
    normal, side = moments[..., :3, :3], moments[..., :3, 3]
    floor = 1e-12 * np.trace(normal, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) + 1e-300
    best = np.linalg.solve(normal + floor, side[..., None])[..., 0]
    return np.asarray(moments[..., 3, 3] - np.einsum("ljp,ljp->lj", best, side))
