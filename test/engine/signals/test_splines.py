# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Splines are those of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from sysid_ros.engine.signals import CubicSlope, Line


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
