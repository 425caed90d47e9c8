# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Corrections of measured or predicted signals, one at a time; nothing given is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import Parameter
from sysid_ros.engine.signals import TimeSeries, sensor_mapping
from sysid_ros.errors import SignalError, unknown_name


def get_sensor_indices(
    model: Any, sensor_name: str | Sequence[str], sort: bool = False
) -> list[int]:
    """Columns of one or several sensors in ``sensordata``, in the order named.

    Args:
      model: The MjModel.
      sensor_name: A name or several.
      sort: Whether to sort the columns.

    Raises:
      SignalError: The model lacks a sensor; the message lists those it has.
    """
    names = [sensor_name] if isinstance(sensor_name, str) else sensor_name
    known = sensor_mapping(model)
    columns: list[int] = []
    for name in names:
        if name not in known:
            raise SignalError(
                f"Sensor not found in model: {name}: " + unknown_name("sensor", name, known)
            )
        columns.extend(known[name][1].tolist())
    return sorted(columns) if sort else columns


def apply_bias(ts: TimeSeries, sensor_name: str, bias: Parameter) -> TimeSeries:
    """Add ``bias.value`` (one number or one per column) to a signal."""
    columns = ts.get_indices(sensor_name)[1]
    data = ts.data.copy()
    data[..., columns] += bias.value
    return replace(ts, data=data)


def apply_gain(ts: TimeSeries, sensor_name: str, gain: Parameter) -> TimeSeries:
    """Multiply a signal by ``gain.value`` (one number or one per column)."""
    columns = ts.get_indices(sensor_name)[1]
    data = ts.data.copy()
    data[..., columns] *= gain.value
    return replace(ts, data=data)


def apply_delay(ts: TimeSeries, sensor_name: str, delay: Parameter) -> TimeSeries:
    """Let a signal arrive ``delay.value`` seconds later, at the same instants.

    Before the delay has passed it keeps its first sample.
    """
    ts.get_indices(sensor_name)
    seconds = float(delay.value.item())
    return apply_resample_and_delay(ts, ts.times, 0.0, {sensor_name: seconds})


def apply_time_window(ts: TimeSeries, min_t: float, max_t: float) -> TimeSeries:
    """The samples with ``min_t <= time <= max_t``.

    Raises:
      SignalError: There is none; the message says which times there are.
    """
    return ts.slice_by_time(min_t, max_t)


def apply_delayed_ts_window(
    ts: TimeSeries, ts_delayed: TimeSeries, min_delay: float, max_delay: float
) -> TimeSeries:
    """The samples of ``ts`` that lie within another series shifted by any of the delays.

    Args:
      ts: The series to cut.
      ts_delayed: The series that limits it.
      min_delay: Smallest shift in seconds, may be negative; the window starts at the other's
        first sample minus this.
      max_delay: Largest shift; the window ends at the other's last sample minus this.

    Raises:
      SignalError: The delays are in the wrong order, or nothing remains.
    """
    if min_delay > max_delay:
        raise SignalError(
            "min_delay must be less than or equal to max_delay, "
            f"received {min_delay} and {max_delay}"
        )
    return apply_time_window(ts, ts_delayed.times[0] - min_delay, ts_delayed.times[-1] - max_delay)


def apply_resample_and_delay(
    ts: TimeSeries,
    times: FloatArray,
    default_delay: float,
    sensor_delays: Mapping[str, float] | None = None,
    predicted_data: bool = True,
) -> TimeSeries:
    """A series at other instants, each signal with its own delay.

    Args:
      ts: The series.
      times: The instants, (m,) s.
      default_delay: Delay in seconds of signals not named.
      sensor_delays: Delays by signal.
      predicted_data: Whether the signals arrive late by the delay (predictions, to be compared
        with measurements); otherwise early (measurements, to be compared with predictions).

    Raises:
      SignalError: There is no such signal.
    """
    delays = np.full(ts.data.shape[1], float(default_delay))
    for name, delay in (sensor_delays or {}).items():
        delays[ts.get_indices(name)[1]] = delay
    data = at_delayed_times(ts, times, delays if predicted_data else -delays)
    return replace(ts, times=times, data=data)


def at_delayed_times(ts: TimeSeries, times: FloatArray, delays: FloatArray) -> FloatArray:
    """Values of column j at ``times - delays[j]``, (m, d); equal delays are evaluated together."""
    result = np.empty((len(times), ts.data.shape[1]))
    methods = ts.interpolation
    for delay in np.unique(delays):
        columns = np.flatnonzero(delays == delay)
        some = None if methods is None else tuple(methods[i] for i in columns)
        part = TimeSeries.of_checked(ts.times, ts.data[:, columns], None, some)
        result[:, columns] = part.interpolate(times - delay)
    return result


def prepare_sensor_weights(
    sensor_weights: Mapping[str, float] | FloatArray, n_sensors: int, model: Any
) -> FloatArray:
    """One weight per column of ``sensordata``.

    Args:
      sensor_weights: By sensor name, others get one; or one per column, (n_sensors,).
      n_sensors: Number of columns.
      model: The MjModel that has the sensors.

    Raises:
      SignalError: The model lacks a sensor, or the array has another shape.
    """
    if isinstance(sensor_weights, Mapping):
        weights = np.ones(n_sensors)
        for name, weight in sensor_weights.items():
            weights[get_sensor_indices(model, name)] = weight
        return weights
    given = np.asarray(sensor_weights, dtype=np.float64)
    if given.shape != (n_sensors,):
        raise SignalError(
            "Expected sensor_weights to be a numpy array of shape (n_sensors,), "
            f"received {given.shape}"
        )
    return given


def weighted_diff(
    predicted_data: FloatArray,
    measured_data: FloatArray,
    model: Any = None,
    sensor_weights: Mapping[str, float] | FloatArray | None = None,
) -> FloatArray:
    """``(measured - predicted) * weight``, (n, number of columns).

    Raises:
      SignalError: Weights are given without the model they refer to, or do not fit it.
    """
    difference = measured_data - predicted_data
    if sensor_weights is None:
        return difference
    if model is None:
        raise SignalError("model is required if sensor_weights is provided")
    return difference * prepare_sensor_weights(sensor_weights, difference.shape[-1], model)


def normalize_residual(residual: FloatArray, measured_data: FloatArray) -> FloatArray:
    """Divide every column by the norm of the measured column over sqrt(2).

    A column without motion is left in its own unit; missing measurements (NaN) do not count.
    """
    norm = np.sqrt(np.nansum(np.square(measured_data), axis=0) / 2.0)
    return residual / np.where(norm > 0.0, norm, 1.0)
