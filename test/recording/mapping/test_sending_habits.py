# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What silences of commands mean, told by all messages at once or as they come."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.recording.mapping.sending_habits import SendingHabit, published_on_change

MAX_GAP = 0.1


def habit_of(times: FloatArray, values: FloatArray) -> SendingHabit:
    return SendingHabit.of(times, values.reshape(len(times), -1), MAX_GAP)


def pausing() -> tuple[FloatArray, FloatArray]:
    """Sent as it changes at 50 Hz, and still for 0.8 s of every 2 s."""
    times = np.arange(0.0, 6.0, 0.02)
    going = 1.2 * (times // 2.0) + np.minimum(times % 2.0, 1.2)
    ticks = np.round(np.cos(np.pi * going / 1.2) / 1e-3)
    changed = np.flatnonzero(np.diff(ticks, prepend=np.nan) != 0.0)
    return times[changed], ticks[changed]


@pytest.mark.parametrize(
    ("times", "on_change"),
    [(np.arange(0.0, 1.0, 0.02), False), (np.array([0.0, 2.0, 4.0]), True), (np.ones(1), True)],
)
def test_streams_and_commands_on_change(times, on_change) -> None:
    assert published_on_change(times, MAX_GAP) == on_change
    assert habit_of(times, np.zeros(len(times))).on_change == on_change


def test_a_stream_pauses_while_nothing_changes_or_loses_what_changes() -> None:
    times, ticks = pausing()
    assert not habit_of(times, ticks).on_change
    assert habit_of(times, ticks).rests_in_pauses
    every = np.arange(0.0, 6.0, 0.02)
    lossy = every[(every % 2.0 < 0.3) | (every % 2.0 > 0.7)]
    assert not habit_of(lossy, np.round(np.cos(np.pi * lossy) / 1e-3)).rests_in_pauses


def test_a_stream_that_is_lost_once_tells_nothing_of_pauses() -> None:
    times = np.concatenate([np.arange(0.0, 1.0, 0.02), np.arange(1.5, 2.0, 0.02)])
    assert not habit_of(times, np.zeros(len(times))).rests_in_pauses
    assert not habit_of(np.array([0.0, 1.0, 2.0]), np.zeros(3)).rests_in_pauses


def test_what_is_forgotten_still_counts() -> None:
    times, ticks = pausing()
    values, habit = ticks[:, np.newaxis], None
    for end in range(5, len(times) + 5, 5):  # of which the latest half second is kept
        latest = slice(max(end - 25, 0), end)
        habit = SendingHabit.of(times[latest], values[latest], MAX_GAP, habit)
    assert habit is not None and habit.rests_in_pauses
    whole = habit_of(times, ticks)
    assert (habit.steps, habit.pauses) == (whole.steps, whole.pauses)
    np.testing.assert_array_equal(habit.values, whole.values)
    np.testing.assert_array_equal(habit.across, whole.across)
    np.testing.assert_array_equal(habit.lasted, whole.lasted)


def test_what_jumps_about_is_where_it_was_whatever_is_lost() -> None:
    times, random = np.arange(0.0, 20.0, 0.01), np.random.default_rng(0)
    jumps = random.standard_normal(len(times))
    levels = np.repeat(random.integers(0, 2, 20).astype(float), 100)
    lossy = np.all([np.abs(times - at) > 0.2 for at in (3.0, 7.0, 12.0)], axis=0)
    for force in (jumps, np.sign(jumps), np.sin(2.0 * np.pi * times) + 0.5 * jumps):
        assert not habit_of(times[lossy], force[lossy]).rests_in_pauses
    assert habit_of(times[lossy], levels[lossy]).rests_in_pauses
