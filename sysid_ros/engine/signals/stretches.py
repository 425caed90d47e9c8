# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured motion as functions of time that do not reach across gaps.

What a filter cannot resolve anyway may be bridged; a longer gap ends one stretch and begins
another, each with a function of its own, so that neither positions nor velocities beside a gap
depend on what lies beyond it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.time_intervals import shortest_gap

# Values at one or several instants: (...) to (...) or (..., k).
Spline = Callable[[FloatArray], FloatArray]

MIN_SAMPLES = 4  # of a stretch: the derivative is that of a cubic


@dataclass(frozen=True)
class Piecewise:
    """A function of time, one spline for each stretch in which it is known."""

    starts: FloatArray  # first instant of each stretch, (k,), s, increasing
    ends: FloatArray  # last instant of each stretch, (k,), s
    splines: tuple[Spline, ...]  # one for each; outside, that of the nearest stretch is extended
    reach: float  # so close to a stretch the function still counts as known, s

    def __call__(self, t: float | FloatArray) -> FloatArray:
        """The values at one or several instants: (...) to (..., as the spline's)."""
        t = np.asarray(t, dtype=np.float64)
        if len(self.splines) == 1:
            return np.asarray(self.splines[0](t))
        following = np.searchsorted(self.starts, t, side="right")
        before = np.maximum(following - 1, 0)
        following = np.minimum(following, len(self.starts) - 1)
        nearer = self.starts[following] - t < t - self.ends[before]
        chosen = np.where(nearer, following, before)
        if t.ndim == 0:
            return np.asarray(self.splines[int(chosen)](t))
        values = np.asarray(self.splines[0](t))
        for index in np.unique(chosen[chosen > 0]):
            values[chosen == index] = self.splines[index](t[chosen == index])
        return values

    def is_known(self, t: FloatArray) -> BoolArray:
        """Return at which instants, (n,) s, the function is known."""
        before = np.maximum(np.searchsorted(self.starts - self.reach, t, side="right") - 1, 0)
        known = (self.starts[before] - self.reach <= t) & (t <= self.ends[before] + self.reach)
        return np.asarray(known)

    def known_from(self, t: float) -> float:
        """The first instant from ``t`` on at which the function is known; infinity for none."""
        if np.any((self.starts - self.reach <= t) & (t <= self.ends + self.reach)):
            return t
        later = self.starts[self.starts > t]
        return float(later.min()) if later.size else math.inf


def stretches(times: FloatArray, cutoff: float) -> list[slice]:
    """Samples between which there is no gap.

    Args:
      times: (n,) s, strictly increasing, n >= 2.
      cutoff: Frequency [Hz] of the filter; half a period of it may be bridged.

    Returns:
      Slices of at least :data:`MIN_SAMPLES` samples; all samples where there is none.
    """
    intervals = np.diff(times)
    longest = max(shortest_gap(times), 0.5 / cutoff)
    edges = [0, *(np.flatnonzero(intervals > longest) + 1).tolist(), len(times)]
    found = [slice(a, b) for a, b in itertools.pairwise(edges)]
    long_enough = [each for each in found if each.stop - each.start >= MIN_SAMPLES]
    return long_enough or [slice(0, len(times))]


def piecewise(
    times: FloatArray,
    values: FloatArray,
    cutoff: float,
    spline: Callable[[FloatArray, FloatArray], Spline],
) -> Piecewise:
    """Make a function of samples.

    Args:
      times: (n,) s, strictly increasing, n >= 2.
      values: (n,) or (n, k).
      cutoff: As in :func:`stretches`.
      spline: Makes the function of one stretch.
    """
    parts = stretches(times, cutoff)
    return Piecewise(
        np.array([times[part][0] for part in parts]),
        np.array([times[part][-1] for part in parts]),
        tuple(spline(times[part], values[part]) for part in parts),
        max(float(np.median(np.diff(times))), 0.5 / cutoff),
    )


def known_from(functions: Sequence[Piecewise], t: float) -> float:
    """The first instant from ``t`` on at which every function is known; infinity for none, s."""
    while True:
        moved = t
        for each in functions:
            moved = each.known_from(moved)
        if moved == t:
            return t
        t = moved
