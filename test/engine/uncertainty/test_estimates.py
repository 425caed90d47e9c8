# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a solution to a covariance: what the starts of windows take of the residuals."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sysid_ros.engine.least_squares import (
    FitStatus,
    Linearization,
    Point,
    Solution,
    eliminate_starts,
    loss_named,
)
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.engine.uncertainty import uncertainty_of


def test_white_noise_is_told_by_what_starts_and_parameters_leave() -> None:
    windows, rows, p, starts = 40, 8, 2, 2
    rng = np.random.default_rng(3)
    grams, left = [], 0.0
    for matrix in rng.standard_normal((windows, rows, p + starts)):
        noise = rng.standard_normal(rows)  # the parameters are zero, and the best start is found
        own = matrix[:, p:]
        residual = own @ np.linalg.lstsq(own, noise, rcond=None)[0] - noise
        joined = np.column_stack([matrix, residual])
        grams.append(joined.T @ joined)
        left += float(residual @ residual)
    linearization = Linearization(0.5 * left, tuple(grams), np.zeros((p + 1, p + 1)))
    params = ParameterDict({name: Parameter(name, 0.0, -50.0, 50.0) for name in "ab"})
    problem: Any = SimpleNamespace(
        params=params, bounds=params.bounds, scale=np.ones(p), added=None,
        loss=loss_named("linear"), start_sizes=(starts,) * windows, n_samples=windows * rows,
    )  # fmt: skip
    solution = Solution(Point(np.zeros(p)), linearization, FitStatus.CONVERGED, 1, "")
    found = uncertainty_of(problem, solution, "white")
    freedom = windows * (rows - starts) - p
    expected = np.linalg.inv(eliminate_starts(linearization).hessian) * left / freedom
    np.testing.assert_allclose(found.matrix, expected)
    assert found.dof == pytest.approx([freedom, freedom])
