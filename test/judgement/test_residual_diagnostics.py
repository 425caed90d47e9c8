# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Residual diagnostics against residuals whose properties are known."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.signal

from sysid_ros.judgement.outcome import FloatArray, SequenceFit, SignalFit
from sysid_ros.judgement.residual_diagnostics import residual_diagnostics

STEP = 0.01


def sequence(residual: FloatArray, name: str = "s") -> SequenceFit:
    times = STEP * np.arange(residual.size)
    zero = np.zeros(residual.size)
    signal = SignalFit(name, "rad", times, residual, 2.0 * residual, zero)
    return SequenceFit("a", "validation", (signal,), np.array([0.0]))


def test_white_noise() -> None:
    rng = np.random.default_rng(3)
    (entry,) = residual_diagnostics([sequence(0.5 * rng.standard_normal(20_000))])
    assert entry.std == pytest.approx(0.5, rel=0.02)
    outside = np.abs(entry.autocorrelation[1:]) > entry.white_limit
    assert outside.mean() < 0.12
    widths = np.diff(entry.bin_edges)
    assert float(entry.density @ widths) == pytest.approx(0.999, abs=1e-3)
    np.testing.assert_allclose(entry.residual_quantiles, entry.quantiles, atol=0.1)
    # power density of white noise: 2 sigma^2 dt over all frequencies
    assert np.median(entry.spectrum) == pytest.approx(2 * 0.25 * STEP, rel=0.1)


def test_memory_shows_despite_gaps() -> None:
    rng = np.random.default_rng(4)
    noise = rng.standard_normal(50_000)
    filtered = scipy.signal.lfilter([1.0], [1.0, -0.9], noise)  # correlation 0.9 ** lag
    filtered[10_000:14_000] = np.nan
    filtered[::7] = np.nan
    (entry,) = residual_diagnostics([sequence(filtered)])
    lags = np.round(entry.lags / STEP).astype(int)
    np.testing.assert_allclose(entry.autocorrelation, 0.9**lags, atol=0.06)
    assert entry.autocorrelation[0] == 1.0


def test_a_tone_is_found() -> None:
    times = STEP * np.arange(8000)
    tone = np.sin(2 * np.pi * 7.0 * times)
    (entry,) = residual_diagnostics([sequence(tone)])
    peak = entry.frequencies[int(np.argmax(entry.spectrum))]
    assert peak == pytest.approx(7.0, rel=0.05)


def test_initial_residuals_outside_the_bins_count() -> None:
    rng = np.random.default_rng(5)
    (entry,) = residual_diagnostics([sequence(rng.standard_normal(5000))])
    # measured - initial is minus the residual here: the same distribution mirrored
    np.testing.assert_allclose(entry.density_initial.sum(), entry.density.sum(), rtol=0.01)


def test_signals_are_pooled_by_name_and_useless_ones_left_out() -> None:
    rng = np.random.default_rng(6)
    parts = [sequence(rng.standard_normal(100), name) for name in ("s", "t", "s")]
    nothing = [sequence(np.full(100, np.nan), "u"), sequence(np.ones(100), "v")]
    entries = residual_diagnostics([*parts, *nothing])
    assert [(entry.signal, entry.count) for entry in entries] == [("s", 200), ("t", 100)]
