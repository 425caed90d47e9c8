# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quadratic minima within bounds are reached where columns nearly repeat each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from sysid_ros.engine.least_squares import bounded_quadratic_step


@pytest.mark.parametrize("upper", [np.inf, 0.5])
def test_minima_of_columns_that_nearly_repeat_are_reached(upper: float) -> None:
    """MuJoCo's solver alone ends well before the minimum in some of these."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        few = rng.normal(size=(80, 6))
        columns = few @ rng.normal(size=(6, 20)) + 1e-4 * rng.normal(size=(80, 20))
        columns /= np.linalg.norm(columns, axis=0)
        target = rng.normal(size=80) + 4.0 * columns @ np.abs(rng.normal(size=20))
        hessian = columns.T @ columns + 2e-9 * np.eye(20)
        gradient = -columns.T @ target
        zeros, ends = np.zeros(20), np.full(20, upper)
        step = bounded_quadratic_step(hessian, gradient, zeros, ends)
        root = np.linalg.cholesky(hessian).T
        best = lsq_linear(root, -np.linalg.solve(root.T, gradient), (zeros, ends), "bvls").x
        reached, least = (0.5 * d @ hessian @ d + gradient @ d for d in (step, best))
        assert np.all((step >= 0.0) & (step <= upper))
        assert reached <= least + 1e-6 * abs(least), seed
