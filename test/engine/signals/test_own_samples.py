# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Each topic's commands have the instants of its own messages."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.signals import SignalType, TimeSeries, own_instants, value_at


def held(*topics: tuple[np.ndarray, int]) -> TimeSeries:
    """Commands of several topics, so many each, on one axis of time as recordings are read."""
    times = np.unique(np.concatenate([own for own, _ in topics]))
    columns, mapping = [], {}
    for k, (own, count) in enumerate(topics):
        for n in range(count):
            values = np.where(own < 1.0, np.sin((3.0 + n) * own), np.sin(3.0 + n))
            mapping[f"m{k}{n}"] = (SignalType.MjCtrl, np.array([len(columns)]))
            columns.append(value_at(own, values, times, "zoh"))
    return TimeSeries(times, np.column_stack(columns), mapping, ("zoh",) * len(columns))


def test_one_topic_has_all_instants() -> None:
    times = 0.01 * np.arange(200)
    for own in own_instants(held((times, 3))).values():
        np.testing.assert_array_equal(own, times)


def test_of_two_topics_each_has_its_own_also_where_commands_rest() -> None:
    even = 0.01 * np.arange(200)
    late = even + np.random.default_rng(0).uniform(2e-4, 5e-4, 200)
    found = own_instants(held((even, 2), (late, 1)))
    for name, own in (("m00", even), ("m01", even), ("m10", late)):
        moving = own < 0.99
        np.testing.assert_allclose(found[name][1:][: moving.sum() - 1], own[moving][1:], atol=1e-12)
        assert np.median(np.diff(found[name])) > 0.009
        rest = found[name][found[name] > 1.02]
        assert not len(rest) or np.diff(rest).max() < 0.02


@pytest.mark.parametrize("steps", [False, True])
def test_of_one_topic_whose_joints_move_in_turn_each_has_all_instants(steps: bool) -> None:
    """Either moves for 6 s; or every second one of them steps, which is told 50 times."""
    times = 0.02 * np.arange(600)
    first = np.where(times < 6.0, np.sin(3.0 * times), np.sin(18.0))
    other = np.where(times < 6.0, 0.0, np.sin(3.0 * times - 18.0))
    if steps:
        first, other = np.sin(times // 2.0), np.sin((times + 1.0) // 2.0)
    mapping = {
        name: (SignalType.MjCtrl, np.array([column])) for column, name in enumerate(("a", "b"))
    }
    told = TimeSeries(times, np.column_stack([first, other]), mapping, ("zoh", "zoh"))
    for own in own_instants(told).values():
        np.testing.assert_array_equal(own, times)
