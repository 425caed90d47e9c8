# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Comparing one simulated run with one recording, signal by signal, at the recording's instants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.residuals.normalization import Normalization, scales
from sysid_ros.engine.signals import (
    OBSERVABLE,
    Block,
    SignalMapping,
    SignalType,
    Stamping,
    TimeSeries,
    at_true_times,
    blocks_of,
    difference,
    linear_places,
    sensor_mapping,
    stamp_offsets,
    state_mappings,
    width_of,
)
from sysid_ros.errors import SignalError, unknown_name

# The residual of a sample that the simulation did not reach because it diverged: far above any
# sensible one, so that the step is rejected, and far below what would overflow a sum of squares.
DIVERGED = 1e6


@dataclass(frozen=True)
class SignalCorrection:
    """The corrections of one signal's prediction and measurement before they are compared.

    Attributes:
      delay: Seconds by which the measurement lags behind the model.
      window: Smallest and largest delay that may occur, so that the number of samples compared
        stays the same whatever the delay is.
      predicted: Gain and bias of the prediction, one number or one per column.
      measured: Gain and bias of the measurement, likewise.
    """

    delay: float = 0.0
    window: tuple[float, float] = (0.0, 0.0)
    predicted: tuple[FloatArray, FloatArray] = (np.ones(1), np.zeros(1))
    measured: tuple[FloatArray, FloatArray] = (np.ones(1), np.zeros(1))

    def equals(self, other: SignalCorrection) -> bool:
        """Return whether both correct alike."""
        ours, theirs = ((*each.predicted, *each.measured) for each in (self, other))
        return self.delay == other.delay and all(map(np.array_equal, ours, theirs))


@dataclass(frozen=True)
class Comparison:
    """The signals compared, and their units.

    Attributes:
      normalization: See :func:`sysid_ros.engine.residuals.normalization.scales`.
      noise: Standard deviation per signal, for the normalization "noise".
      sensor_weights: Factors by signal name, or one per compared column.
      enabled: Signals to compare, in this order; ``None``: all that were measured.
      wrapped: Signals measured modulo one turn.
      stamping: Which instant a simulated sensor value belongs to.
    """

    normalization: Normalization = "reference"
    noise: Mapping[str, float] | None = None
    sensor_weights: Mapping[str, float] | FloatArray | None = None
    enabled: Sequence[str] | None = None
    wrapped: Collection[str] = field(default_factory=tuple)
    stamping: Stamping = "notebook"


def compare(
    predicted: TimeSeries,
    measured: TimeSeries,
    model: Any,
    comparison: Comparison,
    *,
    corrections: Mapping[str, SignalCorrection] | None = None,
    state: FloatArray | None = None,
) -> tuple[FloatArray, TimeSeries, TimeSeries]:
    """Differences between measurement and prediction at the instants of the measurement.

    Args:
      predicted: Simulated sensors, stamped with the time after the step, (n, nsensordata).
      measured: The recording, on the same clock.
      model: The MjModel that was simulated.
      comparison: What to compare.
      corrections: Delay, gain and bias by signal; others are compared as they are.
      state: Full-physics states after each step, (n, nstate), where positions, velocities or
        activations were measured.

    Returns:
      Differences ``measured - predicted`` in normalized units, (m, number of columns), zero where
      nothing was measured and :data:`DIVERGED` where nothing was simulated; and both series at
      the m instants compared.

    Raises:
      SignalError: The signals do not fit the model or each other.
    """
    ready = prepared(predicted.times, measured, model, comparison, corrections or {})
    return ready.against(predicted, model, state)


