# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Checks of arrays that are to be a time series."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals.mappings import SignalMapping, width_of
from sysid_ros.errors import SignalError


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


def of_width(data: FloatArray, mapping: SignalMapping, what: str) -> FloatArray:
    """Return samples as a table, (n, d), which has as many columns as the signals.

    Raises:
      SignalError: It has more or fewer.
    """
    table, expected = two_dimensional(data), width_of(mapping)
    if table.shape[1] != expected:
        raise SignalError(f"Data columns ({table.shape[1]}) do not match {what} ({expected}).")
    return table
