# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Each topic's commands have the instants of its own messages."""

from __future__ import annotations

import numpy as np

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
