# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Intervals that allow for what a law of friction gets wrong where a joint turns round.

That is no noise that averages out: all rows around reversals err alike. If they are right, the
estimate from all rows and that from the others alone differ by no more than the second is surer
(Hausman, Econometrica 46, 1978). Where they differ by more, the difference is part of the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.evidence import equations
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares
from sysid_ros.engine.inverse_dynamics.prior import Prior
from sysid_ros.engine.inverse_dynamics.program import Solution
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty, jackknife
from sysid_ros.engine.regressor import Grams, sure_kinds

_TELLING = 2.0  # standard errors of the difference


def allowing_for_reversals(
    uncertainty: Uncertainty,
    solution: Solution,
    prior: Prior,
    free: FreeParameters,
    grams: Mapping[str, Grams],
    weights: FloatArray,
    gains: FloatArray,
    gain_dofs: IndexArray,
) -> Uncertainty:
    """The uncertainty with the difference that rows around reversals make.

    Args:
      uncertainty: Of the estimate from all rows.
      solution: That estimate.
      prior: Of parameters and gains.
      free: The estimated parameters.
      grams: Sums by condition, with rows around reversals apart.
      weights: Of kinds of rows, (kinds,).
      gains: Of degrees of freedom, (nv,).
      gain_dofs: Degrees of freedom whose gain is estimated.
    """
    dofs = next(iter(grams.values())).dofs
    rows = np.sum([one.counts.sum(axis=0) for one in grams.values()], axis=0)
    sure = sure_kinds(dofs, rows)
    if np.all(sure | (rows == 0)):
        return uncertainty
    x, held, k = solution.x, solution.at_bound, len(free.names)
    alone = np.where(sure, weights, 0.0)
    system = equations(grams, free, alone, gains, gain_dofs, x[:k])
    slope, curvature = prior.derivatives(x)
    go = ~held
    matrix = (system.hessians.sum(axis=0) + curvature)[np.ix_(go, go)]
    downhill = (system.gradients.sum(axis=0) - system.hessians.sum(axis=0) @ x - slope)[go]
    step = np.zeros(len(x))
    step[go] = least_squares(matrix, downhill)
    other = jackknife(x + step, system.hessians, system.gradients, curvature, held)
    wider = np.diag(other.covariance) - np.diag(uncertainty.covariance)
    telling = step**2 > _TELLING**2 * np.maximum(wider, 0.0)
    known = uncertainty.information > 0.5
    added = np.where(telling & known, step**2, 0.0)
    return replace(uncertainty, covariance=uncertainty.covariance + np.diag(added))
