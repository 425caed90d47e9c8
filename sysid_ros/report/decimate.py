# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Long signals reduced to what a screen can show, with every peak kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.time_intervals import shortest_gap

_MIN_POINTS = 200


@dataclass(frozen=True)
class Curves:
    """Several curves over the same instants; NaN breaks a curve.

    ``times`` is (n,), strictly increasing, in seconds; every entry of ``values`` is (n,).
    """

    times: FloatArray
    values: tuple[FloatArray, ...]
    reduced: bool  # whether samples were left out


def points_each(budget: int, curves: int, most: int) -> int:
    """Points of each of so many curves that share a budget: even, at most ``most``, never few."""
    return max(_MIN_POINTS, min(most, budget // max(1, curves))) // 2 * 2


def reduce_curves(times: FloatArray, values: Sequence[FloatArray], max_points: int) -> Curves:
    """Reduce curves to at most ``max_points`` points, or break them at gaps if they are short.

    Time is cut into equal buckets; each keeps its smallest and its largest value, in the order
    in which they most likely occurred. What remains looks the same as the original as long as a
    bucket is not wider than a pixel, and no peak is lost beyond that.

    Args:
      times: (n,) s, increasing.
      values: Curves of shape (n,); NaN where there is no value.
      max_points: Even, at least 2.
    """
    if times.size <= max_points:
        return _broken_at_gaps(times, values)
    buckets = max_points // 2
    edges = np.linspace(times[0], times[-1], buckets + 1)
    starts = np.searchsorted(times, edges[:-1], side="left")
    ends = np.append(starts[1:], times.size)
    filled = np.flatnonzero(ends > starts)
    quarter = 0.25 * (edges[1] - edges[0])
    points = (edges[:-1, None] + np.array([quarter, 3.0 * quarter])).ravel()
    reduced = tuple(_extremes(curve, starts, ends, filled) for curve in values)
    return Curves(points, reduced, reduced=True)


def _extremes(
    curve: FloatArray,
    starts: np.ndarray[tuple[int], np.dtype[np.intp]],
    ends: np.ndarray[tuple[int], np.dtype[np.intp]],
    filled: np.ndarray[tuple[int], np.dtype[np.intp]],
) -> FloatArray:
    """Smallest and largest value per bucket, shape (2 * buckets,); NaN for empty buckets."""
    result = np.full((len(starts), 2), np.nan)
    smallest = np.fmin.reduceat(curve, starts[filled])
    largest = np.fmax.reduceat(curve, starts[filled])
    rising = curve[ends[filled] - 1] >= curve[starts[filled]]
    result[filled, 0] = np.where(rising, smallest, largest)
    result[filled, 1] = np.where(rising, largest, smallest)
    return result.ravel()


def _broken_at_gaps(times: FloatArray, values: Sequence[FloatArray]) -> Curves:
    """Insert one instant without values into every interval that is unusually long."""
    wide = np.flatnonzero(np.diff(times) > shortest_gap(times))
    middles = 0.5 * (times[wide] + times[wide + 1])
    return Curves(
        np.insert(times, wide + 1, middles),
        tuple(np.insert(curve, wide + 1, np.nan) for curve in values),
        reduced=False,
    )
