# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mapped recordings as the library's time series, and as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import SUFFIXES, SignalType, TimeSeries, save_npz, value_at
from sysid_ros.errors import OutputError
from sysid_ros.recording.mapping.mapped_recording import MappedRecording, MappedSignal
from sysid_ros.recording.mapping.mapping_settings import SignalKind

_TYPES = {
    SignalKind.ACTUATOR: SignalType.MjCtrl,
    SignalKind.SENSOR: SignalType.MjSensor,
    SignalKind.QPOS: SignalType.MjStateQPos,
    SignalKind.QVEL: SignalType.MjStateQVel,
}


def control_time_series(mapped: MappedRecording, *, ended: bool = True) -> TimeSeries:
    """Join the controls on the union of their instants.

    Each column is completed as its signal behaves between samples, so that it is exact at every
    instant: held columns keep their last value, others are interpolated. Before its first
    and after its last sample a control keeps the nearest value.

    Args:
      mapped: The recording.
      ended: Whether no control follows; the last ones are then in force to the recording's end.

    Returns:
      One column per actuator, mapped by the actuator's name; no column and the recording's two
      ends for a recording without controls.
    """
    if not mapped.controls:
        return TimeSeries(_ends(mapped), np.empty((2, 0)), {}, ())
    names = [signal.name for signal in mapped.controls]
    return _join(mapped.controls, names, _value_at, mapped.end if ended else -np.inf)


def measured_time_series(mapped: MappedRecording) -> TimeSeries:
    """Join the measured signals on the union of their instants, NaN where one was not measured.

    Returns:
      One column per number, mapped by the sensor's name, or the joint's with ``_qpos`` or
      ``_qvel``; no column and the recording's two ends where nothing was measured.
    """
    if not mapped.measured:
        return TimeSeries(_ends(mapped), np.empty((2, 0)), {}, ())
    return _join(mapped.measured, _names(mapped.measured), _sample_at)


def measured_columns(mapped: MappedRecording) -> list[str]:
    """Return what the columns of each measured signal are called in its time series."""
    return _names(mapped.measured)


def export(mapped: MappedRecording, path: str | Path) -> None:
    """Write a mapped recording as arrays (``.npz``) or as one table (``.csv``), by the suffix.

    The arrays are those of both time series, named ``controls_times``, ``controls_data``,
    ``measured_times`` and so on, and ``start_ns``. The table has a row for each instant at which
    anything was sampled and ``nan`` where a signal was not measured.

    Raises:
      OutputError: The suffix is neither, or the file cannot be written.
    """
    path = Path(path)
    if path.suffix == ".npz":
        arrays = control_time_series(mapped).to_arrays("controls_")
        arrays |= measured_time_series(mapped).to_arrays("measured_")
        arrays["start_ns"] = np.asarray(mapped.start_ns)
        save_npz(path, arrays)
    elif path.suffix == ".csv":
        signals = (*mapped.controls, *mapped.measured)
        _join(signals, _names(signals), _table_value_at).save_to_csv(path)
    else:
        raise OutputError(f"cannot export to {path}: its name must end in .npz or .csv")


def _join(
    signals: Sequence[MappedSignal],
    names: Sequence[str],
    value_at: Callable[[MappedSignal, FloatArray], FloatArray],
    end: float = -np.inf,
) -> TimeSeries:
    times = np.unique(np.concatenate([signal.times for signal in signals]))
    if times[-1] < end:
        times = np.append(times, end)
    widths = [1 if signal.values.ndim == 1 else signal.values.shape[1] for signal in signals]
    ends = np.cumsum(widths)
    return TimeSeries(
        times,
        np.column_stack([value_at(signal, times) for signal in signals]),
        {
            name: (_TYPES[signal.kind], np.arange(end - width, end))
            for name, signal, width, end in zip(names, signals, widths, ends, strict=True)
        },
        tuple(
            signal.method
            for signal, width in zip(signals, widths, strict=True)
            for _ in range(width)
        ),
    )


def _names(signals: Sequence[MappedSignal]) -> list[str]:
    """Name columns as the library does: a state or control by its element with a suffix."""
    return [signal.name + SUFFIXES.get(_TYPES[signal.kind], "") for signal in signals]


def _value_at(signal: MappedSignal, times: FloatArray) -> FloatArray:
    """Return a signal's value at any instants, its nearest sample outside of them."""
    return value_at(signal.times, signal.values, times, signal.method)


def _sample_at(signal: MappedSignal, times: FloatArray) -> FloatArray:
    """Return a signal's samples at their instants and NaN at all others."""
    column = np.full((len(times), *signal.values.shape[1:]), np.nan)
    column[np.searchsorted(times, signal.times)] = signal.values
    return column


def _table_value_at(signal: MappedSignal, times: FloatArray) -> FloatArray:
    """Complete controls, leave measurements as they are."""
    complete = signal.kind is SignalKind.ACTUATOR
    return _value_at(signal, times) if complete else _sample_at(signal, times)


def _ends(mapped: MappedRecording) -> FloatArray:
    return np.array([0.0, max(mapped.end, 1e-9)])
