# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sets of time: union and complement fill the line, and membership agrees with both."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.time_intervals import (
    common,
    complement,
    inside,
    length,
    level_starts,
    runs_of,
    shortest_gap,
    union,
    within,
)

INTERVALS = st.lists(st.tuples(st.integers(-20, 20), st.integers(-20, 20)), max_size=6)


@given(INTERVALS)
def test_union_complement_and_membership(intervals) -> None:
    points = np.arange(-25, 25) + 0.5
    expected = np.zeros(len(points), dtype=bool)
    for low, high in intervals:
        expected |= (points >= low) & (points < high)
    np.testing.assert_array_equal(inside(points, intervals), expected)
    np.testing.assert_array_equal(inside(points, union(intervals)), expected)
    rest = complement(intervals, -25, 25)
    np.testing.assert_array_equal(inside(points, rest), ~expected)
    assert length(intervals) + length(rest) == 50
    np.testing.assert_array_equal(
        inside(points, within(intervals, -3, 4)), expected & (points > -3) & (points < 4)
    )


@given(INTERVALS, INTERVALS)
def test_what_is_common_is_inside_of_both(first, second) -> None:
    points = np.arange(-25, 25) + 0.5
    both = inside(points, first) & inside(points, second)
    np.testing.assert_array_equal(inside(points, common(first, tuple(second))), both)


def test_intervals_are_half_open_and_touching_ones_merge() -> None:
    assert union([(1.0, 2.0), (2.0, 3.0), (5.0, 4.0)]) == ((1.0, 3.0),)
    assert inside(np.array([0.9, 1.0, 2.9, 3.0]), [(1.0, 3.0)]).tolist() == [0, 1, 1, 0]
    assert complement([], 0.0, 1.0) == ((0.0, 1.0),)


def test_a_gap_is_longer_than_five_intervals_whatever_rounding_does() -> None:
    times = np.delete(1e9 + 0.01 * np.arange(40), slice(11, 15))  # four are missing
    assert np.diff(times).max() < shortest_gap(times)
    assert np.diff(np.delete(times, 11)).max() > shortest_gap(times)
    assert shortest_gap(times[:1]) == np.inf


@given(st.lists(st.booleans(), max_size=12))
def test_runs_hold_what_is_marked_and_nothing_else(marks) -> None:
    marked = np.array(marks, dtype=bool)
    runs = runs_of(marked)
    held = [k for first, behind in runs.tolist() for k in range(first, behind)]
    assert held == np.flatnonzero(marked).tolist()
    assert np.all(runs[1:, 0] > runs[:-1, 1])  # two that touch are one


def test_levels_begin_where_a_sample_differs_from_the_one_before() -> None:
    assert level_starts(np.array([2.0, 2.0, 3.0, 2.0, 2.0])).tolist() == [0, 2, 3]
    assert level_starts(np.array([1.0])).tolist() == [0]
