# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gaps, where nothing is known about a signal; commands that are sent on change have none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.time_intervals import Intervals, complement, shortest_gap

_STILL_ACTS = 0.1  # s, by which robots follow their commands late


def held_in_pauses(
    times: FloatArray, values: FloatArray, max_gap: float
) -> tuple[FloatArray, FloatArray]:
    """Add the value before each pause once more at its end, for whoever joins values by lines.

    Args:
      times: (n,) s, strictly increasing.
      values: (n, k), what was sent.
      max_gap: Longer intervals [s] are pauses, which end one usual interval before the next value.
    """
    intervals = np.diff(times)
    before = np.flatnonzero(intervals > max_gap)
    if not len(before):
        return times, values
    ends = times[before + 1] - min(float(np.median(intervals)), max_gap)
    return np.insert(times, before + 1, ends), np.insert(values, before + 1, values[before], axis=0)


def silences(topics: Sequence[FloatArray], max_gap: float) -> Intervals:
    """Find where nothing at all was recorded, in which anything may have been said or have moved.

    A recorder is held up for as long, or a clock that dates everything is set forward, in which
    case no time passed.

    Args:
      topics: Times of the messages of each, (n,) s.
      max_gap: Longest interval that is bridged [s].
    """
    times = np.unique(np.concatenate(topics))
    # By the quickest topic's interval: messages of several that come together come seldom, too.
    least = max(max_gap, min(shortest_gap(np.unique(one)) for one in topics))
    long = np.flatnonzero(np.diff(times) > least)
    return tuple((float(times[k]), float(times[k + 1])) for k in long)


def after_silences(times: FloatArray, silent: Intervals, end: float) -> Intervals:
    """Find where a held command may be another one than the last that was recorded.

    What is sent while nothing is recorded stays in force until the next one that is, and acts on
    by its delay. A silence that is shorter than the usual interval between commands, or than the
    last one had stood for, has hardly lost one.

    Args:
      times: (n,) s, strictly increasing, when commands came.
      silent: When nothing at all was recorded [s], in increasing order.
      end: Where the recording ends [s].
    """
    usual = float(np.median(np.diff(times))) if len(times) > 1 else np.inf
    behind = np.append(times, max(end, times[-1]))
    found = []
    for low, high in silent:
        following = float(behind[np.searchsorted(times, high)])
        stood = low - times[max(np.searchsorted(times, low, side="right") - 1, 0)]
        if high - low > max(usual, stood):
            found.append((high, min(following + _STILL_ACTS, max(end, following))))
    return tuple(found)


def unknown_intervals(
    times: FloatArray,
    start: float,
    end: float,
    max_gap: float,
    *,
    masked: Intervals = (),
    lasting: bool = False,
) -> Intervals:
    """Find where nothing is known about a signal although it counts.

    These are the intervals between samples that are longer than ``max_gap``, and such stretches
    before the first and after the last sample.

    Args:
      times: (n,) s, strictly increasing, n >= 1.
      start: Where the recording starts [s].
      end: Where it ends [s].
      max_gap: Longest interval that is bridged [s].
      masked: When the signal does not count [s].
      lasting: Whether it is known from its first sample on whatever the intervals, as a trajectory
        is, and a command that is sent as it changes.

    Returns:
      Half-open intervals [s] in increasing order.
    """
    unknown: list[tuple[float, float]] = []
    for low, high in complement(masked, start, end):
        if lasting:
            edges = np.array([low, min(high, float(times[0]))])
        else:
            known = times[(times > low) & (times < high)]
            edges = np.concatenate([[low], known, [high]])
        for index in np.flatnonzero(np.diff(edges) > max_gap):
            unknown.append((float(edges[index]), float(edges[index + 1])))
    return tuple(unknown)
