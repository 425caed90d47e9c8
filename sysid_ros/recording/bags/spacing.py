# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The evenness of a topic's sampling: rate, jitter, gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray

# A larger step back is a clock that was set or a simulation that began anew; a smaller one is a
# message of one of several publishers that was overtaken.
LARGEST_DISORDER_NS = 1_000_000_000


@dataclass(frozen=True)
class Sampling:
    """Statistics of strictly increasing times."""

    rate: float  # 1 / median interval [Hz], 0 for fewer than two samples
    jitter: float  # 95th percentile of |interval - median| [s]
    gaps: int  # intervals longer than the allowed gap
    longest_gap: float  # the longest interval [s]


def sampling(times: FloatArray, max_gap: float) -> Sampling:
    """Describe how evenly times are spaced, (n,) s, increasing; longer intervals [s] are gaps."""
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
