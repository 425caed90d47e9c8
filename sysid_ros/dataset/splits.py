# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Holding out a block of time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import DataError
from sysid_ros.time_intervals import union

SPLIT_GAP = 0.5  # s, between the fitted and the held-out part of one recording


def held_out_end(start: float, end: float, fraction: float) -> tuple[float, float]:
    """Hold out the end of a recording.

    The held-out part is one block, since interleaved samples or windows would leak: neighbours
    are correlated, and zero-phase filters reach across. A gap before it keeps them apart.

    Args:
      start: Where the recording starts [s].
      end: Where it ends [s].
      fraction: Share of the recording to hold out, in (0, 1).

    Returns:
      Where the part to fit ends and where the held-out part begins [s].

    Raises:
      DataError: Nothing is left to fit.
    """
    boundary = end - fraction * (end - start)
    if boundary - SPLIT_GAP <= start or boundary >= end:
        raise DataError(
            f"holding out {fraction:g} of {end - start:.3g} s with a gap of {SPLIT_GAP:g} s before "
            "it leaves nothing to fit"
        )
    return boundary - SPLIT_GAP, boundary


def split_by_time(
    whole: Sequence[ModelSequences], fraction: float
) -> tuple[tuple[ModelSequences, ...], tuple[ModelSequences, ...]]:
    """Hold out the end of every sequence, with a gap that filters do not reach across.

    Both sets keep the whole series, so that a start next to the cut is read off complete data;
    what belongs to the other set is a gap.
    """
    training, validation = [], []
    for group in whole:
        fitted, held_out = [], []
        for known, measured in zip(group.gaps, group.sensordata, strict=True):
            start, end = float(measured.times[0]), float(measured.times[-1])
            last, first = held_out_end(start, end, fraction)
            fitted.append(union([*known, (last, math.inf)]))
            held_out.append(union([(-math.inf, first), *known]))
        training.append(group.replaced(gaps=fitted))
        validation.append(group.replaced(gaps=held_out))
    return tuple(training), tuple(validation)
