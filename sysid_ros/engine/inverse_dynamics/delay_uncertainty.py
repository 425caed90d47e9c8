# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The doubt about delays of torque, which errors of the model look like.

A late torque differs by little from friction that depends on speed or load in another way than its
law says. Residuals say nothing of that, so that a delay seems surer than it is and outweighs its
prior. Stretches of time, joints that share a delay, and rows near and far from reversals tell: by
how much it strays when each is left out (Quenouille, Biometrika 43, 1956) is compared with what
white residuals explain.
The prior counts as many times more, and other parameters are as uncertain as the delay makes them.

Torque that is sampled at one place of each interval in which a drive holds its set point looks as
if there were more damping and armature, or less, see
:mod:`~sysid_ros.engine.regressor.held_set_points`: all are as uncertain as that makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.evidence import Equations, equations
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import inverse_root
from sysid_ros.engine.inverse_dynamics.prior import Prior
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty
from sysid_ros.engine.regressor import DELAY, Grams

# Of a shift: the error with which a 95 % interval ends a little beyond it. Samples just behind each
# set point, or just before, are the likeliest.
_REACHED = 0.55
_FEWEST = 3  # joints that share a delay, or classes of rows, for what one of them says to be seen


def delays_among(free: FreeParameters) -> list[int]:
    """Estimated parameters that are delays with a prior."""
    kinds = np.array([kind == DELAY for kind in free.columns.kinds])
    used = np.any([np.any(m[kinds] != 0.0, axis=0) for m in free.matrix.values()], axis=0)
    return [int(i) for i in np.flatnonzero(used & (free.precision > 0.0))]


def doubts_of_delays(
    free: FreeParameters,
    grams: Mapping[str, Grams],
    prior: Prior,
    x: FloatArray,
    weights: FloatArray,
    gains: FloatArray,
    gain_dofs: IndexArray,
) -> dict[int, float]:
    """By how much variances of delays exceed those of white residuals, 1 at least.

    Args:
      free: The estimated parameters.
      grams: Sums by condition and block of time.
      prior: Gaussian, of parameters and gains.
      x: The estimate, (k,).
      weights: Of kinds of rows, (kinds,).
      gains: Of degrees of freedom, (nv,).
      gain_dofs: Degrees of freedom whose gain is estimated.

    Returns:
      By the delay's number among the parameters.
    """
    own = delays_among(free)
    if not own:
        return {}
    dofs = next(iter(grams.values())).dofs
    system = equations(grams, free, weights, gains, gain_dofs, x)
    whole = _Normal(system, prior)
    by_time = np.array([
        whole.without(h, g)[own] for h, g in zip(system.hessians, system.gradients, strict=True)
    ])  # fmt: skip
    parts = [by_time]
    for label in (dofs, _classes(dofs)):
        found = []
        for one in np.unique(label[weights > 0.0]):
            alone = np.where(label == one, weights, 0.0)
            part = equations(grams, free, alone, gains, gain_dofs, x, together=True)
            found.append(whole.without(part.hessians[0], part.gradients[0])[own])
        if len(found) >= _FEWEST:
            parts.append(np.array(found))
    white = np.diag(whole.inverse @ whole.hessian @ whole.inverse)[own]
    # By the jackknife, of estimates that leave each part out.
    variance = np.sum([(len(part) - 1) * part.var(axis=0) for part in parts], axis=0)
    ratio = np.maximum(variance / np.maximum(white, 1e-300), 1.0)
    return dict(zip(own, ratio.tolist(), strict=True))


def doubted(free: FreeParameters, doubts: Mapping[int, float]) -> FreeParameters:
    """The parameters with priors of delays as strong as the data is doubtful."""
    if not doubts:
        return free
    precision = np.array(free.precision)
    for place, doubt in doubts.items():
        precision[place] *= doubt
    return replace(free, precision=precision)


def allowing_for_doubt(
    uncertainty: Uncertainty, matrix: FloatArray, precision: FloatArray, doubts: Mapping[int, float]
) -> Uncertainty:
    """The uncertainty with what doubtful delays add to it.

    Args:
      uncertainty: Of the estimate with :func:`doubted` priors.
      matrix: Curvature of data and those priors, (k, k) with gains.
      precision: Of the parameters' own priors, (k,).
      doubts: From :func:`doubts_of_delays`.
    """
    if not doubts:
        return uncertainty
    inverse, covariance = _inverse(matrix), np.array(uncertainty.covariance)
    for place, doubt in doubts.items():
        own = float(inverse[place, place])
        if own <= 0.0:
            continue
        prior = float(precision[place])
        data = max(1.0 / own - doubt * prior, 0.0)
        variance = 1.0 / (prior + data / doubt)
        along = inverse[:, place] / own
        missing = max(variance - float(covariance[place, place]), 0.0)
        covariance += missing * np.outer(along, along)
    return replace(uncertainty, covariance=covariance)


def allowing_for_pull(
    uncertainty: Uncertainty, matrix: FloatArray, pull: FloatArray
) -> Uncertainty:
    """The uncertainty with that of a share between -1 and 1 of a change of the gradient.

    Args:
      uncertainty: Of the estimate.
      matrix: Curvature of data and priors, (k, k).
      pull: The change, (k,).
    """
    shift = _REACHED * _inverse(matrix) @ pull
    return replace(uncertainty, covariance=uncertainty.covariance + np.outer(shift, shift))


class _Normal:
    """Normal equations of all rows with a prior, and their solution without some rows."""

    def __init__(self, system: Equations, prior: Prior) -> None:
        slope, self.curvature = prior.derivatives(np.zeros_like(prior.mean))
        self.hessian: FloatArray = system.hessians.sum(axis=0)
        self.side: FloatArray = system.gradients.sum(axis=0) - slope
        self.inverse = _inverse(self.hessian + self.curvature)

    def without(self, hessian: FloatArray, gradient: FloatArray) -> FloatArray:
        """The solution (k,) without some rows."""
        matrix = self.hessian - hessian + self.curvature
        scale = inverse_root(np.diag(matrix))
        inner, side = matrix * np.outer(scale, scale), scale * (self.side - gradient)
        try:
            return np.asarray(scale * scipy.linalg.cho_solve(scipy.linalg.cho_factor(inner), side))
        except np.linalg.LinAlgError:  # these rows alone show some of it
            return np.asarray(scale * np.linalg.lstsq(inner, side, rcond=1e-13)[0])


def _classes(dofs: IndexArray) -> IndexArray:
    """The class of every kind of rows, see :mod:`~sysid_ros.engine.regressor.reversals`."""
    first = np.maximum.accumulate(
        np.where(np.append(True, dofs[1:] != dofs[:-1]), np.arange(len(dofs)), 0)
    )
    return np.arange(len(dofs)) - first


def _inverse(matrix: FloatArray) -> FloatArray:
    scale = inverse_root(np.diag(matrix))
    spread = np.outer(scale, scale)
    return np.asarray(spread * np.linalg.pinv(matrix * spread, rcond=1e-13, hermitian=True))
