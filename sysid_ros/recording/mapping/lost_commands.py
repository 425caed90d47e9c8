# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands of an even stream that the robot got and the recording lacks.

Held over the place of one that was lost, a command would be wrong by a whole step of the motion.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray

_UNEVEN = 0.25  # of the usual interval, about multiples of it
_STREAM = 0.8  # share of the intervals that are the usual one, of what a timer sends
_LIKELY = 0.5  # of what no loss would leave unexplained of a change, that one may leave


def with_lost_commands(
    times: FloatArray, values: FloatArray, max_gap: float
) -> tuple[FloatArray, FloatArray]:
    """Fill in commands that were lost on their way to the recording, on lines between the others.

    One is lost where an even stream lacks it and the values go on by as many steps as intervals
    are missing. What is not sent as nothing changes goes on by one.

    Args:
      times: (n,) s, strictly increasing.
      values: (n, k), what was sent.
      max_gap: Longer intervals [s] are gaps, in which nothing is known.

    Returns:
      Times (m,) and values (m, k); the same where nothing is missing.
    """
    steps = np.diff(times)
    if len(steps) < 3:  # a change before and one behind
        return times, values
    usual = float(np.median(steps))
    slots = np.maximum(np.rint(steps / usual), 1.0)
    even = np.abs(steps / usual - slots) < _UNEVEN
    if np.mean(even & (slots == 1.0)) < _STREAM:
        return times, values
    lost = even & (slots > 1.0) & (steps <= max_gap) & _goes_on(values, slots)
    places = np.flatnonzero(lost)
    shares = [np.arange(1.0, slots[k]) / slots[k] for k in places]
    if not shares:
        return times, values
    missing = np.concatenate([times[k] + steps[k] * s for k, s in zip(places, shares, strict=True)])
    every = np.union1d(times, missing)
    filled = [np.interp(every, times, column) for column in values.T]
    return every, np.stack(filled, axis=1)


def _goes_on(values: FloatArray, slots: FloatArray) -> BoolArray:
    """Return where changes (n - 1,) are as large as so many steps beside them, and not as one."""
    changes = np.diff(values, axis=0)
    rates = changes / slots[:, np.newaxis]
    beside = 0.5 * (rates[:-2] + rates[2:])
    seen, expected = changes[1:-1], slots[1:-1, np.newaxis] * beside
    left, unlost = np.linalg.norm(seen - expected, axis=1), np.linalg.norm(seen - beside, axis=1)
    found: BoolArray = np.zeros(len(slots), dtype=np.bool_)
    found[1:-1] = left < _LIKELY * unlost
    return found
