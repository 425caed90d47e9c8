# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Readings that a driver publishes several times count once, what a coarse sensor repeats stays."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.recording.mapping.repeats import first_readings

TIMES = np.arange(0.0, 10.0, 0.002)
MOTION = np.sin(1.7 * TIMES) + 0.4 * np.sin(4.1 * TIMES)


def published(interval: float, step: float, noise: float = 3e-5) -> tuple[np.ndarray, np.ndarray]:
    """What is published at each time, and when it was read."""
    rng = np.random.default_rng(3)
    read = np.arange(0.0, 10.0, interval) + rng.normal(0.0, 2e-4, round(10.0 / interval))
    which = np.maximum(np.searchsorted(read, TIMES, side="right") - 1, 0)
    values = np.interp(read, TIMES, MOTION) + rng.normal(0.0, noise, len(read))
    return (np.round(values / step) * step)[which][:, None], read[which]


@pytest.mark.parametrize("interval", [0.004, 0.01, 0.05])
@pytest.mark.parametrize("step", [1e-6, 2.0 * np.pi / 4096])
def test_the_first_sample_of_each_reading_counts(interval: float, step: float) -> None:
    values, read = published(interval, step)
    kept = first_readings(values)
    assert kept is not None
    assert np.count_nonzero(kept) == pytest.approx(10.0 / interval, rel=0.15)
    old = (TIMES - read)[kept]
    assert np.mean(old < 0.0025) > 0.9
    assert np.mean(TIMES - read) > 1.4 * np.mean(old)


def test_a_joint_that_rests_is_read_while_it_rests() -> None:
    values, _ = published(0.01, 1e-5)
    values[2000:3000] = values[2000]
    kept = first_readings(values)
    assert kept is not None
    assert np.count_nonzero(kept[2000:3000]) == pytest.approx(200, abs=10)


def moved_now_and_then() -> np.ndarray:
    """A joint on a coarse encoder that rests for as long as it likes, then goes by some steps."""
    rng = np.random.default_rng(5)
    rests = np.round(rng.lognormal(2.0, 1.5, 100)).astype(int) + 2
    return np.repeat(np.cumsum(rng.integers(1, 7, 100)), rests)[:, None] * 0.0015


@pytest.mark.parametrize(
    "values",
    [
        moved_now_and_then(),
        np.round(MOTION / 0.02)[:, None],  # a coarse encoder, steps of which last for samples
        np.round(0.05 * MOTION / 0.0015)[:, None],  # a slow joint
        MOTION[:, None],
        np.where(TIMES < 9.0, 0.3, MOTION)[:, None],  # at rest for most of the time
        np.zeros((5, 3)),
    ],
)
def test_what_stays_as_it_is(values: np.ndarray) -> None:
    assert first_readings(values) is None
