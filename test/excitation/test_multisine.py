# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Multisines fill their limits without leaving them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.excitation import CommandLimits, ExcitationError, design_multisine

JOINTS = ("shoulder", "elbow")
LOWER = np.array([-1.0, -2.0])
UPPER = np.array([1.5, 0.5])
RATE = np.array([2.0, 3.0])
LIMITS = CommandLimits(LOWER, UPPER, RATE, np.full(2, np.inf))


@settings(max_examples=20)
@given(
    seed=st.integers(0, 1000),
    duration=st.floats(5.0, 20.0),
    highest=st.floats(0.5, 3.0),
    acceleration=st.sampled_from([np.inf, 12.0, 3.0]),
)
def test_multisine_stays_within_limits_and_uses_them(seed, duration, highest, acceleration):
    limits = CommandLimits(LOWER, UPPER, RATE, np.full(2, acceleration))
    motion = design_multisine(
        JOINTS, limits, duration=duration, lowest=0.1, highest=highest, seed=seed
    )
    times = np.arange(0.0, 10.0, 2e-3)
    values = motion.values(times[times < duration])
    rates = np.abs(np.diff(values, axis=0)) / 2e-3
    turns = np.abs(np.diff(values, 2, axis=0)) / 4e-6
    assert np.all(values >= LOWER) and np.all(values <= UPPER)
    assert np.all(rates <= RATE)
    assert np.all(turns <= acceleration)
    # One of the limits is what stopped the amplitudes from growing.
    if duration >= 10.0:
        reach = (values.max(axis=0) - values.min(axis=0)) / (UPPER - LOWER)
        used = (reach, rates.max(axis=0) / RATE, turns.max(axis=0) / acceleration)
        assert np.all(np.max(used, axis=0) > 0.6)


def test_multisine_gives_each_joint_its_own_frequencies():
    motion = design_multisine(JOINTS, LIMITS, duration=10.0)
    assert not set(motion.frequencies[0]) & set(motion.frequencies[1])


def test_multisine_without_room_for_harmonics_is_refused():
    with pytest.raises(ExcitationError, match=r"no harmonic of 0\.5 Hz up to 0\.6 Hz"):
        design_multisine(JOINTS, LIMITS, duration=5.0, lowest=0.5, highest=0.6)


def test_what_a_multisine_cannot_be_is_said_with_what_was_given():
    with pytest.raises(ExcitationError, match=r"at most 1, given 5 s, 0\.1 Hz and 3"):
        design_multisine(JOINTS, LIMITS, duration=5.0, fill=3.0)


def test_multisine_of_more_harmonics_than_memory_holds_is_refused():
    with pytest.raises(ExcitationError, match="more than 1000 harmonics"):
        design_multisine(JOINTS, LIMITS, duration=5.0, lowest=1e-300)


def test_a_thousand_harmonics_reach_a_limit_and_leave_none():
    motion = design_multisine(JOINTS, LIMITS, duration=10.0, lowest=0.1, highest=100.0, fill=1.0)
    times = np.arange(20_000) / 2000.0  # at which it was planned
    values = motion.values(times[:2000])
    assert motion.frequencies.size == 1000
    assert np.all(values >= LOWER) and np.all(values <= UPPER)
    rates = np.zeros(2)
    for part in np.array_split(times, 40):
        angles = 2.0 * np.pi * motion.frequencies[..., None] * part + motion.phases[..., None]
        amplitudes = 2.0 * np.pi * motion.frequencies * motion.amplitudes
        found = np.abs(np.einsum("nk,nkt->nt", amplitudes, np.cos(angles))).max(axis=1)
        rates = np.maximum(rates, found)
    np.testing.assert_allclose(rates, LIMITS.rate, rtol=1e-9)
