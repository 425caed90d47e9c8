# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A coordinate moves if it does in any stretch, however long the others are in which it rests."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.regressor.cutoff import choose_cutoff

RATE = 30.0  # Hz, as a slow bus has


def stretch(samples: int, amplitude: float) -> FloatArray:
    """A slow motion, or rest, read by an encoder with noise."""
    times = np.arange(samples) / RATE
    noise = 2e-4 * np.random.default_rng(samples).standard_normal(samples)
    return np.asarray(amplitude * np.sin(2.0 * np.pi * 0.3 * times) + noise)


@pytest.mark.parametrize(("amplitude", "moves"), [(0.3, True), (0.0, False)])
def test_joints_that_are_moved_one_by_one_are_not_still(amplitude: float, moves: bool) -> None:
    rests, moved = stretch(900, 0.0), [stretch(120 + i, amplitude) for i in range(8)]
    found = choose_cutoff([rests, *moved], RATE)
    assert (found.motion_end > 0.0) == moves
    alone = choose_cutoff([rests] if not moves else moved, RATE)
    assert found.noise_density == pytest.approx(alone.noise_density)


@pytest.mark.parametrize("seed", range(8))
def test_short_stretches_of_a_joint_at_rest_are_noise(seed: int) -> None:
    random = np.random.default_rng(seed)
    lengths = [1000, *random.integers(64, 256, 30)]
    found = choose_cutoff([1e-4 * random.standard_normal(length) for length in lengths], 100.0)
    assert found.motion_end == 0.0


def test_noise_that_is_strongest_at_half_the_rate_is_no_motion() -> None:
    noise = 1e-4 * np.random.default_rng(0).standard_normal(1000)
    found = choose_cutoff([noise + 4e-5 * (-1.0) ** np.arange(1000)], 100.0)
    assert found.motion_end == 0.0
