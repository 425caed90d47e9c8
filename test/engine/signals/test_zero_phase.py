# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The zero-phase low-pass against SciPy's, and at the ends."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import zero_phase


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize(("cutoff", "count"), [(0.1, 1200), (0.3, 801), (0.9, 800)])
def test_away_from_the_ends_it_is_the_filter_that_scipy_has(
    cutoff: float, count: int, order: int
) -> None:
    signals = np.cumsum(np.random.default_rng(0).standard_normal((2, count)), axis=1)
    expected = scipy.signal.filtfilt(*scipy.signal.butter(order, cutoff), signals, axis=1)
    inner = slice(200, -200)
    filtered = zero_phase(signals, cutoff, order)
    assert filtered[:, inner] == pytest.approx(expected[:, inner], abs=1e-3)
    np.testing.assert_allclose(zero_phase(signals[1], cutoff, order), filtered[1], atol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 300])
def test_a_straight_line_stays_one_to_its_ends(n: int) -> None:
    line = np.linspace(-1.0, 3.0, n)
    assert zero_phase(line, 0.1, 3) == pytest.approx(line, abs=1e-3 if n > 3 else 2.0)


def test_half_the_power_passes_at_the_cutoff() -> None:
    wave = np.sin(0.25 * np.pi * np.arange(4000))
    filtered = zero_phase(wave, 0.25)
    assert np.std(filtered[500:-500]) / np.std(wave) == pytest.approx(0.5, rel=1e-3)


def test_transforms_are_of_lengths_without_large_prime_factors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lengths = []
    transform = np.fft.rfft

    def watched(signal: FloatArray) -> np.ndarray:
        lengths.append(signal.shape[-1])
        return transform(signal)

    monkeypatch.setattr(np.fft, "rfft", watched)
    signal = np.cumsum(np.random.default_rng(0).standard_normal(10_007))  # a prime number
    whole = zero_phase(signal, 0.1)
    np.testing.assert_allclose(zero_phase(signal[:9_973], 0.1)[:-200], whole[:9_773], atol=1e-6)
    for length in lengths:
        assert length < 1.13 * 10_200
        assert length // (length & -length) < 16  # what is left without the factors of two
