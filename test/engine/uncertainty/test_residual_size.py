# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What correlated residuals are worth."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.uncertainty.residual_size import effective_samples


def autoregression(rng: np.random.Generator, coefficient: float, count: int) -> np.ndarray:
    series = rng.standard_normal(count)
    for i in range(1, count):
        series[i] += coefficient * series[i - 1]
    return series


@pytest.mark.parametrize("coefficient", [0.0, 0.5, 0.9])
def test_autoregressions_are_worth_what_theory_says(coefficient: float) -> None:
    rng = np.random.default_rng(3)
    parts = [autoregression(rng, coefficient, 2000) for _ in range(20)]
    expected = 40_000 * (1.0 - coefficient) / (1.0 + coefficient)
    assert effective_samples(parts) == pytest.approx(expected, rel=0.12)


def test_extremes() -> None:
    assert effective_samples([np.ones(1000)]) < 4.0
    assert effective_samples([np.zeros(10)]) == 10.0
    assert effective_samples([np.array([1.0, np.nan])]) == 1.0
    assert effective_samples([np.array([1.0, -1.0] * 50)]) == 100.0
    assert effective_samples([np.array([1.0])]) == 1.0
