# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A search from another start within the intervals ends where the fit did, or that is said."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pendulum
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitSettings, fit
from sysid_ros.engine.estimation.another_start import Bowl, end_of_another_start
from sysid_ros.engine.least_squares import Linearization, Point, eliminate_starts
from sysid_ros.errors import DataError

WINDOWS, ROWS = 20, 30
Residual = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def linear(base: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    return base @ theta, base


def rough(base: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Waves of a tenth of a standard error that hold the search where it is."""
    waves = 500.0 * theta
    return base @ (theta + 0.003 * np.sin(waves)), base * (1.0 + 1.5 * np.cos(waves))


class Bench:
    """Windows of a model with two parameters at its optimum of zero."""

    def __init__(self, of: Residual) -> None:
        rng = np.random.default_rng(1)
        self.bases = rng.normal(size=(WINDOWS, ROWS, 2))
        self.noise = rng.normal(size=(WINDOWS, ROWS))
        flat = self.bases.reshape(-1, 2)
        fitted = flat @ np.linalg.lstsq(flat, self.noise.ravel(), rcond=None)[0]
        self.noise -= fitted.reshape(WINDOWS, ROWS)
        self.of = of
        self.linearized = 0

    def linearize(self, point: Point, used: FloatArray) -> Linearization:
        self.linearized += len(used)
        grams, cost = [], 0.0
        for k in used:
            value, slope = self.of(self.bases[k], point.theta)
            rows = np.column_stack([slope, value + self.noise[k]])
            grams.append(rows.T @ rows)
            cost += 0.5 * float(rows[:, -1] @ rows[:, -1])
        return Linearization(cost, tuple(grams), np.zeros((3, 3)))

    def end(self, used: FloatArray, steps: int = 3):
        point = Point(np.zeros(2), tuple(np.zeros(0) for _ in range(WINDOWS)))
        smooth = Bench(linear).linearize(point, np.arange(WINDOWS))
        bounds = np.full(2, 1.0)
        bowl = Bowl(point, smooth, eliminate_starts(smooth), -bounds, bounds)
        covariance = np.linalg.inv(bowl.system.hessian)
        found = end_of_another_start(
            bowl, np.arange(2), covariance, used, lambda p: self.linearize(p, used), steps
        )
        return found, np.sqrt(np.diag(covariance))


@pytest.mark.parametrize("used", [np.arange(WINDOWS), np.arange(0, WINDOWS, 3)])
def test_in_a_bowl_every_start_leads_back(used: FloatArray) -> None:
    bench = Bench(linear)
    end, errors = bench.end(used)
    assert np.all(np.abs(end.values) < 1e-9 * errors)
    assert np.all(end.chance < 1e-9 * errors)
    assert bench.linearized == 2 * len(used)  # the second step goes nowhere


def test_a_rough_cost_holds_a_search_elsewhere() -> None:
    end, errors = Bench(rough).end(np.arange(WINDOWS))
    assert np.any(np.abs(end.values) > 0.5 * errors)
    assert np.all(end.chance == 0.0)  # of all windows


def test_a_simulation_that_diverges_says_so() -> None:
    def diverged(base: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.full(ROWS, np.inf), base

    with pytest.raises(DataError, match="diverges"), np.errstate(invalid="ignore"):
        Bench(diverged).end(np.arange(WINDOWS))


def test_it_is_a_tenth_of_a_smooth_fit_and_moves_nothing(steps: list[int]) -> None:
    data = [pendulum.sequences(*pendulum.recording(duration=10.0, noise=5e-3))]
    result = fit(data, pendulum.parameters(), FitSettings(threads=1))
    assert result.model_error is not None
    *others, last = result.model_error.shifts
    assert last.change == "another start"
    assert len(others) == 2
    assert np.all(np.abs(last.values) < 0.5 * result.model_error.statistical)
    assert not any("another start" in flag for p in result.parameters for flag in p.flags)
    own = steps[-2:] if steps[-2] == steps[-1] else steps[-1:]
    assert sum(own) <= 0.1 * (sum(steps) - sum(own))
