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

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.evidence import Equations, equations
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty, jackknife
from sysid_ros.engine.regressor import Grams, row_counts, sure_kinds

_TELLING = 2.0  # standard errors of the difference


def sure_equations(
    free: FreeParameters,
    grams: Mapping[str, Grams],
    weights: FloatArray,
    gains: FloatArray,
    gain_dofs: IndexArray,
    x: FloatArray,
) -> Equations | None:
    """Equations of the rows in which friction's sign is known, ``None`` where that is all.

    Args:
      free: The estimated parameters.
      grams: Sums by condition, with rows around reversals apart.
      weights: Of kinds of rows, (kinds,).
      gains: Of degrees of freedom, (nv,).
      gain_dofs: Degrees of freedom whose gain is estimated.
      x: The estimate, (k,).
    """
    dofs = next(iter(grams.values())).dofs
    rows = row_counts(grams)
    sure = sure_kinds(dofs, rows)
    if np.all(sure | (rows == 0)):
        return None
    return equations(grams, free, np.where(sure, weights, 0.0), gains, gain_dofs, x)


def allowing_for_reversals(
    uncertainty: Uncertainty,
    sure: Equations,
    x: FloatArray,
    slope: FloatArray,
    curvature: FloatArray,
    held: BoolArray,
) -> Uncertainty:
    """The uncertainty with the difference that rows around reversals make.

    Args:
      uncertainty: Of the estimate from all rows.
      sure: Equations of the other rows alone, from :func:`sure_equations`.
      x: The estimate from all rows, (k,).
      slope: Of the prior at the estimate, (k,).
      curvature: The same, (k, k).
      held: Parameters that a bound holds, (k,).
    """
    go = ~held
    hessian = sure.hessians.sum(axis=0)
    matrix = (hessian + curvature)[np.ix_(go, go)]
    step = np.zeros(len(x))
    step[go] = least_squares(matrix, (sure.gradients.sum(axis=0) - hessian @ x - slope)[go])
    other = jackknife(x + step, sure.hessians, sure.gradients, curvature, held)
    wider = np.diag(other.covariance) - np.diag(uncertainty.covariance)
    telling = step**2 > _TELLING**2 * np.maximum(wider, 0.0)
    known = uncertainty.information > 0.5
    added = np.where(telling & known, step**2, 0.0)
    return replace(uncertainty, covariance=uncertainty.covariance + np.diag(added))
