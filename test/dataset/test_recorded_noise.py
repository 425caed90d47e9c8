# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Noise that is told from a signal itself, whatever its motion."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.dataset import noise_of


@pytest.mark.parametrize("jitter", [0.0, 0.04])  # intervals, of stamps
@pytest.mark.parametrize("noise", [1e-3, 0.03])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_noise_of_slow_motion_is_what_it_is(seed: int, noise: float, jitter: float) -> None:
    assert told(0.03, noise, seed, jitter) == pytest.approx(noise, rel=0.15)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("highest", [0.15, 0.2, 0.3])  # of the rate
def test_fast_motion_is_no_noise(highest: float, seed: int) -> None:
    assert told(highest, 0.03, seed) == pytest.approx(0.03, rel=0.25)
    assert told(highest, 1e-3, seed) < 5e-3
    assert told(highest, 1e-3, seed, jitter=0.04) < 0.1  # of its spread


def told(highest: float, noise: float, seed: int, jitter: float = 0.0) -> float:
    """The noise that is told of five sines with a spread of one, the highest at that frequency."""
    rng, count = np.random.default_rng(seed), 1000
    times = np.arange(count) + jitter * rng.standard_normal(count)
    angles = 2.0 * np.pi * np.outer(times, np.linspace(0.2, 1.0, 5) * highest)
    motion = np.sin(angles + rng.uniform(0.0, 6.3, 5)).sum(axis=1) / np.sqrt(2.5)
    return noise_of(times / 200.0, motion + noise * rng.standard_normal(count))
