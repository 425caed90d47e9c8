# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Playback: whatever happens between two messages, none is a step; stops are soft."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from excitation_limits import assert_no_step
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sysid_ros.excitation import (
    CommandGuard,
    CommandLimits,
    ExcitationError,
    ExcitationPath,
    Playback,
    TabulatedReference,
    check_limits,
    design_multisine,
)
from sysid_ros.excitation.playback import missed_messages

JOINTS = ("shoulder", "elbow")
LOWER = np.array([-1.0, -2.0])
UPPER = np.array([1.5, 0.5])
RATE = np.array([2.0, 3.0])


@lru_cache(maxsize=64)
def multisine_path(acceleration, *, seed=0, highest=2.0, rest=(0.3, -0.1), fill=0.7):
    """A path that keeps its limits; where it would not, its ramp is lengthened and it shrinks."""
    limits = CommandLimits(LOWER, UPPER, RATE, np.array(acceleration))
    for ramp, share in ((1.0, fill), (2.0, fill), (4.0, 0.5 * fill), (4.0, 0.2 * fill)):
        motion = design_multisine(
            JOINTS, limits, duration=8.0, lowest=0.2, highest=highest, seed=seed, fill=share
        )
        path = ExcitationPath(motion, np.array(rest), ramp=ramp)
        try:
            check_limits(path, limits)
        except ExcitationError:
            continue
        return path, limits
    raise AssertionError("no such motion keeps its limits")


def played(playback: Playback, gaps, stop_at: int | None = None) -> np.ndarray:
    commands = []
    for tick, gap in enumerate(gaps):
        if tick == stop_at:
            playback.stop()
        commands.append(playback.advance(gap)[0])
        if playback.finished:
            break
    return np.array(commands)


def test_playback_leaves_from_and_returns_to_rest():
    path, limits = multisine_path((np.inf, np.inf))
    playback = Playback(path, limits, period=0.01)
    values = played(playback, [0.01] * 10_000)
    assert len(values) == 800 and playback.finished
    np.testing.assert_allclose(values[0], path.rest, atol=1e-4)
    np.testing.assert_allclose(values[-1], path.rest)
    times = np.arange(1, 801) * 0.01
    np.testing.assert_allclose(values, path.commands(times), atol=1e-9)


# In periods: in time, a little late, interrupted for a moment, for long, and the clock set back.
GAPS = st.one_of(
    st.just(1.0),
    st.floats(0.5, 2.0),
    st.floats(2.0, 100.0),
    st.floats(1e2, 1e5),
    st.floats(-1e3, 0),
)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 3),
    acceleration=st.tuples(st.sampled_from([4.0, 30.0, 300.0]), st.sampled_from([5.0, 50.0])),
    period=st.sampled_from([0.001, 0.004, 0.01, 0.02, 0.05]),
    stop_time=st.floats(1e-3, 1.0),
    late=st.dictionaries(st.integers(0, 300), GAPS, max_size=12),
    stop_at=st.none() | st.integers(0, 300),
)
def test_no_message_is_a_step(seed, acceleration, period, stop_time, late, stop_at):
    path, limits = multisine_path(acceleration, seed=seed)
    playback = Playback(path, limits, period=period, stop_time=stop_time)
    guard = CommandGuard(limits, period, path.rest)
    commands = []
    for tick in range(2000):
        gap = late.get(tick, 1.0) * period
        if tick == stop_at:
            playback.stop()
        if missed := missed_messages(gap, period):
            guard.left_alone(missed)
        commands.append(guard.passed(playback.advance(gap))[0])
        if playback.finished or (stop_at is None and tick == 400):
            break
    assert playback.finished or stop_at is None
    assert not guard.acted  # playback keeps the limits by itself
    interruptions = sum(not 0.0 <= gap <= 2.0 for gap in late.values())
    begun = assert_no_step(
        np.array([path.rest, path.rest, *commands]), period, RATE, limits.acceleration
    )
    assert begun <= interruptions
    assert np.all(commands >= LOWER - 1e-6) and np.all(commands <= UPPER + 1e-6)


