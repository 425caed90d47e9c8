# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Half-open intervals of time, runs of samples, and when the time between samples is a gap."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray

Intervals = tuple[tuple[float, float], ...]

# No whole number: where samples are missing, rounding of their stamps does not decide.
_BRIDGED = 5.5  # usual intervals


def union(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """Merge intervals [s] that overlap or touch; the result is sorted."""
    merged: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def complement(intervals: Iterable[tuple[float, float]], start: float, end: float) -> Intervals:
    """Return what intervals [s] leave of [start, end)."""
    left: list[tuple[float, float]] = []
    for low, high in union(intervals):
        if low > start:
            left.append((start, min(low, end)))
        start = max(start, high)
    left.append((start, end))
    return tuple((low, high) for low, high in left if high > low)


def common(first: Iterable[tuple[float, float]], second: Intervals) -> Intervals:
    """Return what two sets of intervals [s] share."""
    return union((max(a, c), min(b, d)) for a, b in first for c, d in second)


def within(intervals: Iterable[tuple[float, float]], start: float, end: float) -> Intervals:
    """Return the parts of intervals [s] that lie in [start, end)."""
    return union((max(low, start), min(high, end)) for low, high in intervals)


def length(intervals: Iterable[tuple[float, float]]) -> float:
    """Return how long intervals [s] are together."""
    return sum(high - low for low, high in union(intervals))


def inside(times: FloatArray, intervals: Iterable[tuple[float, float]]) -> BoolArray:
    """Mark the times, (n,) in s, that lie in an interval."""
    merged = union(intervals)
    edges = np.array(merged, dtype=np.float64).ravel()
    marked: BoolArray = np.searchsorted(edges, times, side="right") % 2 == 1
    return marked


def runs_of(marked: BoolArray) -> IndexArray:
    """The first of each run of marked samples, and the one behind it, (k, 2)."""
    edges: IndexArray = np.flatnonzero(np.diff(marked, prepend=False, append=False))
    return edges.reshape(-1, 2)


def level_starts(values: FloatArray) -> IndexArray:
    """The first of each run of equal samples, (k,)."""
    return np.append(0, np.flatnonzero(np.diff(values) != 0.0) + 1)


def shortest_gap(times: FloatArray) -> float:
    """Return how far apart samples are at least for a gap between them: 5.5 usual intervals [s].

    Args:
      times: Of the samples, (n,) s, increasing; infinity is returned for less than two.
    """
    return _BRIDGED * float(np.median(np.diff(times))) if len(times) > 1 else np.inf
