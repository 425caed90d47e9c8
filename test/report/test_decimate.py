# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reduced curves look like the originals: no peak, no gap and no order is lost."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.judgement.outcome import SequenceFit, SignalFit
from sysid_ros.report.decimate import reduce_curves
from sysid_ros.report.signal_data import signal_data


@given(st.integers(0, 2**32 - 1), st.integers(50, 3000), st.integers(1, 40))
def test_extremes_survive(seed: int, samples: int, half_points: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.5, 1.5, samples))
    curve = rng.standard_normal(samples)
    curve[rng.random(samples) < 0.2] = np.nan
    reduced = reduce_curves(times, (curve, -curve), 2 * half_points)
    assert reduced.times.size <= max(2 * half_points, samples)
    assert np.all(np.diff(reduced.times) > 0)
    for original, kept in zip((curve, -curve), reduced.values, strict=True):
        assert kept.shape == reduced.times.shape
        np.testing.assert_array_equal(
            [np.nanmin(original), np.nanmax(original)], [np.nanmin(kept), np.nanmax(kept)]
        )


def test_one_bad_sample_is_still_visible() -> None:
    times = np.arange(600_000) / 1000.0
    curve = np.sin(times)
    curve[123_456] = 40.0
    reduced = reduce_curves(times, (curve,), 4000)
    peak = int(np.nanargmax(reduced.values[0]))
    assert reduced.values[0][peak] == 40.0
    assert abs(reduced.times[peak] - times[123_456]) < 600.0 / 2000


def test_rising_and_falling_keep_their_order() -> None:
    times = np.arange(1000.0)
    (rising, falling) = reduce_curves(times, (times, -times), 100).values
    assert np.all(np.diff(rising) > 0)
    assert np.all(np.diff(falling) < 0)


def test_gaps_stay_open() -> None:
    times = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(5.0, 6.0, 0.01)])
    short = reduce_curves(times, (np.ones(200),), 1000)
    assert np.isnan(short.values[0]).sum() == 1
    assert 1.0 < short.times[np.isnan(short.values[0])][0] < 5.0
    long = reduce_curves(times, (np.ones(200),), 60)
    inside = (long.times > 1.2) & (long.times < 4.8)
    assert inside.any() and np.isnan(long.values[0][inside]).all()


@pytest.mark.parametrize("samples", [0, 1, 2])
def test_hardly_any_samples(samples: int) -> None:
    curve = np.ones(samples)
    assert reduce_curves(np.arange(float(samples)), (curve,), 10).values[0].size == samples


def decode(packed: dict) -> np.ndarray:
    steps = np.frombuffer(base64.b64decode(packed["int16"]), "<i2").astype(float)
    return np.where(steps == -32768, np.nan, packed["offset"] + packed["scale"] * steps)


@pytest.mark.parametrize(
    "curve",
    [[0.0, 1.0, np.nan, -3.0], [5.0, 5.0, 5.0, 5.0], [np.nan] * 4, [1e300, -1e300, 0.0, np.inf]],
)
def test_packing(curve: list[float]) -> None:
    values = np.array(curve)
    signal = SignalFit("s", "rad", np.arange(4.0), values, values, np.zeros(4))
    sequence = SequenceFit("a", "training", (signal,), np.array([0.0]))
    packed = signal_data([sequence], {})[0]["signals"][0]["curves"]["measured"]
    expected = np.where(np.isinf(values), np.nan, values).clip(-1e150, 1e150)
    got = decode(packed)
    span = np.nanmax(expected) - np.nanmin(expected) if np.isfinite(expected).any() else 1.0
    known = np.isfinite(values)
    np.testing.assert_allclose(got[known], expected[known], rtol=0, atol=span / 65000)
    assert np.isnan(got[np.isnan(values)]).all()


def test_many_long_signals_stay_within_the_size() -> None:
    times = np.arange(20_000) / 100.0
    signal = SignalFit("s", "rad", times, np.sin(times), np.cos(times), np.sin(times))
    sequence = SequenceFit("a", "training", (signal,) * 20, np.array([0.0]))
    data = signal_data([sequence] * 10, {})
    size = sum(len(c["int16"]) for q in data for s in q["signals"] for c in s["curves"].values())
    assert size < 11e6
