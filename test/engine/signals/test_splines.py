# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Splines are those of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline

from sysid_ros.engine.signals import CubicSlope, Line
from sysid_ros.engine.signals.splines import cubic_powers


@pytest.mark.parametrize("count", [4, 5, 6, 17, 400])
def test_slope_is_that_of_the_spline_without_knots_beside_its_ends(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    grid = 0.3 + 0.01 * np.arange(count)
    at = np.linspace(grid[0] - 0.02, grid[-1] + 0.02, 301)  # also beyond the samples
    expected = make_interp_spline(grid, values, k=3).derivative()(at)
    slope = CubicSlope.of(0.3, 0.01, values)
    np.testing.assert_allclose(slope(at), expected, atol=1e-8 * np.abs(expected).max())
    assert slope(float(at[7])) == slope(at)[7]


@pytest.mark.parametrize("width", [None, 3])
def test_line_goes_through_uneven_samples_and_on(width: int | None) -> None:
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.uniform(0.5, 1.5, 20))
    values = rng.normal(size=20 if width is None else (20, width))
    at = np.linspace(times[0] - 1.0, times[-1] + 1.0, 200)
    expected = make_interp_spline(times, values, k=1)(at)
    np.testing.assert_allclose(Line(times, values)(at), expected, atol=1e-12)
    assert np.array_equal(Line(times, values)(times), values)


@pytest.mark.parametrize("spread", [0.0, 0.8, 2.0])
@pytest.mark.parametrize("count", [4, 5, 6, 17, 400])
def test_powers_at_uneven_instants(count: int, spread: float) -> None:
    rng = np.random.default_rng(count)
    times = np.cumsum(0.01 * np.exp(spread * rng.normal(size=count)))
    values = rng.normal(size=count)
    expected = CubicSpline(times, values).c
    largest = np.abs(expected).max(axis=1)
    np.testing.assert_array_less(
        np.abs(cubic_powers(times, values) - expected).max(axis=1), 1e-9 * largest + 1e-300
    )


def test_powers_of_few_samples() -> None:
    line, parabola = np.array([0.0, 2.0]), np.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(cubic_powers(line, line**2), [[0.0], [0.0], [2.0], [0.0]])
    expected = [[0.0, 0.0], [1.0, 1.0], [0.0, 2.0], [0.0, 1.0]]
    np.testing.assert_allclose(cubic_powers(parabola, parabola**2), expected, atol=1e-15)
