# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Saturation and quantisation, seen in the values of a signal alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.time_intervals import runs_of

_LEAST_SAMPLES = 200
_LEAST_LEVELS = 8  # fewer are a stepped command
_SAME = 1e-6  # of the range; closer values are the same level
_RUN = 3  # equal samples in a row at the extreme that count as clipped
_LONG_RUN = 5  # equal samples at the extreme, of a signal that never repeats one elsewhere
_RARE = 0.02  # of all samples that may equal the one before in such a signal
_SATURATED = 0.005  # of all samples
_ABRUPT = 0.25  # of the usual change from sample to sample; a clipped signal stops that suddenly
_TURN = 5.0  # steps of an encoder that a smooth turn falls by within half a run beside it, at most
_STEPS = 1.5  # of an encoder, up to which a change is as short as it can be
_SWITCHED = 0.7  # of all samples at the extremes; more are a command that switches between them
_STEADY = 0.3  # of all samples that equal the one before; more are a stepped command


@dataclass(frozen=True)
class Saturation:
    """A limit that a signal sticks to: its value, the share of samples, and how often."""

    limit: float
    share: float
    times: int


def level_step(parts: Sequence[FloatArray]) -> float | None:
    """Distance between the levels of a quantised signal.

    The smallest distance of different values: with a continuous signal it shrinks with the square
    of their number, with a quantised one it stays.

    Returns:
      ``None`` for too few samples, or for a signal that takes few values or hardly repeats one.
    """
    values = np.concatenate(list(parts))
    reach = float(np.ptp(values))
    if len(values) < _LEAST_SAMPLES or reach == 0.0:
        return None
    levels = np.unique(values)
    steps = np.diff(levels)
    steps = steps[steps > _SAME * reach]
    if len(steps) + 1 < _LEAST_LEVELS or len(steps) + 1 > len(values) / 2:
        return None
    return float(steps.min())


def saturation(parts: Sequence[FloatArray]) -> Saturation | None:
    """A limit at which a moving signal stops abruptly, again and again.

    A joint that comes to rest slows down first, so that the last step before is short; a signal
    that is cut off was still on its way. The shortest step of an encoder is none that tells, nor is
    a run that is left by a few of these, as a smooth turn is. In a signal with noise one long run
    of equal samples is enough.
    """
    values = np.concatenate(list(parts))
    reach = float(np.ptp(values))
    if len(values) < _LEAST_SAMPLES or reach == 0.0:
        return None
    changes = np.concatenate([np.abs(np.diff(part)) for part in parts])
    moving = changes[changes > _SAME * reach]
    limits = (float(values.max()), float(values.min()))
    cut = {limit: [r for part in parts for r in _runs(part, limit, reach)] for limit in limits}
    runs = [run for limit in limits for run in cut[limit]]
    stuck = sum(run.length for run in runs)
    if len(moving) + stuck < (1.0 - _STEADY) * len(changes) or stuck > _SWITCHED * len(values):
        return None
    usual = float(np.median(moving)) if len(moving) else 0.0
    quantum = level_step(parts) or float(moving.min(initial=usual))
    least = max(_ABRUPT * usual, _STEPS * quantum)
    repeats = len(changes) - len(moving) - (stuck - len(runs))
    noisy = repeats < _RARE * len(changes)  # then nothing but a limit repeats a value exactly
    sharp = {
        limit: [
            run.length for run in cut[limit] if run.fall > _TURN * quantum
            and (run.length >= _LONG_RUN if noisy else run.before > least)
        ] for limit in limits
    }  # fmt: skip
    counted = [length for limit in limits for length in sharp[limit]]
    again = max(len(lengths) for lengths in sharp.values()) > 1
    enough = (bool(counted) if noisy else again) and len(counted) > len(runs) / 2
    if not enough or sum(counted) / len(values) <= _SATURATED:
        return None
    limit = max(limits, key=lambda one: sum(run.length for run in cut[one]))
    return Saturation(limit, sum(counted) / len(values), len(counted))


class _Run(NamedTuple):
    """Equal samples at a limit."""

    length: int
    before: float  # the last step on the way there
    fall: float  # from the limit, half the run's length before it and after, whichever is less


def _runs(part: FloatArray, limit: float, reach: float) -> list[_Run]:
    """Every run at a limit inside a recording."""
    found = []
    for start, end in runs_of(np.abs(part - limit) <= _SAME * reach).tolist():
        if end - start >= _RUN and start >= 2 and end < len(part):
            half = (end - start) // 2
            beside = part[[max(start - half, 0), min(end - 1 + half, len(part) - 1)]]
            before = float(abs(part[start - 1] - part[start - 2]))
            found.append(_Run(end - start, before, float(np.abs(beside - limit).min())))
    return found
