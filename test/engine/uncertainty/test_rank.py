# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a Jacobian leaves open is the same under any error that it may have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.engine.uncertainty.rank import (
    DIFFERENCES,
    WINDOW_DIFFERENCES,
    directions,
    directions_of_gram,
)
from sysid_ros.engine.uncertainty.white_noise_intervals import calculate_intervals

ROUNDING = float(np.finfo(np.float64).eps)


def dependent(seed: int, p: int, missing: int) -> np.ndarray:
    """A Jacobian, (200, p), of units far apart, whose last columns follow from the first."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(200, p - missing)))[0]
    mixing = np.hstack([np.eye(p - missing), rng.uniform(0.3, 1.0, (p - missing, missing))])
    return basis @ mixing * 10.0 ** rng.uniform(-6.0, 6.0, p)


def perturbed(jacobian: np.ndarray, error: float, seed: int) -> np.ndarray:
    """Each column wrong by ``error`` of its length."""
    noise = np.random.default_rng(seed + 1).normal(size=jacobian.shape)
    noise *= np.linalg.norm(jacobian, axis=0) / np.linalg.norm(noise, axis=0)
    return jacobian + error * noise


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 20), st.integers(0, 2))
def test_ranks_stay_under_the_errors_of_derivatives(seed, p, missing):
    jacobian = dependent(seed, p, min(missing, p - 2))
    for error in (0.0, ROUNDING, DIFFERENCES):
        wrong = perturbed(jacobian, error, seed)
        assert directions(wrong, DIFFERENCES).open.sum() == min(missing, p - 2)
    for error in (0.0, ROUNDING, WINDOW_DIFFERENCES):
        wrong = perturbed(jacobian, error, seed)
        found = directions_of_gram(wrong.T @ wrong, WINDOW_DIFFERENCES)
        assert found.open.sum() == min(missing, p - 2)


@pytest.mark.parametrize("error", [0.0, ROUNDING, 1e-10, DIFFERENCES])
@pytest.mark.parametrize("seed", range(5))
def test_intervals_stay_under_the_errors_of_derivatives(error, seed):
    rng = np.random.default_rng(seed)
    one = rng.normal(size=(60, 1))
    # a gear and a mass that only their ratio is known of, and something else in a small unit
    jacobian = np.hstack([one, -3e4 * one, 1e-6 * rng.normal(size=(60, 1))])
    residual = rng.normal(size=60)
    exact, _ = calculate_intervals([residual], jacobian)
    covariance, half = calculate_intervals([residual], perturbed(jacobian, error, seed))
    assert np.isinf(half[:2]).all()
    assert np.isinf(np.diag(covariance)[:2]).all()
    assert covariance[2, 2] == pytest.approx(exact[2, 2], rel=1e-4)


def test_what_is_weakly_determined_keeps_its_interval():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 60, 1))
    _, half = calculate_intervals([rng.normal(size=60)], np.hstack([one, one + 1e-4 * other]))
    assert np.isfinite(half).all()


def test_a_silent_parameter_is_open_and_more_parameters_than_rows_too():
    assert directions(np.diag([1.0, 0.0, 1e-9]), DIFFERENCES).open.tolist() == [False, False, True]
    assert directions(np.ones((2, 4)), DIFFERENCES).open.sum() == 3
