# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Holding out a block of time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sysid_ros.dataset.sequences import SequenceSet
from sysid_ros.errors import DataError
from sysid_ros.time_intervals import Intervals

SPLIT_GAP = 0.5  # s, between the fitted and the held-out part of one recording


@dataclass(frozen=True)
class Split:
    """Half-open intervals [s] of one recording: one to fit, one to validate, a gap between."""

    training: tuple[float, float]
    validation: tuple[float, float]


def contiguous_split(start: float, end: float, fraction: float, *, gap: float = 0.0) -> Split:
    """Hold out the end of a recording.

    The held-out part is one block, since interleaved samples or windows would leak: neighbours
    are correlated, and zero-phase filters reach across. The gap keeps them apart.

    Args:
      start: Where the recording starts [s].
      end: Where it ends [s].
      fraction: Share of the recording to hold out, in (0, 1).
      gap: Time [s] left unused before the held-out block.

    Returns:
      Both intervals; together with the gap they fill the recording.

    Raises:
      DataError: The fraction is not in (0, 1), or nothing is left to fit.
    """
    if not 0.0 < fraction < 1.0:
        raise DataError(f"the held-out fraction is {fraction:g}; it must lie between 0 and 1")
    boundary = end - fraction * (end - start)
    if gap < 0.0 or boundary - gap <= start or boundary >= end:
        raise DataError(
            f"holding out {fraction:g} of {end - start:.3g} s with a gap of {gap:g} s before it "
            "leaves nothing to fit"
        )
    return Split(training=(start, boundary - gap), validation=(boundary, end))


def split_by_time(whole: SequenceSet, fraction: float) -> tuple[SequenceSet, SequenceSet]:
    """Hold out the end of every sequence, with a gap that filters do not reach across.

    Both sets keep the whole series, so that a start next to the cut is read off complete data;
    what belongs to the other set is excluded from the windows.
    """
    training, validation = dict(whole.excluded), dict(whole.excluded)
    for group in whole.groups:
        for name, measured in zip(group.sequence_name, group.sensordata, strict=True):
            start, end = float(measured.times[0]), float(measured.times[-1])
            split = contiguous_split(start, end, fraction, gap=SPLIT_GAP)
            known = whole.excluded.get(name, ())
            training[name] = _with_interval(known, (split.training[1], math.inf))
            validation[name] = _with_interval(known, (-math.inf, split.validation[0]))
    return SequenceSet(whole.groups, training), SequenceSet(whole.groups, validation)


def _with_interval(known: Intervals, added: tuple[float, float]) -> Intervals:
    return tuple(sorted((*known, added)))