@settings(max_examples=15)
@example(seed=0, acceleration=4.0, late={0: 100.0}, stop_at=None)  # nothing has been told yet
@given(
    seed=st.integers(0, 3),
    acceleration=st.sampled_from([4.0, 12.0, 100.0]),
    late=st.dictionaries(st.integers(0, 200), st.integers(2, 200), max_size=6),
    stop_at=st.none() | st.integers(0, 200),
)
def test_a_receiver_that_was_told_how_to_stop_never_sees_a_step(seed, acceleration, late, stop_at):
    period = 0.01
    path, limits = multisine_path((acceleration, acceleration), seed=seed)
    playback = Playback(path, limits, period=period, announces=True)
    guard = CommandGuard(limits, period, path.rest)
    obeyed = [path.rest, path.rest]  # what the receiver does, period by period
    told = np.array([path.rest])
    for tick in range(250):
        gap = late.get(tick, 1) * period
        if tick == stop_at:
            playback.stop()
        if missed := int(playback.alone(gap)):
            obeyed += [told[min(i, len(told) - 1)] for i in range(1, missed + 1)]
            guard.left_alone(missed)
        told = guard.passed(playback.advance(gap))
        obeyed.append(told[0])
        if playback.finished:
            break
    obeyed += list(told[1:])  # nothing follows any more
    assert not guard.acted
    begun = assert_no_step(np.array(obeyed), period, RATE, limits.acceleration)
    assert begun == 0


@settings(max_examples=20)
@given(at=st.integers(1, 799), stop_time=st.floats(0.05, 0.8))
def test_stop_brakes_along_the_path_and_takes_the_stop_time_at_least(at, stop_time):
    path, limits = multisine_path((10.0, 10.0))
    playback = Playback(path, limits, period=0.01, stop_time=stop_time)
    values = played(playback, [0.01] * 5000, stop_at=at)
    braking = values[at:]
    if len(values) < 800:  # it did not get to the end of the path before
        assert len(braking) >= round(stop_time / 0.01) - 1
    along = path.commands(np.arange(0.0, 8.0, 1e-3))
    away = np.abs(braking[:, None, :] - along[None, :, :]).max(axis=2).min(axis=1)
    assert away.max() < RATE.max() * 1e-3  # between two of the path's samples


def test_stop_takes_longer_where_the_acceleration_limit_demands_it():
    times = np.array([0.0, 2.0, 6.0, 8.0])
    table = np.array([[0.0], [0.0], [4.0], [4.0]])  # 1 rad/s
    limits = CommandLimits(np.full(1, -9.0), np.full(1, 9.0), np.full(1, 2.0), np.full(1, 4.0))
    path = ExcitationPath(TabulatedReference(("a",), times, table, limits.acceleration), table[0])
    playback = Playback(path, limits, period=0.01, stop_time=0.01)
    values = played(playback, [0.01] * 1000, stop_at=400)
    assert 25 <= len(values) - 400 <= 33  # 1 rad/s at 4 rad/s2 is 0.25 s


def test_stop_releases_an_effort():
    push = TabulatedReference(("a",), np.array([0.0, 10.0]), np.full((2, 1), 3.0), np.full(1, 1.0))
    limits = CommandLimits(np.full(1, -5.0), np.full(1, 5.0), np.full(1, 100.0), np.full(1, np.inf))
    path = ExcitationPath(push, np.zeros(1), ramp=1.0)
    playback = Playback(path, limits, period=0.01, stop_time=0.2, release=True)
    values = played(playback, [0.01] * 1000, stop_at=500)
    assert values[499] == pytest.approx(3.0)
    assert values[-1] == pytest.approx(0.0)
    assert len(values) == 520
    assert np.abs(np.diff(values[:, 0])).max() < 0.3  # fades, does not drop


@pytest.mark.parametrize(("period", "stop_time"), [(0.0, 0.3), (0.01, 0.0)])
def test_times_that_are_not_positive_are_refused(period, stop_time):
    path, limits = multisine_path((np.inf, np.inf))
    with pytest.raises(ExcitationError, match="must both be positive"):
        Playback(path, limits, period=period, stop_time=stop_time)
