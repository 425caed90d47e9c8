# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gaps, where nothing is known about a signal; commands that are sent on change have none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.time_intervals import Intervals, complement, shortest_gap

_STEADY_SHARE = 0.9  # of the intervals must be short for a command to count as a stream
_FEWEST_PAUSES = 2  # of a stream, as it goes on at one where it was by chance
_MOST = 0.5  # of its pauses
_USUAL_CHANGE = 90.0  # percentile of what it changes by between messages
_BY_CHANCE = 0.25  # of what moves for as long, that comes back as near


def published_on_change(times: FloatArray, max_gap: float) -> bool:
    """Tell a command that is published when it changes from a stream of commands.

    A stream has at least 90 % of its intervals within ``max_gap``.

    Args:
      times: (n,) s, strictly increasing.
      max_gap: Longest interval that a stream should have [s].
    """
    intervals = np.diff(times)
    return not len(intervals) or float(np.mean(intervals <= max_gap)) < _STEADY_SHARE


def pauses_without_change(times: FloatArray, values: FloatArray, max_gap: float) -> bool:
    """Tell a stream that pauses while nothing changes from one of which messages are lost.

    After most pauses the one goes on where it was, by no more than it changes from one message to
    the next; what is lost for as long has gone somewhere meanwhile. What jumps about, as forces of
    a controller do, has not: it is as near to where it was whatever is lost.

    Args:
      times: (n,) s, strictly increasing.
      values: (n,) or (n, k), what was sent.
      max_gap: Longer intervals [s] are pauses.
    """
    changes = np.abs(np.diff(values.reshape(len(times), -1), axis=0))
    pauses = np.diff(times) > max_gap
    if np.count_nonzero(pauses) < _FEWEST_PAUSES or np.all(pauses):
        return False
    usual = np.percentile(changes[~pauses], _USUAL_CHANGE, axis=0)
    goes_on = np.all(changes[pauses] <= usual, axis=1)
    often = float(np.mean(goes_on)) > _MOST
    return often and _coming_back(times, values, pauses, usual) < _BY_CHANCE


def _coming_back(
    times: FloatArray, values: FloatArray, pauses: BoolArray, usual: FloatArray
) -> float:
    """The share of stretches as long as a pause that move and end where they began."""
    values, steps = values.reshape(len(times), -1), np.diff(times)
    runs = np.diff(np.flatnonzero(np.concatenate([[True], pauses, [True]])))
    length = float(np.median(steps[pauses]) / np.median(steps[~pauses]))
    count = min(round(length), int(runs.max()) - 1)
    changed = np.any(np.diff(values, axis=0) != 0.0, axis=1)
    changes, paused = (np.append(0, np.cumsum(one)) for one in (changed, pauses))
    moves = (changes[count:] > changes[:-count]) & (paused[count:] == paused[:-count])
    far = np.abs(values[count:] - values[:-count])[moves]
    return float(np.mean(np.all(far <= usual, axis=1))) if len(far) else 0.0


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


def unknown_intervals(
    times: FloatArray,
    start: float,
    end: float,
    max_gap: float,
    *,
    held: bool,
    masked: Intervals = (),
    lasting: bool = False,
) -> Intervals:
    """Find where nothing is known about a signal although it counts.

    These are the intervals between samples that are longer than ``max_gap``, and such stretches
    before the first and after the last sample. A held command that is published on change keeps
    its value in between and to the end.

    Args:
      times: (n,) s, strictly increasing, n >= 1.
      start: Where the recording starts [s].
      end: Where it ends [s].
      max_gap: Longest interval that is bridged [s].
      held: Whether the signal holds its last value between samples.
      masked: When the signal does not count [s].
      lasting: Whether it is known from its first sample on whatever the intervals, as a
        trajectory is.

    Returns:
      Half-open intervals [s] in increasing order.
    """
    lasting = lasting or (held and published_on_change(times, max_gap))
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
