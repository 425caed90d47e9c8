# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What makes arrays a time series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.mappings import SignalError, SignalMapping, SignalType

if TYPE_CHECKING:
    from sysid_ros.sysid.timeseries import TimeSeries

FloatArray = npt.NDArray[np.float64]


def locked(array: npt.ArrayLike) -> FloatArray:
    """A float64 array that nobody can write to; a copy unless it was already locked."""
    given = np.asarray(array)
    if given.dtype == np.float64 and not given.flags.writeable and given.base is None:
        return given
    copy = np.array(given, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def check_times(times: FloatArray, data: FloatArray) -> None:
    """Refuse times that are empty, not finite, not increasing, or not one per sample.

    Raises:
      SignalError: They are.
    """
    if times.size == 0:
        raise SignalError("Empty arrays are not allowed in TimeSeries")
    if times.ndim != 1:
        raise SignalError(f"times must be a 1D array, got {times.ndim}D array")
    if data.ndim == 0 or len(times) != len(data):
        length = len(data) if data.ndim else 0
        raise SignalError(f"Length of times ({len(times)}) and data ({length}) must match")
    if not np.all(np.isfinite(times)):
        raise SignalError(f"times[{int(np.argmin(np.isfinite(times)))}] is not a finite number")
    steps = np.diff(times)
    if not np.all(steps > 0):
        i = int(np.argmin(steps > 0))
        raise SignalError(
            f"times must be strictly increasing: times[{i}] = {times[i]:.9g} s is followed by "
            f"{times[i + 1]:.9g} s"
        )


def check_mapping(mapping: SignalMapping, columns: int) -> None:
    """Refuse a mapping to columns that the data does not have.

    Raises:
      SignalError: It is one.
    """
    for name, (_, indices) in mapping.items():
        beyond = [int(i) for i in np.atleast_1d(indices) if not 0 <= i < columns]
        if beyond:
            raise SignalError(
                f"signal {name!r} is mapped to column {beyond[0]}, the data has {columns}"
            )


def two_dimensional(data: npt.ArrayLike) -> FloatArray:
    """``data`` as a float64 table.

    Raises:
      SignalError: It does not have two dimensions.
    """
    table = np.asarray(data, dtype=np.float64)
    if table.ndim != 2:
        raise SignalError("The 'data' array must be 2-dimensional (Time x Features).")
    return table


def check_types(measured: TimeSeries, enabled: Sequence[tuple[str, SignalType]]) -> None:
    """Refuse observations that are declared as another type than they are.

    Raises:
      SignalError: One is, or is unknown.
    """
    for name, declared in enabled:
        kind = measured.get_indices(name)[0]
        if kind is not declared:
            raise SignalError(
                f"Observation type error: {name} is of type {kind} but declared as {declared}."
            )


def check_same_signals(predicted: TimeSeries, measured: TimeSeries) -> None:
    """Refuse what a ``modify_residual`` returned if it cannot be compared column by column.

    Raises:
      SignalError: Signals or their columns differ.
    """
    ours, theirs = predicted.signal_mapping or {}, measured.signal_mapping or {}
    same = ours.keys() == theirs.keys() and all(
        np.array_equal(ours[name][1], theirs[name][1]) for name in ours
    )
    if not same:
        raise SignalError(
            "modify_residual returned a prediction with the signals "
            f"{list(ours)} and a measurement with the signals {list(theirs)}; they must be the same"
        )
