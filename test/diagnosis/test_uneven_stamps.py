# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Stamps that vary are a mistake where they are wrong, or where motion hides between them."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.recorded import Samples
from sysid_ros.diagnosis.evidence.sampling_mistakes import is_uneven, sampling_of


def course(times: FloatArray, noise: float) -> FloatArray:
    wave = np.sin(2.0 * np.pi * 0.7 * times) + 0.4 * np.sin(2.0 * np.pi * 1.9 * times)
    return np.asarray(wave + noise * np.random.default_rng(1).standard_normal(len(times)))


def uneven(times: FloatArray, stamps: FloatArray, noise: float = 5e-5) -> bool:
    """Whether the stamps of a motion that was seen at some times count as uneven."""
    sampled = sampling_of([Samples(stamps, course(times, noise))])
    assert sampled is not None
    return is_uneven(sampled)


def jittered(rate: float, share: float) -> FloatArray:
    random = np.random.default_rng(0)
    even = np.arange(0.0, 10.0, 1.0 / rate)
    return np.asarray(np.sort(even + share / rate * random.standard_normal(len(even))))


def test_true_stamps_may_vary_if_messages_are_many() -> None:
    times = jittered(1000.0, 0.2)
    assert not uneven(times, times)
    assert not uneven(times, times, noise=1e-3)


def test_wrong_stamps_are_uneven_at_any_rate() -> None:
    for rate in (100.0, 1000.0):
        even = np.arange(0.0, 10.0, 1.0 / rate)
        burst = even + 0.4 / rate * (np.arange(len(even)) % 2)  # of a machine that handles two
        assert uneven(even, burst)
        assert not uneven(even, even)


def test_gaps_are_uneven_where_motion_hides_in_them() -> None:
    times = np.arange(0.0, 10.0, 0.02)
    kept = times[np.random.default_rng(0).uniform(size=len(times)) > 0.3]
    assert uneven(kept, kept)
