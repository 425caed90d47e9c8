# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Is one model's prediction worse than another's? Paired tests over what was held out.

Two models that predict the same recordings share their disturbances, so the comparison is paired:
per unit (a recording, or a block of one where there are few) the logarithm of the ratio of their
root mean square errors. The ratio is free of the unit's size, so that no single lively recording
decides; its mean is tested against zero with Student's t, one-sided.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.judgement import SequenceFit, SignalFit

LEVEL = 0.01  # of the test
ENOUGH_UNITS = 12  # with fewer recordings each is cut into blocks
MIN_UNITS = 7  # with fewer not even a sign test that they all agree on reaches the level
_DIVERGED = 1e6  # times the best error: what a prediction that broke off counts as


@dataclass(frozen=True)
class HeldOut:
    """The errors of several models on the same units."""

    models: tuple[str, ...]  # names, in the order of the rows
    errors: FloatArray  # root mean square error by model and unit, (n_models, n_units)
    units: str  # what the units are, in words
    blocks: bool  # whether they are neighbouring blocks, whose errors may be correlated
    unit: str  # of the errors; empty where signals of several units are pooled

    def of(self, model: str) -> FloatArray:
        """One model's errors, (n_units,)."""
        errors: FloatArray = self.errors[self.models.index(model)]
        return errors

    def rmse(self, model: str) -> float:
        """Over all units, each counting the same."""
        return float(np.sqrt(np.mean(self.of(model) ** 2)))

    def best(self, models: Collection[str]) -> str:
        """The model of the smallest geometric mean error."""
        return min(models, key=lambda model: float(np.mean(np.log(self.of(model)))))

    def p_worse(self, model: str, other: str) -> float:
        """Return the probability of such differences if ``model`` is no worse than ``other``.

        Returns:
          One-sided p-value; NaN where there are too few units to tell.
        """
        return p_positive(np.log(self.of(model) / self.of(other)), correlated=self.blocks)


def p_positive(differences: FloatArray, *, correlated: bool) -> float:
    """One-sided p-value of Student's t for a mean above zero.

    Args:
      differences: Paired differences, (n,).
      correlated: Whether neighbours may be alike; the variance of the mean is then raised by
        ``(1 + r) / (1 - r)`` with their correlation r, as for a first-order autoregression.

    Returns:
      NaN with less than ``MIN_UNITS`` differences.
    """
    count = differences.size
    if count < MIN_UNITS:
        return math.nan
    mean, spread = float(differences.mean()), float(differences.std(ddof=1))
    if spread <= 1e-12 * max(1.0, abs(mean)):
        return 1.0 if mean <= 1e-12 else 0.0
    inflation = 1.0
    if correlated:
        apart = differences - mean
        r = float(np.clip(apart[1:] @ apart[:-1] / (apart @ apart), 0.0, 0.9))
        inflation = (1.0 + r) / (1.0 - r)
    t = mean / (spread * math.sqrt(inflation / count))
    return float(scipy.special.stdtr(count - 1, -t))


def held_out(
    sequences: Mapping[str, Sequence[SequenceFit]], joint: str | None = None
) -> HeldOut | None:
    """Pair the errors of several models.

    Args:
      sequences: Each model's predictions of the same recordings, in the same order.
      joint: Count only signals of this joint; ``None`` for all.

    Returns:
      The errors over position signals, or over all where no position is measured; ``None`` if
      nothing was predicted.
    """
    models = tuple(sequences)
    recordings = next(iter(sequences.values()))
    per_recording = max(1, math.ceil(ENOUGH_UNITS / max(1, len(recordings))))
    names = _signals(recordings, joint)
    columns: list[FloatArray] = []
    for position, recording in enumerate(recordings):
        predictions = [sequences[model][position] for model in models]
        columns += _blocks(recording, predictions, names, per_recording)
    if not columns:
        return None
    errors = np.stack(columns, axis=1)
    blocks = errors.shape[1] > len(recordings)
    what = f"{errors.shape[1]} held-out " + ("blocks" if blocks else "recordings")
    units = {s.unit for recording in recordings for s in recording.signals if s.name in names}
    return HeldOut(models, errors, what, blocks, units.pop() if len(units) == 1 else "")


def joints_of(sequences: Sequence[SequenceFit]) -> tuple[str, ...]:
    """The joints that any signal shows, in order of appearance."""
    shown = (signal.joint for sequence in sequences for signal in sequence.signals)
    return tuple(dict.fromkeys(joint for joint in shown if joint))


def _signals(recordings: Sequence[SequenceFit], joint: str | None) -> set[str]:
    chosen = [
        signal
        for recording in recordings
        for signal in recording.signals
        if joint is None or signal.joint == joint
    ]
    positions = {signal.name for signal in chosen if signal.is_position}
    return positions or {signal.name for signal in chosen}


def _blocks(
    recording: SequenceFit, predictions: Sequence[SequenceFit], names: set[str], count: int
) -> list[FloatArray]:
    """The errors of every model in each block of one recording, (n_models,) each."""
    edges = _edges(recording, count)
    columns = []
    for begin, end in itertools.pairwise(edges):
        squares = np.zeros(len(predictions))
        samples = 0
        for position, signal in enumerate(recording.signals):
            if signal.name not in names:
                continue
            fits = [prediction.signals[position] for prediction in predictions]
            part, counted = _squares(fits, begin, end)
            squares += part
            samples += counted
        if samples:
            columns.append(np.sqrt(np.maximum(squares / samples, np.finfo(float).tiny)))
    return columns


def _squares(fits: Sequence[SignalFit], begin: float, end: float) -> tuple[FloatArray, int]:
    """Sum of squared errors by model over the samples of a block that any model predicts.

    Of a robot that was recorded in motion, the first window of a model with longer delays begins
    later: what all of them were asked for counts.
    """
    shared = reduce(np.intersect1d, (fit.times for fit in fits))
    shared = shared[(shared >= begin) & (shared < end)]
    errors = np.stack([(fit.fitted - fit.measured)[np.isin(fit.times, shared)] for fit in fits])
    errors = errors[:, np.isfinite(errors).any(axis=0)]
    if errors.shape[1] == 0:
        return np.zeros(len(fits)), 0
    lost = _DIVERGED * max(float(np.nanmax(np.abs(errors))), 1.0)
    errors = np.where(np.isfinite(errors), errors, lost)
    return np.sum(errors**2, axis=1), errors.shape[1]


def _edges(recording: SequenceFit, count: int) -> FloatArray:
    """Find beginnings of blocks of about equal length, at starts of windows if there are enough."""
    times = [signal.times for signal in recording.signals if signal.times.size]
    if not times:
        return np.zeros(1)
    begin, end = min(t[0] for t in times), max(t[-1] for t in times)
    inner = np.linspace(begin, end, count + 1)[1:-1]
    starts = recording.window_starts
    if starts.size >= count:
        inner = np.unique([starts[np.argmin(np.abs(starts - edge))] for edge in inner])
    return np.concatenate([[begin], inner[inner > begin], [np.inf]])
