# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The relation of a topic's clock of stamps to that of the recorder.

A message is received after it was stamped, by the transport's least delay at the least; queueing
only adds to it. So the relation of the clocks is the lower envelope of receipt minus stamp, not
its middle (Paxson, On calibrating measurements of packet transit times, 1998). The envelope is
taken as the least delay in each of many stretches, and a line through those by the median of
slopes (Theil and Sen), which a few wrong stamps do not move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray

_STRETCHES = 40
_LEAST_STRETCHES = 5  # fewer do not show a drift
FASTEST_CLOCK = 1e-3  # s/s; no clock of a computer is off by more


@dataclass(frozen=True)
class ClockRelation:
    """The relation of receive times to stamps."""

    median: float  # median of receipt minus stamp [s]: clock offset and transport together
    spread: float  # 95th percentile of the deviation from it [s]: queueing
    offset: float  # receipt minus stamp without queueing, at the first stamp [s]
    drift: float  # how the offset grows with the stamps [s/s]: clocks that run apart

    def corrected(self, stamps_ns: IntArray, *, drift: bool) -> IntArray:
        """Translate stamps to the recorder's clock.

        Args:
          stamps_ns: (n,) the stamps that were compared.
          drift: Whether to take out the drift too, or the mean offset alone.
        """
        since = (stamps_ns - stamps_ns.min()).astype(np.float64) / 1e9
        middle = 0.5 * float(since.max())
        shift = self.offset + self.drift * (since if drift else np.full_like(since, middle))
        return np.asarray(stamps_ns + np.rint(1e9 * shift).astype(np.int64))


def relate(stamps_ns: IntArray, log_ns: IntArray) -> ClockRelation:
    """Compare stamps with receive times.

    Args:
      stamps_ns: (n,) stamps, n >= 1.
      log_ns: (n,) receive times of the same messages.
    """
    if np.array_equal(log_ns, stamps_ns):  # as recorders write that are not told of stamps
        return ClockRelation(0.0, 0.0, 0.0, 0.0)
    delays = (log_ns - stamps_ns).astype(np.float64) / 1e9
    since = (stamps_ns - stamps_ns.min()).astype(np.float64) / 1e9
    median = float(np.median(delays))
    offset, drift = _envelope(since, delays)
    spread = float(np.percentile(np.abs(delays - median), 95))
    return ClockRelation(median, spread, offset, drift)


def _envelope(since: FloatArray, delays: FloatArray) -> tuple[float, float]:
    """Height at zero and slope of the line under most of (n,) delays over (n,) times."""
    edges = np.linspace(0.0, float(since.max()), _STRETCHES + 1)[1:-1]
    stretch = np.searchsorted(edges, since, side="right")
    order = np.lexsort((delays, stretch))
    chosen = order[np.flatnonzero(np.diff(stretch[order], prepend=-1))]
    if len(chosen) < _LEAST_STRETCHES:
        return float(delays.min()), 0.0
    slope = _theil_sen_slope(since[chosen], delays[chosen])
    return float(np.median(delays[chosen] - slope * since[chosen])), slope


def _theil_sen_slope(x: FloatArray, y: FloatArray) -> float:
    """Return the median of the slopes between all pairs of points, (n,) each (Sen 1968)."""
    first, second = np.triu_indices(len(x), 1)
    run = x[second] - x[first]
    slopes = (y[second] - y[first])[run != 0.0] / run[run != 0.0]
    return float(np.median(slopes))