@dataclass(frozen=True)
class PreparedComparison:
    """A comparison, with all that does not depend on what was simulated.

    Attributes:
      measured: The recording at the instants compared, corrected.
      delays: Of every column, (d,) s.
      corrected: What is done to the prediction: gain and bias by signal.
      blocks: The signals.
      weights: One per difference column.
      scales: Their divisors.
      unknown: Where nothing was measured, (m, number of columns).
      evaluate: Simulated values (n, d) at the instants compared, (m, d).
    """

    measured: TimeSeries
    delays: FloatArray
    corrected: Mapping[str, tuple[FloatArray, FloatArray]]
    blocks: list[Block]
    weights: FloatArray
    scales: FloatArray
    unknown: BoolArray
    evaluate: Callable[[FloatArray], FloatArray]

    def against(
        self, predicted: TimeSeries, model: Any, state: FloatArray | None = None
    ) -> tuple[FloatArray, TimeSeries, TimeSeries]:
        """As :func:`compare`, for a prediction at the instants that this was prepared for."""
        measured = self.measured
        mapping = measured.signal_mapping or {}
        values = self.evaluate(_simulated(predicted, mapping, model, state))
        if not self._is_uncorrected:
            values = _scaled(values, mapping, self.corrected)
        compared = TimeSeries.of_checked(measured.times, values, mapping, measured.interpolation)
        return self._differences(values), compared, measured

    @cached_property
    def _is_uncorrected(self) -> bool:
        """True if all gains are one and all biases zero."""
        return all(
            np.all(gain == 1.0) and not np.any(bias) for gain, bias in self.corrected.values()
        )

    @cached_property
    def _is_plain(self) -> bool:
        """True if the differences are those of all columns, in their order, measured throughout."""
        columns = np.concatenate([block.columns for block in self.blocks])
        return (
            all(block.kind == "number" for block in self.blocks)
            and np.array_equal(columns, np.arange(len(self.delays)))
            and not self.unknown.any()
        )

    def factors(self) -> FloatArray:
        """The derivative of each difference by its simulated number, (m, number of columns).

        No orientations are compared.
        """
        gains = np.ones(len(self.delays))
        for name, (_, columns) in (self.measured.signal_mapping or {}).items():
            gains[columns] = self.corrected[name][0]
        own = [gains[block.columns] for block in self.blocks]
        factors = np.concatenate(own) * self.weights / self.scales
        return np.where(self.unknown, 0.0, -factors)

    def _differences(self, predicted: FloatArray) -> FloatArray:
        measured, blocks = self.measured.data, self.blocks
        if not blocks:
            return np.empty((len(measured), 0))
        if self._is_plain:
            residual = (measured - predicted) * self.weights / self.scales
            return np.where(np.isfinite(residual), residual, DIVERGED)
        residual = np.hstack([difference(block, measured, predicted) for block in blocks])
        residual = residual * self.weights / self.scales
        lost = np.hstack([_missing(block, predicted) for block in blocks])
        residual = np.where(lost | ~np.isfinite(residual), DIVERGED, residual)
        return np.where(self.unknown, 0.0, residual)


def prepared(
    times: FloatArray,
    measured: TimeSeries,
    model: Any,
    comparison: Comparison,
    corrections: Mapping[str, SignalCorrection],
) -> PreparedComparison:
    """All of a comparison that does not depend on what is simulated at these instants.

    Args:
      times: Of the simulated sensors, after each step, (n,) s.
      measured: As for :func:`compare`, like all that follows.
      model: See there.
      comparison: See there.
      corrections: See there.

    Raises:
      SignalError: The recording does not overlap with the instants, or its signals do not fit.
    """
    chosen = _chosen(measured, model, comparison.enabled)
    mapping = chosen.signal_mapping or {}
    corrected = {name: corrections.get(name, SignalCorrection()) for name in mapping}
    offsets = stamp_offsets(model, mapping, comparison.stamping)
    chosen = _within(chosen, times, offsets, corrected)
    data = _scaled(chosen.data, mapping, {name: each.measured for name, each in corrected.items()})
    blocks = blocks_of(model, mapping, comparison.wrapped)
    missing = [_missing(block, data) for block in blocks]
    delays = _per_column(mapping, {name: each.delay for name, each in corrected.items()}) + offsets
    return PreparedComparison(
        TimeSeries.of_checked(chosen.times, data, mapping, chosen.interpolation),
        delays,
        {name: each.predicted for name, each in corrected.items()},
        blocks,
        _weights(blocks, comparison.sensor_weights, mapping),
        scales(blocks, data, comparison.normalization, comparison.noise) if blocks else np.ones(0),
        np.hstack(missing) if blocks else np.empty((len(data), 0), dtype=bool),
        _evaluation(times, chosen.times, delays, comparison.stamping),
    )


def _evaluation(
    times: FloatArray, at: FloatArray, delays: FloatArray, stamping: Stamping
) -> Callable[[FloatArray], FloatArray]:
    """Evaluate columns sampled at ``times`` (n,) at ``at`` (m,), each with its delay, (d,)."""
    if stamping == "true":
        return lambda values: at_true_times(TimeSeries.of_checked(times, values), at, delays)
    known = [
        (np.flatnonzero(delays == delay), linear_places(times, at - delay))
        for delay in np.unique(delays)
    ]
    if len(known) == 1:
        return known[0][1].values

    def evaluate(values: FloatArray) -> FloatArray:
        result = np.empty((len(at), len(delays)))
        for columns, places in known:
            result[:, columns] = places.values(values[:, columns])
        return result

    return evaluate


