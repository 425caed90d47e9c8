# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rates, gaps, and where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.recording.bags import sampling
from sysid_ros.recording.mapping.gaps import after_silences, held_in_pauses, unknown_intervals


def test_a_stream_with_a_hole() -> None:
    times = np.concatenate([np.arange(0.0, 1.0, 0.01), np.arange(1.5, 2.0, 0.01)])
    result = sampling(times, 0.1)
    assert result.rate == pytest.approx(100.0)
    assert result.jitter == pytest.approx(0.0, abs=1e-12)
    assert result.gaps == 1
    assert result.longest_gap == pytest.approx(0.51)


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_samples_have_no_rate(count) -> None:
    assert sampling(np.zeros(count), 0.1).rate == 0.0


def test_what_was_sent_in_a_silence_is_known_from_the_next_command_on() -> None:
    """A bag paused for 2.5 s began anew with a goal of before, 1.4 rad away for half a second."""
    times = np.concatenate([np.arange(0.0, 8.0, 0.04), np.arange(11.0, 14.0, 0.04)])
    silent = ((8.0, 10.5),)
    assert after_silences(times, silent, 14.0) == ((10.5, 11.1),)  # and acts on by its delay
    assert after_silences(times[times < 8.0], silent, 14.0) == ((10.5, 14.0),)
    assert after_silences(np.array([1.0, 4.0, 11.0]), ((8.0, 8.3),), 14.0) == ()  # hardly lost one
    assert after_silences(times, ((8.0, 11.0),), 14.0) == ((11.0, 11.1),)


def test_a_short_silence_long_after_the_last_command_has_lost_none() -> None:
    """Of one that was sent three times at once, all the rest of the recording was left out."""
    thrice = np.array([1.0, 1.01, 1.02])
    assert after_silences(thrice, ((5.0, 5.15),), 10.0) == ()
    assert after_silences(thrice, ((1.1, 5.15),), 10.0) == ((5.15, 10.0),)
    assert after_silences(thrice, ((0.1, 0.3),), 10.0) == ((0.3, 1.1),)  # and none before it


def test_lines_between_commands_begin_at_the_end_of_a_pause() -> None:
    times = np.array([0.0, 0.02, 0.04, 1.0, 1.02])
    values = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    every, told = held_in_pauses(times, values, 0.1)
    assert every.tolist() == [0.0, 0.02, 0.04, pytest.approx(0.98), 1.0, 1.02]
    assert told[:, 0].tolist() == [0.0, 1.0, 2.0, 2.0, 3.0, 4.0]
    assert len(held_in_pauses(times[:1], values[:1], 0.1)[0]) == 1


def test_what_is_unknown_of_a_measurement() -> None:
    times = np.array([0.5, 0.55, 0.6, 0.9, 0.95])
    unknown = unknown_intervals(times, 0.0, 2.0, 0.1)
    assert unknown == ((0.0, 0.5), (0.6, 0.9), (0.95, 2.0))


def test_what_is_unknown_of_a_command() -> None:
    on_change = np.array([0.5, 1.0, 1.9])
    assert unknown_intervals(on_change, 0.0, 2.0, 0.1, lasting=True) == ((0.0, 0.5),)
    stream = np.arange(0.5, 1.0, 0.02)
    assert unknown_intervals(stream, 0.0, 2.0, 0.1) == (
        (0.0, 0.5),
        (pytest.approx(0.98), 2.0),
    )


@given(st.lists(st.floats(0.001, 0.5), min_size=0, max_size=30), st.booleans(), st.floats(0.0, 1.0))
def test_unknown_intervals_are_sorted_apart_and_inside(steps, lasting, lead) -> None:
    times = lead + np.concatenate([[0.0], np.cumsum(steps)])
    end = float(times[-1]) + 0.3
    unknown = unknown_intervals(times, 0.0, end, 0.1, lasting=lasting)
    flat = [instant for interval in unknown for instant in interval]
    assert flat == sorted(flat)
    assert all(0.0 <= instant <= end for instant in flat)
    for start, stop in unknown:
        assert not np.any((times > start) & (times < stop))
