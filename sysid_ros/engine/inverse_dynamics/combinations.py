# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Least squares on chosen combinations of parameters, without constraints or prior.

What textbooks call weighted least squares on base or essential parameters; the measure that a
consistent fit is held against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics.evidence import gather
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty, jackknife, residual_weights
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.regressor import Filters, Recording, Regressor


@dataclass(frozen=True)
class CombinationFit:
    """Estimated combinations."""

    values: FloatArray  # (r,)
    uncertainty: Uncertainty  # of them
    theta: FloatArray  # all parameters that they stand for, (p,)
    residual_std: FloatArray  # of filtered torque, (nv,) N m; NaN where none was measured
    filters: Filters  # the low-passes


def fit_combinations(
    regressor: Regressor,
    recordings: Sequence[Recording],
    basis: FloatArray,
    settings: Settings | None = None,
) -> CombinationFit:
    """Estimate y of theta = basis y.

    Args:
      regressor: The robot's.
      recordings: Motion and torque, of one condition.
      basis: Parameters per unit of each combination, (p, r).
      settings: Filters, blocks and iterations.
    """
    settings = settings or Settings()
    evidence = gather(regressor, recordings, replace(settings, reversals_apart=False))
    (grams,) = evidence.grams.values()
    weights, gains = np.ones(regressor.model.nv), np.ones(regressor.model.nv)
    for _ in range(settings.iterations):
        hessian, gradient = grams.normal(weights, gains)
        values = least_squares(basis.T @ hessian @ basis, basis.T @ gradient)
        used, squares = weights, grams.squares(basis @ values)
        weights = residual_weights(squares, grams.counts, grams.torque_squares())
    pairs = [grams.normal(used, gains, b) for b in range(len(grams.counts))]
    size = len(values)
    uncertainty = jackknife(
        values,
        np.stack([basis.T @ hessian @ basis for hessian, _ in pairs]),
        np.stack([basis.T @ gradient for _, gradient in pairs]),
        np.zeros((size, size)),  # without a prior
        np.zeros(size, dtype=np.bool_),
    )
    spread = np.where(weights > 0.0, 1.0 / np.sqrt(np.maximum(weights, 1e-300)), np.nan)
    return CombinationFit(values, uncertainty, basis @ values, spread, evidence.filters)