def _chosen(measured: TimeSeries, model: Any, enabled: Sequence[str] | None) -> TimeSeries:
    """The enabled signals of the recording, which gets the model's names where it has none."""
    if measured.signal_mapping is None:
        if measured.data.ndim != 2 or measured.data.shape[1] != model.nsensordata:
            raise SignalError(
                f"measurements without names need the model's {model.nsensordata} sensor columns, "
                f"got data of shape {measured.data.shape}"
            )
        names = sensor_mapping(model)
        measured = TimeSeries(measured.times, measured.data, names, measured.interpolation)
    mapping = measured.signal_mapping or {}
    return TimeSeries.slice_by_name(measured, mapping if enabled is None else enabled)


def _simulated(
    predicted: TimeSeries, mapping: SignalMapping, model: Any, state: FloatArray | None
) -> FloatArray:
    """The simulated counterpart of every measured column, (n, d)."""
    sensors = predicted.signal_mapping or sensor_mapping(model)
    states: dict[str, tuple[SignalType, IndexArray]] = {}
    if any(kind is not SignalType.MjSensor for kind, _ in mapping.values()):
        for part in state_mappings(model):
            states.update(part)
    values = np.empty((len(predicted), width_of(mapping)))
    for name, (kind, columns) in mapping.items():
        if kind is SignalType.MjSensor:
            if name not in sensors:
                raise SignalError(unknown_name("sensor", name, sensors))
            values[:, columns] = predicted.data[:, sensors[name][1]]
        elif kind in OBSERVABLE:
            if name not in states or state is None:
                raise SignalError(
                    unknown_name("state", name, states)
                    if state is not None
                    else f"signal {name!r} is a state, but no states were simulated"
                )
            values[:, columns] = state[:, 1 + states[name][1]]
        else:
            raise SignalError(
                f"signal {name!r} is of type {kind.name}, which no model can predict: give "
                "modify_residual a function that does"
            )
    return values


def _within(
    measured: TimeSeries,
    times: FloatArray,
    offsets: FloatArray,
    corrections: Mapping[str, SignalCorrection],
) -> TimeSeries:
    """The samples for which every signal was simulated, whatever its delay."""
    windows = [each.window for each in corrections.values()]
    earliest = min((low for low, _ in windows), default=0.0)
    latest = max((high for _, high in windows), default=0.0)
    start = times[0] + latest + (offsets.max() if offsets.size else 0.0)
    end = times[-1] + earliest + (offsets.min() if offsets.size else 0.0)
    if measured.times[-1] < start or measured.times[0] > end:
        raise SignalError(
            f"the measurements, from {measured.times[0]:.6f} s to {measured.times[-1]:.6f} s, do "
            f"not overlap with the simulation, from {start:.6f} s to {end:.6f} s; the simulation "
            "starts with the first control sample"
        )
    return measured.slice_by_time(start, end)


def _missing(block: Block, data: FloatArray) -> BoolArray:
    """Mark the places where a block's difference has no value, (n, block.width)."""
    missing = np.isnan(data[:, block.columns])
    if block.kind == "quaternion":
        missing = np.repeat(missing.any(axis=1, keepdims=True), 3, axis=1)
    return missing


def _weights(
    blocks: list[Block],
    given: Mapping[str, float] | FloatArray | None,
    mapping: SignalMapping,
) -> FloatArray:
    """One weight per difference column."""
    if given is None:
        return np.ones(sum(block.width for block in blocks))
    if isinstance(given, Mapping):
        for name in given:
            if name not in mapping:
                raise SignalError(unknown_name("signal with a weight", name, mapping))
        return np.concatenate([np.full(b.width, given.get(b.name, 1.0)) for b in blocks])
    per_column = np.asarray(given, dtype=np.float64)
    width = width_of(mapping)
    if per_column.shape != (width,):
        raise SignalError(f"{width} columns are compared, got weights of shape {per_column.shape}")
    return np.concatenate(
        [
            np.full(3, per_column[b.columns[0]])
            if b.kind == "quaternion"
            else per_column[b.columns]
            for b in blocks
        ]
    )


def _per_column(mapping: SignalMapping, values: Mapping[str, float]) -> FloatArray:
    result = np.zeros(width_of(mapping))
    for name, (_, columns) in mapping.items():
        result[columns] = values[name]
    return result


def _scaled(
    data: FloatArray,
    mapping: SignalMapping,
    factors: Mapping[str, tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """``gain * data + bias``, signal by signal."""
    result = np.array(data)
    for name, (_, columns) in mapping.items():
        gain, bias = factors[name]
        result[:, columns] = result[:, columns] * gain + bias
    return result
