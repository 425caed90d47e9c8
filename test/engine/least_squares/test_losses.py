# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robust losses of the windowed fit: derivatives, the mean absolute error, honest errors."""

from __future__ import annotations

import numpy as np
import pendulum
import pytest
import scipy.optimize
import scipy.stats

from sysid_ros.engine.estimation.fit import fit
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.least_squares.losses import LOSSES, loss_named
from sysid_ros.engine.signals.timeseries import TimeSeries


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_slope_and_bend_are_derivatives(name):
    loss = loss_named(name)
    z = np.array([0.01, 0.3, 0.9, 1.2, 7.0, 300.0])
    h = 1e-6 * z
    slope = (loss.rho(z + h) - loss.rho(z - h)) / (2.0 * h)
    np.testing.assert_allclose(loss.slope(z), slope, rtol=1e-6)
    if loss.bend is not None:
        bend = (loss.slope(z + h) - loss.slope(z - h)) / (2.0 * h)
        np.testing.assert_allclose(loss.bend(z), bend, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("noise", [scipy.stats.norm(), scipy.stats.t(4), scipy.stats.laplace()])
def test_the_standard_error_of_a_mean_is_the_one_it_has(name, noise):
    """The location of samples: predicted against observed spread of the estimate."""
    loss = loss_named(name)
    n, repetitions = 600, 300
    estimates, predicted = [], []
    for seed in range(repetitions):
        x = noise.rvs(size=n, random_state=seed)
        centre = scipy.optimize.minimize_scalar(
            lambda c, x=x: loss.cost(x - c), bounds=(-1.0, 1.0), method="bounded"
        ).x
        residual = x - centre
        information = np.sum(loss.gradient_weight(residual)) * loss.curvature(residual)
        estimates.append(centre)
        predicted.append(np.sqrt(loss.white_square(residual) / n / information))
    assert np.mean(predicted) == pytest.approx(np.std(estimates), rel=0.12)


def test_absolute_loss_minimizes_the_mean_absolute_error_of_a_fit():
    control, measured = pendulum.recording(duration=4.0, noise=2e-3)
    rng = np.random.default_rng(3)
    data = measured.data + 0.3 * (rng.random(measured.data.shape) < 0.05)
    corrupted = pendulum.sequences(
        control, TimeSeries(measured.times, data, measured.signal_mapping)
    )
    known = SignalNoise({"angle": 2e-3})
    found = {
        loss: fit([corrupted], pendulum.parameters(), FitSettings(loss=loss), known=known)
        for loss in ("linear", "absolute")
    }
    assert found["absolute"].status.value in ("CONVERGED", "STALLED")
    for name, truth in pendulum.TRUTH.items():
        error = abs(found["absolute"][name].value - truth)
        assert error < 4.0 * found["absolute"][name].standard_error
        assert error < 0.05 * truth
    errors = {
        loss: max(abs(result[name].value / truth - 1.0) for name, truth in pendulum.TRUTH.items())
        for loss, result in found.items()
    }
    assert errors["absolute"] < 0.2 * errors["linear"]
