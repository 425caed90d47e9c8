# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of squares of a window's rows, without what is zero."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.problem.window_rows import MANY, sums_by_window, weighted_rows
from sysid_ros.engine.simulation import RunJacobian


@pytest.mark.parametrize("diverged", [False, True], ids=["finite", "diverged"])
@pytest.mark.parametrize("count", [100, MANY // 10])
def test_leaving_out_zeros_changes_no_sum(count: int, diverged: bool) -> None:
    rng = np.random.default_rng(0)
    signals = np.arange(count) % 3  # one after the other at each instant
    jacobian = rng.standard_normal((count, 21))
    for signal in range(3):
        own = np.arange(21) % 3 == signal
        own[-3:] = True  # what all share
        jacobian[np.ix_(signals == signal, ~own)] = 0.0
    if diverged:
        jacobian[7, 1] = np.nan
    residual, weights = rng.standard_normal(count), rng.uniform(0.5, 2.0, count)
    rows = np.nan_to_num(weights[:, None] * np.column_stack([jacobian, residual]))
    windows = [slice(0, count // 2), slice(count // 2, count)]
    found = sums_by_window(RunJacobian(residual, jacobian), weights, windows, signals)
    for gram, own in zip(found, windows, strict=True):
        expected = np.einsum("mi,mj->ij", rows[own], rows[own])
        np.testing.assert_allclose(gram, expected, rtol=1e-10, atol=1e-9)


def test_rows_of_the_prior_come_last() -> None:
    jacobian, residual = np.array([[1.0, 2.0], [np.inf, 3.0]]), np.array([4.0, 5.0])
    rows = weighted_rows(jacobian, residual, np.array([2.0, 1.0]), np.array([[0.0, 7.0, 8.0]]))
    np.testing.assert_array_equal(rows, [[2.0, 4.0, 8.0], [0.0, 3.0, 5.0], [0.0, 7.0, 8.0]])
