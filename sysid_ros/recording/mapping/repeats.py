# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Samples that a driver repeats until it has read the next: old, though their stamps are new.

A broadcaster that runs faster than its hardware is read publishes each reading several times.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray

_FEWEST = 20  # changes from which a habit is told from chance
_HABIT = 0.5  # of the changes, before which a value was repeated for about as long as usual
_ALIKE = 0.5  # of the usual length, by which one may differ; by one sample anyway
# A coarse sensor repeats values as well, but goes on by one step of its own from there.
_STEPS = 3.0  # of the sensor, by more than which what was held back goes on
_FAR = 0.1  # of the changes after a repetition, that go as far
_ROUNDED = 1e-9  # of the largest value, that numbers are rounded by


def first_readings(values: FloatArray) -> BoolArray | None:
    """Mark the samples that were read when they were published.

    Args:
      values: (n, k) in the order of their stamps.

    Returns:
      (n,) marks of the first sample of each reading; of a value that stays as it is longer than a
      reading usually does, one for each. ``None`` where readings are not repeated as a rule.
    """
    changed = np.flatnonzero(np.any(values[1:] != values[:-1], axis=1)) + 1
    if len(changed) < _FEWEST:
        return None
    starts = np.concatenate([[0], changed])
    lengths = np.diff(starts, append=len(values))
    repeated = lengths[:-1] > 1
    if np.mean(repeated) < _HABIT or np.mean(_goes_far(values, changed)[repeated]) < _FAR:
        return None
    usual = float(np.median(lengths[:-1][repeated]))
    # a joint that is moved now and then rests for as long as it may
    alike = np.abs(lengths[:-1] - usual) <= max(_ALIKE * usual, 1.0)
    if np.mean(alike) < _HABIT:
        return None
    readings = np.maximum(lengths / usual, 1.0).astype(int)
    marks = np.zeros(len(values), bool)
    for start, count in zip(starts, readings, strict=True):
        marks[start + np.round(usual * np.arange(count)).astype(int)] = True
    return marks


def _goes_far(values: FloatArray, changed: np.ndarray) -> BoolArray:
    """Tell which changes (n,) are by several steps of some column's sensor."""
    moves = np.abs(values[changed] - values[changed - 1])
    moves[moves <= _ROUNDED * np.abs(values).max(axis=0)] = 0.0
    step = np.min(np.where(moves > 0.0, moves, np.inf), axis=0)
    far: BoolArray = np.any(moves > _STEPS * step, axis=1)
    return far
