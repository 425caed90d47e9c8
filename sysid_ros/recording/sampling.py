"""How evenly a topic was sampled: rate, jitter, gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Intervals = tuple[tuple[float, float], ...]

_STEADY_SHARE = 0.9  # of the intervals must be short for a command to count as a stream


@dataclass(frozen=True)
class Sampling:
    """Statistics of strictly increasing times.

    Attributes:
      rate: 1 / median interval [Hz], 0 for fewer than two samples.
      jitter: 95th percentile of |interval - median| [s].
      gaps: Intervals longer than the allowed gap.
      longest_gap: The longest interval [s].
    """

    rate: float
    jitter: float
    gaps: int
    longest_gap: float


def sampling(times: FloatArray, max_gap: float) -> Sampling:
    """Describe how evenly times are spaced.

    Args:
      times: (n,) s, strictly increasing.
      max_gap: Longer intervals [s] count as gaps.
    """
    if len(times) < 2:
        return Sampling(0.0, 0.0, 0, 0.0)
    intervals = np.diff(times)
    median = float(np.median(intervals))
    return Sampling(
        rate=1.0 / median,
        jitter=float(np.percentile(np.abs(intervals - median), 95)),
        gaps=int(np.count_nonzero(intervals > max_gap)),
        longest_gap=float(intervals.max()),
    )


def published_on_change(times: FloatArray, max_gap: float) -> bool:
    """Tell a command that is published when it changes from a stream of commands.

    A stream has at least 90 % of its intervals within ``max_gap``.

    Args:
      times: (n,) s, strictly increasing.
      max_gap: Longest interval that a stream should have [s].
    """
    intervals = np.diff(times)
    return not len(intervals) or float(np.mean(intervals <= max_gap)) < _STEADY_SHARE


def unknown_intervals(
    times: FloatArray, start: float, end: float, max_gap: float, *, held: bool
) -> Intervals:
    """Find where nothing is known about a signal.

    These are the intervals between samples that are longer than ``max_gap``, and the stretches
    before the first and after the last sample. A held command that is published on change keeps
    its value in between and to the end.

    Args:
      times: (n,) s, strictly increasing, n >= 1.
      start: Where the recording starts [s].
      end: Where it ends [s].
      max_gap: Longest interval that is bridged [s].
      held: Whether the signal holds its last value between samples.

    Returns:
      Half-open intervals [s] in increasing order.
    """
    intervals = np.diff(times)
    on_change = held and published_on_change(times, max_gap)
    unknown: list[tuple[float, float]] = []
    if times[0] - start > max_gap:
        unknown.append((start, float(times[0])))
    if not on_change:
        for index in np.flatnonzero(intervals > max_gap):
            unknown.append((float(times[index]), float(times[index + 1])))
        if end - times[-1] > max_gap:
            unknown.append((float(times[-1]), end))
    return tuple(unknown)
