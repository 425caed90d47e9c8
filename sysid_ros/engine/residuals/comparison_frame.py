# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The part of a comparison that recordings with the same instants and signals share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.residuals.normalization import Normalization
from sysid_ros.engine.signals import (
    Block,
    SignalMapping,
    SignalType,
    Stamping,
    TimeSeries,
    cubic_weights,
)
from sysid_ros.errors import SignalError, unknown_name


@dataclass(frozen=True)
class SignalCorrection:
    """The corrections of one signal's prediction and measurement before they are compared."""

    delay: float = 0.0  # seconds by which the measurement lags behind the model
    # smallest and largest delay that may occur, so that the number of samples compared stays the
    # same whatever the delay is
    window: tuple[float, float] = (0.0, 0.0)
    # gain and bias of the prediction, one number or one per column
    predicted: tuple[FloatArray, FloatArray] = (np.ones(1), np.zeros(1))
    # gain and bias of the measurement, likewise
    measured: tuple[FloatArray, FloatArray] = (np.ones(1), np.zeros(1))

    def equals(self, other: SignalCorrection) -> bool:
        """Return whether both correct alike."""
        ours, theirs = ((*each.predicted, *each.measured) for each in (self, other))
        return self.delay == other.delay and all(map(np.array_equal, ours, theirs))


@dataclass(frozen=True)
class ComparisonFrame:
    """The part of a comparison that recordings with the same instants and signals share."""

    simulated: FloatArray  # times of the simulated sensors, after each step, (n,) s
    recorded: FloatArray  # all instants of the recording, (k,) s
    signals: SignalMapping | None  # its signals, as given
    corrections: Mapping[str, SignalCorrection]  # by signal, as given
    rows: slice  # which of its samples are compared
    columns: IndexArray  # which of its columns, (d,)
    mapping: SignalMapping  # the signals in these columns
    delays: FloatArray  # of every column, (d,) s
    blocks: list[Block]  # the signals
    weights: FloatArray  # one per difference column
    # simulated values (n, ..., d) at the instants compared, (m, ..., d)
    evaluate: Callable[[FloatArray], FloatArray]
    normalization: Normalization  # units of the differences, see :func:`scales`
    # standard deviation per signal, for the normalization "noise"
    noise: Mapping[str, float] | None
    stamping: Stamping  # whether values are those of a cubic, "true", or of a line between two

    def suits(
        self,
        simulated: FloatArray,
        measured: TimeSeries,
        corrections: Mapping[str, SignalCorrection],
    ) -> bool:
        """Return whether a recording has the same instants, signals and corrections."""
        return (
            correct_alike(corrections, self.corrections)
            and np.array_equal(simulated, self.simulated)
            and np.array_equal(measured.times, self.recorded)
            and same_signals(measured.signal_mapping, self.signals)
        )

    @cached_property
    def in_order(self) -> bool:
        """True if the differences are those of all columns, in their order."""
        return (
            bool(self.blocks)
            and all(block.kind == "number" for block in self.blocks)
            and np.array_equal(
                np.concatenate([block.columns for block in self.blocks]),
                np.arange(len(self.delays)),
            )
        )

    @cached_property
    def of_sensors(self) -> bool:
        """True if all signals are sensors."""
        return all(kind is SignalType.MjSensor for kind, _ in self.mapping.values())

    def read(self, sensors: SignalMapping) -> IndexArray:
        """Columns of the sensor data that the signals, all of them sensors, are, (d,).

        Raises:
          SignalError: There is no such sensor.
        """
        columns = np.empty(len(self.delays), dtype=np.intp)
        for name, (_, own) in self.mapping.items():
            if name not in sensors:
                raise SignalError(unknown_name("sensor", name, sensors))
            columns[own] = sensors[name][1]
        return columns

    @cached_property
    def interpolation(self) -> tuple[IndexArray, FloatArray]:
        """Simulated rows and their weights that each difference reads, (m, width, 4) both."""
        instants, delays = self.recorded[self.rows], self.delays
        known = {
            delay: _interpolation(self.simulated, instants - delay, self.stamping == "true")
            for delay in set(delays.tolist())
        }
        late = [known[delays[i]] for block in self.blocks for i in block.columns]
        if len(known) == 1:
            rows, weights = (
                np.repeat(each, len(late), axis=0).reshape(len(each), -1, 4) for each in late[0]
            )
        else:
            rows, weights = (np.stack(each, axis=1) for each in zip(*late, strict=True))
        return rows.astype(np.int64, copy=False), weights.astype(np.float64, copy=False)

    @cached_property
    def predicts_plainly(self) -> bool:
        """True if nothing is done to a prediction: all gains are one and all biases zero."""
        return _changes_nothing(self.of_predicted)

    @cached_property
    def of_predicted(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Gain and bias of the prediction by signal."""
        return {name: self._correction(name).predicted for name in self.mapping}

    @cached_property
    def of_measured(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """The same of the measurement."""
        return {name: self._correction(name).measured for name in self.mapping}

    @cached_property
    def measures_plainly(self) -> bool:
        """True if nothing is done to the measurement."""
        return _changes_nothing(self.of_measured)

    def _correction(self, name: str) -> SignalCorrection:
        return self.corrections.get(name, SignalCorrection())

    @cached_property
    def factors(self) -> FloatArray:
        """The derivative of each difference by its simulated number, but for its scale.

        No orientations are compared.
        """
        gains = np.ones(len(self.delays))
        for name, (_, columns) in self.mapping.items():
            gains[columns] = self.of_predicted[name][0]
        own = [gains[block.columns] for block in self.blocks]
        return np.concatenate(own) * self.weights


def correct_alike(
    ours: Mapping[str, SignalCorrection], theirs: Mapping[str, SignalCorrection]
) -> bool:
    """Return whether corrections of the same signals are equal."""
    return ours is theirs or (
        ours.keys() == theirs.keys() and all(one.equals(theirs[name]) for name, one in ours.items())
    )


def _interpolation(
    times: FloatArray, instants: FloatArray, cubic: bool
) -> tuple[IndexArray, FloatArray]:
    """Rows (m, 4) and weights (m, 4) that evaluate equally spaced samples at instants."""
    spacing = (times[-1] - times[0]) / (len(times) - 1)
    position = np.clip((instants - times[0]) / spacing, 0.0, len(times) - 1.0)
    if cubic:
        each = cubic_weights(position, len(times))
        missing = 4 - each.rows.shape[1]
        return np.pad(each.rows, ((0, 0), (0, missing))), np.pad(
            each.weights, ((0, 0), (0, missing))
        )
    first = np.clip(np.floor(position).astype(np.intp), 0, len(times) - 2)
    fraction = position - first
    rows = np.minimum(first[:, None] + np.arange(4), len(times) - 1)
    weights = np.zeros((len(instants), 4))
    weights[:, 0], weights[:, 1] = 1.0 - fraction, fraction
    return rows, weights


def same_signals(ours: SignalMapping | None, theirs: SignalMapping | None) -> bool:
    """Return whether two recordings have the same signals in the same columns."""
    if ours is None or theirs is None or ours is theirs:
        return ours is theirs
    return list(ours) == list(theirs) and all(
        kind is theirs[name][0] and np.array_equal(columns, theirs[name][1])
        for name, (kind, columns) in ours.items()
    )


def _changes_nothing(factors: Mapping[str, tuple[FloatArray, FloatArray]]) -> bool:
    return all(np.all(gain == 1.0) and not np.any(bias) for gain, bias in factors.values())
