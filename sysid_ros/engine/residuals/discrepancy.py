# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Comparing one simulated run with one recording, signal by signal, at the recording's instants."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.residuals.comparison_frame import ComparisonFrame, SignalCorrection
from sysid_ros.engine.residuals.normalization import Normalization
from sysid_ros.engine.residuals.prepared_comparison import Compared, PreparedComparison
from sysid_ros.engine.signals import (
    Block,
    SignalMapping,
    Stamping,
    TimeSeries,
    at_true_times,
    blocks_of,
    linear_places,
    samples_between,
    sensor_mapping,
    stamp_offsets,
    width_of,
)
from sysid_ros.errors import SignalError, unknown_name


@dataclass(frozen=True)
class Comparison:
    """The signals compared, and their units."""

    # see :func:`sysid_ros.engine.residuals.normalization.scales`
    normalization: Normalization = "reference"
    # standard deviation per signal, for the normalization "noise"
    noise: Mapping[str, float] | None = None
    # factors by signal name, or one per compared column
    sensor_weights: Mapping[str, float] | FloatArray | None = None
    # signals to compare, in this order; ``None``: all that were measured
    enabled: Sequence[str] | None = None
    wrapped: Collection[str] = field(default_factory=tuple)  # signals measured modulo one turn
    stamping: Stamping = "notebook"  # which instant a simulated sensor value belongs to


def compare(
    predicted: TimeSeries,
    measured: TimeSeries,
    model: Any,
    comparison: Comparison,
    *,
    corrections: Mapping[str, SignalCorrection] | None = None,
    state: FloatArray | None = None,
) -> Compared:
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


def prepared(
    times: FloatArray,
    measured: TimeSeries,
    model: Any,
    comparison: Comparison,
    corrections: Mapping[str, SignalCorrection],
    like: PreparedComparison | None = None,
) -> PreparedComparison:
    """All of a comparison that does not depend on what is simulated at these instants.

    Takes what :func:`compare` takes, with the times of the simulated sensors, after each step,
    (n,) s, in place of these, and ``like``, the same comparison of the same model with another
    recording, whose frame is taken where it suits this one.

    Raises:
      SignalError: The recording does not overlap with the instants, or its signals do not fit.
    """
    if like is not None and like.frame.suits(times, measured, corrections):
        return PreparedComparison.of(like.frame, measured)
    frame = _frame(times, measured, model, comparison, corrections)
    return PreparedComparison.of(frame, measured)


def _frame(
    times: FloatArray,
    measured: TimeSeries,
    model: Any,
    comparison: Comparison,
    corrections: Mapping[str, SignalCorrection],
) -> ComparisonFrame:
    """The part that a recording shares with others; see :func:`prepared`."""
    given = _signals(measured, model)
    chosen = TimeSeries.slice_by_name(
        measured.of_checked(measured.times, measured.data, given),
        given if comparison.enabled is None else comparison.enabled,
    )
    mapping = chosen.signal_mapping or {}
    corrected = {name: corrections.get(name, SignalCorrection()) for name in mapping}
    offsets = stamp_offsets(model, mapping, comparison.stamping)
    rows = _within(measured.times, times, offsets, corrected)
    blocks = blocks_of(model, mapping, comparison.wrapped)
    delays = _per_column(mapping, {name: each.delay for name, each in corrected.items()}) + offsets
    return ComparisonFrame(
        times,
        measured.times,
        measured.signal_mapping,
        corrections,
        rows,
        np.concatenate([np.zeros(0, dtype=np.intp), *(given[name][1] for name in mapping)]),
        mapping,
        delays,
        blocks,
        _weights(blocks, comparison.sensor_weights, mapping),
        _evaluation(times, measured.times[rows], delays, comparison.stamping),
        comparison.normalization,
        comparison.noise,
        comparison.stamping,
    )


def _evaluation(
    times: FloatArray, at: FloatArray, delays: FloatArray, stamping: Stamping
) -> Callable[[FloatArray], FloatArray]:
    """Evaluate columns sampled at ``times`` (n,) at ``at`` (m,), each with its delay, (d,)."""
    if stamping == "true":
        return partial(_cubic, times, at, delays)
    known = [
        (np.flatnonzero(delays == delay), linear_places(times, at - delay))
        for delay in np.unique(delays)
    ]
    if len(known) == 1:
        return known[0][1].values

    def evaluate(values: FloatArray) -> FloatArray:
        result = np.empty((len(at), *values.shape[1:]))
        for columns, places in known:
            result[..., columns] = places.values(values[..., columns])
        return result

    return evaluate


def _cubic(times: FloatArray, at: FloatArray, delays: FloatArray, values: FloatArray) -> FloatArray:
    if values.ndim == 2:
        return at_true_times(TimeSeries.of_checked(times, values), at, delays)
    return np.stack([_cubic(times, at, delays, own) for own in values.swapaxes(0, 1)], axis=1)


def _signals(measured: TimeSeries, model: Any) -> SignalMapping:
    """The signals of the recording, which has the model's where it has no names."""
    if measured.signal_mapping is not None:
        return measured.signal_mapping
    if measured.data.ndim != 2 or measured.data.shape[1] != model.nsensordata:
        raise SignalError(
            f"measurements without names need the model's {model.nsensordata} sensor columns, "
            f"got data of shape {measured.data.shape}"
        )
    return sensor_mapping(model)


def _within(
    recorded: FloatArray,
    times: FloatArray,
    offsets: FloatArray,
    corrections: Mapping[str, SignalCorrection],
) -> slice:
    """The samples for which every signal was simulated, whatever its delay."""
    windows = [each.window for each in corrections.values()]
    earliest = min((low for low, _ in windows), default=0.0)
    latest = max((high for _, high in windows), default=0.0)
    start = times[0] + latest + (offsets.max() if offsets.size else 0.0)
    end = times[-1] + earliest + (offsets.min() if offsets.size else 0.0)
    if recorded[-1] < start or recorded[0] > end:
        raise SignalError(
            f"the measurements, from {recorded[0]:.6f} s to {recorded[-1]:.6f} s, do "
            f"not overlap with the simulation, from {start:.6f} s to {end:.6f} s; the simulation "
            "starts with the first control sample"
        )
    return samples_between(recorded, start, end)


def _weights(
    blocks: list[Block], given: Mapping[str, float] | FloatArray | None, mapping: SignalMapping
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
