# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sampled signals with their instants, their names, and how they behave between samples."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.signals import interpolation as between
from sysid_ros.engine.signals import mappings, timeseries_io
from sysid_ros.engine.signals.mappings import SignalMapping, SignalType
from sysid_ros.engine.signals.series_checks import (
    check_mapping,
    check_times,
    locked,
    of_width,
    two_dimensional,
)
from sysid_ros.errors import SignalError, unknown_name

SignalMappingType = dict[str, tuple[SignalType, IndexArray]]

__all__ = ["SignalError", "SignalMappingType", "SignalType", "TimeSeries"]


@dataclass(frozen=True, eq=False, repr=False)
class TimeSeries:
    """Immutable samples of one or several signals."""

    times: FloatArray  # instants in seconds, strictly increasing, (n,), read-only
    data: FloatArray  # samples, (n, d) or (n,), read-only; NaN where a signal was not measured
    # ``{name: (SignalType, column indices)}``, or ``None``
    signal_mapping: SignalMapping | None = None
    # per column "linear", "cubic" or "zoh", or ``None`` for linear everywhere
    interpolation: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Copy and check.

        Raises:
          SignalError: Empty arrays, times not one-dimensional, finite and strictly increasing,
            lengths that differ, or a mapping or interpolation that does not fit the columns.
        """
        object.__setattr__(self, "times", locked(self.times))
        object.__setattr__(self, "data", locked(self.data))
        check_times(self.times, self.data)
        columns = self.data.shape[1] if self.data.ndim > 1 else 1
        if self.signal_mapping is not None:
            check_mapping(self.signal_mapping, columns)
        if self.interpolation is not None:
            object.__setattr__(self, "interpolation", tuple(self.interpolation))
            if len(self.interpolation) != columns:
                raise SignalError(
                    f"{len(self.interpolation)} interpolation methods for {columns} columns"
                )
            for method in self.interpolation:
                between.check_method(method)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        names = "" if self.signal_mapping is None else f", signals={list(self.signal_mapping)}"
        rate = f", dt={np.median(np.diff(self.times)):.6g}" if len(self) > 1 else ""
        missing = int(np.isnan(self.data).sum())
        gaps = f", missing={missing}" if missing else ""
        span = f"[{self.times[0]:.6g}, {self.times[-1]:.6g}]"
        return f"TimeSeries(shape={self.data.shape}, times={span}{rate}{gaps}{names})"

    # From data and names

    @classmethod
    def of_checked(cls, *parts: Any) -> TimeSeries:
        """A series of attributes that are known to fit, as parts of another do: not copied."""
        series, given = object.__new__(cls), timeseries_io.SeriesParts(*parts)
        vars(series).update(given._asdict(), times=given.times.view(), data=given.data.view())
        series.times.flags.writeable = series.data.flags.writeable = False
        return series

    @classmethod
    def create(
        cls,
        times: FloatArray,
        data: FloatArray,
        signal_mapping: Mapping[str, tuple[SignalType, npt.ArrayLike]],
    ) -> TimeSeries:
        """A series whose mapping may give columns as a number, list or array."""
        normalized = {
            name: (kind, np.atleast_1d(np.asarray(columns, dtype=np.intp)))
            for name, (kind, columns) in signal_mapping.items()
        }
        return cls(times, data, normalized)

    @classmethod
    def from_names(
        cls,
        times: FloatArray,
        data: FloatArray,
        model: Any,
        names: Sequence[str | tuple[str, SignalType]] | None = None,
        *,
        interpolation: tuple[str, ...] | None = None,
    ) -> TimeSeries:
        """Measurements of a model's sensors, positions, velocities or activations.

        Args:
          times: Instants in seconds, (n,).
          data: Samples, (n, d).
          model: The MjModel that has the signals.
          names: What the columns are, in order: names or ``(name, SignalType)``; a sensor or a
            ball joint takes several columns. ``None``: all sensors, in the model's order.
          interpolation: One method per column.

        Raises:
          SignalError: A name is unknown, or the widths do not add up to d.
        """
        if names is None:
            mapping, what = mappings.sensor_mapping(model), "model sensors dim"
        else:
            mapping = mappings.resolve(model, names, mappings.OBSERVABLE)
            what = "the named signals' width"
        return cls(times, of_width(data, mapping, what), mapping, interpolation)

    @classmethod
    def from_control_names(
        cls,
        times: FloatArray,
        data: FloatArray,
        model: Any,
        names: Sequence[str | tuple[str, SignalType]] | None = None,
        *,
        interpolation: tuple[str, ...] | None = None,
    ) -> TimeSeries:
        """Commands of a model's actuators.

        Args:
          times: Instants in seconds, (n,).
          data: Samples, (n, d).
          model: The MjModel that has the actuators.
          names: Which actuators the columns drive, in order. ``None``: all, in the model's order.
          interpolation: One method per column; "zoh" for commands that hold.

        Raises:
          SignalError: A name is unknown, or the widths do not add up to d.
        """
        mapping = (
            mappings.control_mapping(model)
            if names is None
            else mappings.resolve(model, names, [SignalType.MjCtrl])
        )
        return cls(times, of_width(data, mapping, "model controls"), mapping, interpolation)

    @classmethod
    def from_custom_map(
        cls,
        times: FloatArray,
        data: FloatArray,
        signals: Sequence[str | tuple[str, int, SignalType]],
    ) -> TimeSeries:
        """Signals that need not be in a model.

        Args:
          times: Instants in seconds, (n,).
          data: Samples, (n, d).
          signals: What the columns are, in order: a name (one column of type CustomObs) or
            ``(name, width, type)``.

        Raises:
          SignalError: A width is not positive, or the widths do not add up to d.
        """
        table = two_dimensional(data)
        mapping = mappings.custom_mapping(signals)
        width = mappings.width_of(mapping)
        if width != table.shape[1]:
            raise SignalError(
                f"Total width of signals ({width}) does not match data columns ({table.shape[1]})."
            )
        return cls(times, table, mapping)

    @staticmethod
    def compute_all_sensor_mapping(model: Any) -> SignalMappingType:
        """All sensors of a model and their columns in ``sensordata``."""
        return mappings.sensor_mapping(model)

    @staticmethod
    def compute_all_control_mapping(model: Any) -> SignalMappingType:
        """All actuators of a model and their columns in ``ctrl``."""
        return mappings.control_mapping(model)

    @staticmethod
    def compute_all_state_mappings(
        model: Any,
    ) -> tuple[SignalMappingType, SignalMappingType, SignalMappingType, SignalMappingType]:
        """Mappings of qpos, qvel, act (columns of the state without time) and ctrl."""
        return (*mappings.state_mappings(model), mappings.control_mapping(model))

    # Looking at parts

    def get_indices(self, obs_name: str) -> tuple[SignalType, IndexArray]:
        """Type and columns of one signal.

        Raises:
          SignalError: There is no such signal; the message lists those there are.
        """
        mapping = self.signal_mapping or {}
        if obs_name not in mapping:
            raise SignalError(unknown_name("signal", obs_name, mapping))
        return mapping[obs_name]

    def known(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Instants (k,) and values (k, width) of a signal's complete samples, if it has any."""
        mapping = self.signal_mapping or {}
        if name not in mapping:
            return np.zeros(0), np.zeros((0, 1))
        values = self.data[:, mapping[name][1]]
        complete = np.isfinite(values).all(axis=1)
        return self.times[complete], values[complete]

    @classmethod
    def slice_by_name(cls, ts: TimeSeries, enabled_sensors: Iterable[str]) -> TimeSeries:
        """A series of some signals only, in the order named, with columns counted anew.

        Raises:
          SignalError: There is no such signal.
        """
        if ts.signal_mapping is None:
            return ts
        mapping: SignalMappingType = {}
        columns: list[int] = []
        for name in dict.fromkeys(enabled_sensors):
            kind, original = ts.get_indices(name)
            mapping[name] = (kind, np.arange(len(columns), len(columns) + len(original)))
            columns.extend(original.tolist())
        methods = ts.interpolation and tuple(ts.interpolation[i] for i in columns)
        return cls.of_checked(ts.times, ts.data[..., columns], mapping, methods)

    def slice_by_time(self, start: float, end: float) -> TimeSeries:
        """The samples with start <= time <= end.

        Raises:
          SignalError: There is none.
        """
        rows = between.samples_between(self.times, start, end)
        mapping, methods = self.signal_mapping, self.interpolation
        return self.of_checked(self.times[rows], self.data[rows], mapping, methods)

    def remove_from_beginning(self, time_to_remove_s: float) -> TimeSeries:
        """Without the first seconds; the remaining times start at zero.

        Raises:
          SignalError: The time is negative or longer than the series.
        """
        if time_to_remove_s < 0:
            raise SignalError("time_to_remove_s must be non-negative")
        first = int(np.searchsorted(self.times - self.times[0], time_to_remove_s))
        if first >= len(self):
            raise SignalError("time_to_remove_s is greater than the duration of the time series")
        return replace(self, times=self.times[first:] - self.times[first], data=self.data[first:])

    # Between samples

    def holds(self, column: int) -> bool:
        """Return whether a column keeps its last sample, as a command does."""
        return self.interpolation is not None and between.is_held(self.interpolation[column])

    def method_of(self, column: int) -> str:
        """The way of a column between samples: zoh, linear or cubic."""
        return "linear" if self.interpolation is None else self.interpolation[column]

    def interpolate(self, t: npt.ArrayLike, method: str | None = None) -> FloatArray:
        """Values at any instants.

        Args:
          t: Instants in seconds, scalar or (m,).
          method: Overrides the series' own interpolation in all columns.

        Returns:
          Values, (m, d) or (m,) as ``data``; outside the series its first or last sample.

        Raises:
          SignalError: The method is unknown or needs more samples.
        """
        at = np.atleast_1d(np.asarray(t, dtype=np.float64))
        if method is None and self.interpolation is not None:
            if self.data.ndim > 1:
                return between.interpolate_columns(self.times, self.data, at, self.interpolation)
            method = self.interpolation[0]
        return between.interpolate(self.times, self.data, at, method or "linear")

    def get(self, t: npt.ArrayLike, method: str | None = None) -> tuple[FloatArray, FloatArray]:
        """The instants asked for and the values there; a scalar instant gives one sample."""
        at = np.asarray(t, dtype=np.float64)
        values = self.interpolate(at, method)
        return at, values if at.shape else values[0]

    def resample(
        self,
        new_times: FloatArray | None = None,
        target_dt: float | None = None,
        method: str | None = None,
    ) -> TimeSeries:
        """The same signals at other instants.

        Args:
          new_times: The instants, strictly increasing, (m,).
          target_dt: Instead of them, exactly this interval, from the first sample up to the last
            instant that is not after the last sample.
          method: Overrides the series' own interpolation.

        Raises:
          SignalError: Neither or an invalid argument is given.
        """
        if new_times is None:
            if target_dt is None:
                raise SignalError("Either new_times or target_dt must be provided")
            if not target_dt > 0:
                raise SignalError("target_dt must be a positive float")
            # A last instant missed by rounding alone belongs to the series.
            steps = int(np.floor((self.times[-1] - self.times[0]) / target_dt + 1e-6))
            new_times = self.times[0] + target_dt * np.arange(steps + 1)
        elif np.ndim(new_times) != 1:
            raise SignalError("new_times must be a 1D array")
        if method is None and np.array_equal(new_times, self.times):
            return self  # as every method has it
        return replace(self, times=new_times, data=self.interpolate(new_times, method))

    def dt_statistics(self) -> dict[str, float]:
        """Mean, median, std, min and max of the intervals between samples, in seconds.

        Raises:
          SignalError: There is only one sample.
        """
        if len(self) < 2:
            raise SignalError("Must have at least two timestamps to compute dt statistics.")
        intervals = np.diff(self.times)
        kinds = ("mean", "median", "std", "min", "max")
        return {kind: float(getattr(np, kind)(intervals)) for kind in kinds}

    # On disk

    def save_to_disk(self, path: str | os.PathLike[str]) -> None:
        """Write everything as npz (no pickle), atomically.

        Raises:
          OutputError: The file cannot be written.
        """
        timeseries_io.save_npz(path, self.to_arrays())

    @classmethod
    def load_from_disk(cls, path: str | os.PathLike[str]) -> TimeSeries:
        """Read what :meth:`save_to_disk` wrote.

        Raises:
          SignalError: The file is missing or holds no time series.
        """
        return cls.from_arrays(timeseries_io.load_npz(path), str(path))

    def save_to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write times and data as CSV, one line per sample, under a line of names.

        Raises:
          OutputError: The file cannot be written.
        """
        timeseries_io.save_csv(path, self._parts())

    @classmethod
    def load_from_csv(cls, path: str | os.PathLike[str]) -> TimeSeries:
        """Read what :meth:`save_to_csv` wrote.

        Raises:
          SignalError: The file is missing or holds no time series.
        """
        return cls(*timeseries_io.load_csv(path))

    def to_arrays(self, prefix: str = "") -> timeseries_io.Arrays:
        """Named arrays without objects, each name after ``prefix``."""
        return timeseries_io.to_arrays(self._parts(), prefix)

    @classmethod
    def from_arrays(cls, arrays: timeseries_io.Arrays, source: str, prefix: str = "") -> TimeSeries:
        """The series that :meth:`to_arrays` took apart; errors name ``source``."""
        return cls(*timeseries_io.from_arrays(arrays, source, prefix))

    def _parts(self) -> timeseries_io.SeriesParts:
        return timeseries_io.SeriesParts(
            self.times, self.data, self.signal_mapping, self.interpolation
        )
