# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small problems have the solutions that SciPy finds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from sysid_ros.small_problems import (
    least_assignment,
    non_negative_least_squares,
    normal_quantiles,
    student_quantile,
)


@pytest.mark.parametrize("dof", [0.5, 1.0, 2.3, 5.0, 17.0, 59.0, 350.5, 2e3, 1e5, 1e8])
def test_students_quantiles(dof: float) -> None:
    """From a single degree of freedom to almost normal, in the middle and far out."""
    for level in (0.5, 0.6, 0.84, 0.95, 0.975, 0.995, 0.9999, 0.025):
        expected = float(scipy.special.stdtrit(dof, level))
        assert student_quantile(dof, level) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_no_degrees_of_freedom() -> None:
    assert np.isnan(student_quantile(0.0, 0.975))
    assert np.isnan(student_quantile(float("nan"), 0.975))
    assert student_quantile(float("inf"), 0.975) == pytest.approx(1.959963984540054)


def test_normal_quantiles() -> None:
    levels = np.linspace(0.0, 1.0, 82)[1:-1]
    np.testing.assert_allclose(normal_quantiles(levels), scipy.special.ndtri(levels), atol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_non_negative_least_squares(seed: int) -> None:
    """Random systems of any shape, some columns of which repeat others or are zero."""
    random = np.random.default_rng(seed)
    m, p = random.integers(1, 40, 2)
    matrix = random.normal(size=(m, p))
    if seed % 3 == 0:
        matrix[:, -1] = 0.0
    if seed % 4 == 0:
        matrix[:, 0] = matrix[:, -1]
    target = random.normal(size=m)
    found = non_negative_least_squares(matrix, target)
    expected = scipy.optimize.nnls(matrix, target)[1]
    assert found.min(initial=0.0) >= 0.0
    assert np.linalg.norm(matrix @ found - target) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_least_assignment(seed: int) -> None:
    """More rows than columns, fewer, and costs that repeat."""
    random = np.random.default_rng(seed)
    cost = random.normal(size=random.integers(1, 20, 2))
    if seed % 3 == 0:
        cost = np.round(cost)
    rows, columns = least_assignment(cost)
    expected = cost[scipy.optimize.linear_sum_assignment(cost)].sum()
    assert len(rows) == len(set(rows)) == len(set(columns)) == min(cost.shape)
    assert np.all(np.diff(rows) > 0)
    assert cost[rows, columns].sum() == pytest.approx(expected, abs=1e-12)
