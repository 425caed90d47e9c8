# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A comparison with one recording, or with many alike, but for what is simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.residuals.comparison_frame import ComparisonFrame
from sysid_ros.engine.residuals.normalization import scales
from sysid_ros.engine.signals import (
    OBSERVABLE,
    Block,
    SignalMapping,
    SignalType,
    TimeSeries,
    difference,
    sensor_mapping,
    state_mappings,
)
from sysid_ros.errors import SignalError, unknown_name

# The differences, (m, number of columns), and both series at the m instants compared.
Compared = tuple[FloatArray, TimeSeries, TimeSeries]

# The residual of a sample that the simulation did not reach because it diverged: far above any
# sensible one, so that the step is rejected, and far below what would overflow a sum of squares.
DIVERGED = 1e6


@dataclass(frozen=True)
class PreparedComparison:
    """A comparison, with all that does not depend on what was simulated."""

    frame: ComparisonFrame  # what it shares with those of other recordings
    measured: TimeSeries  # the recording at the instants compared, corrected
    scales: FloatArray  # divisors of the difference columns
    unknown: BoolArray  # where nothing was measured, (m, number of columns)

    @classmethod
    def of(cls, frame: ComparisonFrame, measured: TimeSeries) -> PreparedComparison:
        """The comparison with a recording that a frame suits."""
        data = measured.data[frame.rows][..., frame.columns]
        if not frame.measures_plainly:
            data = _scaled(data, frame.mapping, frame.of_measured)
        methods = measured.interpolation
        chosen = TimeSeries.of_checked(
            measured.times[frame.rows],
            data,
            frame.mapping,
            methods and tuple(methods[i] for i in frame.columns),
        )
        blocks = frame.blocks
        if not blocks:
            none = np.empty((len(data), 0), dtype=bool)
            return cls(frame, chosen, np.ones(0), none)
        units = scales(blocks, data, frame.normalization, frame.noise)
        unknown = (
            np.isnan(data)
            if frame.in_order
            else np.hstack([_missing(block, data) for block in blocks])
        )
        return cls(frame, chosen, units, unknown)

    def against(
        self, predicted: TimeSeries, model: Any, state: FloatArray | None = None
    ) -> Compared:
        """As :func:`compare`, for a prediction at the instants that this was prepared for."""
        frame, measured = self.frame, self.measured
        values = frame.evaluate(_simulated(predicted, frame, model, state))
        if not frame.predicts_plainly:
            values = _scaled(values, frame.mapping, frame.of_predicted)
        return self._differences(values), self._at_instants(values), measured

    def factors(self) -> FloatArray:
        """The derivative of each difference by its simulated number, (m, number of columns).

        No orientations are compared.
        """
        return np.where(self.unknown, 0.0, -self.frame.factors / self.scales)

    @cached_property
    def is_plain(self) -> bool:
        """True if the differences are those of all columns, in their order, measured throughout."""
        return self.frame.in_order and not self.unknown.any()

    @property
    def is_stackable(self) -> bool:
        """True if :func:`against_together` may compare it beside others."""
        return self.is_plain and self.frame.of_sensors

    def _at_instants(self, values: FloatArray) -> TimeSeries:
        measured = self.measured
        return TimeSeries.of_checked(
            measured.times, values, measured.signal_mapping, measured.interpolation
        )

    def _differences(self, predicted: FloatArray) -> FloatArray:
        measured, blocks = self.measured.data, self.frame.blocks
        if not blocks:
            return np.empty((len(measured), 0))
        if self.is_plain:
            return _plain_differences(measured, predicted, self.frame.weights, self.scales)
        residual = np.hstack([difference(block, measured, predicted) for block in blocks])
        residual = residual * self.frame.weights / self.scales
        lost = np.hstack([_missing(block, predicted) for block in blocks])
        residual = np.where(lost | ~np.isfinite(residual), DIVERGED, residual)
        return np.where(self.unknown, 0.0, residual)


def against_together(
    ready: Sequence[PreparedComparison], predicted: Sequence[TimeSeries], model: Any
) -> list[Compared]:
    """As :meth:`PreparedComparison.against` for stackable recordings of one frame, at once."""
    frame = ready[0].frame
    sensors = predicted[0].signal_mapping or sensor_mapping(model)
    values = frame.evaluate(
        np.stack([each.data for each in predicted], axis=1)[..., frame.read(sensors)]
    )
    if not frame.predicts_plainly:
        values = _scaled(values, frame.mapping, frame.of_predicted)
    measured = np.stack([each.measured.data for each in ready], axis=1)
    units = np.stack([each.scales for each in ready])
    residual = _plain_differences(measured, values, frame.weights, units)
    return [
        (
            np.ascontiguousarray(residual[:, k]),
            each._at_instants(np.ascontiguousarray(values[:, k])),
            each.measured,
        )
        for k, each in enumerate(ready)
    ]


def _plain_differences(
    measured: FloatArray, predicted: FloatArray, weights: FloatArray, units: FloatArray
) -> FloatArray:
    """Differences of numbers that were all measured, (m, ..., d)."""
    residual = (measured - predicted) * weights / units
    return np.where(np.isfinite(residual), residual, DIVERGED)


def _simulated(
    predicted: TimeSeries, frame: ComparisonFrame, model: Any, state: FloatArray | None
) -> FloatArray:
    """The simulated counterpart of every measured column, (n, d)."""
    sensors = predicted.signal_mapping or sensor_mapping(model)
    if frame.of_sensors:
        return predicted.data[:, frame.read(sensors)]
    states: dict[str, tuple[SignalType, IndexArray]] = {}
    for part in state_mappings(model):
        states.update(part)
    values = np.empty((len(predicted), len(frame.delays)))
    for name, (kind, columns) in frame.mapping.items():
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


def _missing(block: Block, data: FloatArray) -> BoolArray:
    """Mark the places where a block's difference has no value, (n, block.width)."""
    missing = np.isnan(data[:, block.columns])
    if block.kind == "quaternion":
        missing = np.repeat(missing.any(axis=1, keepdims=True), 3, axis=1)
    return missing


def _scaled(
    data: FloatArray, mapping: SignalMapping, factors: Mapping[str, tuple[FloatArray, FloatArray]]
) -> FloatArray:
    """``gain * data + bias``, signal by signal."""
    result = np.array(data)
    for name, (_, columns) in mapping.items():
        gain, bias = factors[name]
        result[..., columns] = result[..., columns] * gain + bias
    return result
