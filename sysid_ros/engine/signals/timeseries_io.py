# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Time series as npz and csv files."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import mappings
from sysid_ros.engine.signals.mappings import SignalMapping
from sysid_ros.errors import SignalError
from sysid_ros.files import open_arrays, read_regular_text, replace_file, replacing

Arrays = dict[str, npt.NDArray[Any]]


class SeriesParts(NamedTuple):
    """The parts of a :class:`~sysid_ros.engine.signals.timeseries.TimeSeries`, in its order."""

    times: FloatArray
    data: FloatArray
    signal_mapping: SignalMapping | None = None
    interpolation: tuple[str, ...] | None = None


def to_arrays(series: SeriesParts, prefix: str = "") -> Arrays:
    """A series as named arrays without objects, each name after ``prefix``."""
    arrays: Arrays = {prefix + "times": series.times, prefix + "data": series.data}
    if series.signal_mapping is not None:
        arrays[prefix + "signal_mapping"] = np.asarray(mappings.encode(series.signal_mapping))
    if series.interpolation is not None:
        arrays[prefix + "interpolation"] = np.asarray(json.dumps(series.interpolation))
    return arrays


def from_arrays(
    arrays: Mapping[str, npt.NDArray[Any]], source: str, prefix: str = ""
) -> SeriesParts:
    """The series that :func:`to_arrays` took apart.

    Raises:
      SignalError: Arrays are missing or inconsistent; the message names ``source``.
    """
    missing = [name for name in ("times", "data") if prefix + name not in arrays]
    if missing:
        raise SignalError(f"{source} holds no time series: {prefix}{missing[0]} is missing")
    mapping = arrays.get(prefix + "signal_mapping")
    methods = arrays.get(prefix + "interpolation")
    return SeriesParts(
        arrays[prefix + "times"],
        arrays[prefix + "data"],
        None if mapping is None else mappings.decode(str(mapping)),
        None if methods is None else tuple(json.loads(str(methods))),
    )


def save_npz(path: str | os.PathLike[str], arrays: Arrays) -> None:
    """Write arrays as a compressed npz file, atomically.

    Raises:
      OutputError: The file cannot be written.
    """
    target = Path(path)
    if target.suffix != ".npz":  # as numpy does
        target = target.with_name(target.name + ".npz")
    with replacing(target) as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def load_npz(path: str | os.PathLike[str]) -> Arrays:
    """Read all arrays of an npz file; pickled objects are refused.

    Raises:
      SignalError: The file is missing or not such a file.
    """
    try:
        with open_arrays(Path(path)) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile, AttributeError) as error:
        raise SignalError(f"cannot read {os.fspath(path)} as npz: {error}") from error


def save_csv(path: str | os.PathLike[str], series: SeriesParts) -> None:
    """Write a series as CSV with a line of names; numbers are written so that they read back."""
    table = series.data.reshape(len(series.times), -1)
    stream = io.StringIO()
    description = {
        "signal_mapping": None
        if series.signal_mapping is None
        else json.loads(mappings.encode(series.signal_mapping)),
        "interpolation": series.interpolation,
    }
    stream.write(f"# {json.dumps(description)}\n")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["time", *column_names(series)])
    for time, row in zip(series.times, table, strict=True):
        writer.writerow([repr(float(time)), *(repr(float(value)) for value in row)])
    replace_file(Path(path), stream.getvalue())


def column_names(series: SeriesParts) -> list[str]:
    """One name per column: the signal's, with an index where it has several."""
    count = series.data.shape[1] if series.data.ndim > 1 else 1
    names = [f"column_{i}" for i in range(count)]
    for name, (_, columns) in (series.signal_mapping or {}).items():
        for k, column in enumerate(columns):
            names[column] = name if len(columns) == 1 else f"{name}[{k}]"
    return names


def load_csv(path: str | os.PathLike[str]) -> SeriesParts:
    """Read what :func:`save_csv` wrote; without its first line, all columns are linear.

    Raises:
      SignalError: The file is missing or not such a file.
    """
    try:
        text = read_regular_text(Path(path))
    except (OSError, UnicodeDecodeError) as error:
        raise SignalError(f"cannot read {os.fspath(path)}: {error}") from error
    lines = text.splitlines()
    description: dict[str, Any] = {}
    try:
        if lines and lines[0].startswith("# {"):
            description = json.loads(lines.pop(0)[2:])
        rows = [[float(cell) for cell in row] for row in csv.reader(lines[1:])]
        table = np.array(rows, dtype=np.float64)
    except ValueError as error:
        raise SignalError(f"{os.fspath(path)} is not a table of numbers: {error}") from error
    if table.ndim != 2:
        raise SignalError(f"{os.fspath(path)} holds no samples")
    mapping = description.get("signal_mapping")
    methods = description.get("interpolation")
    return SeriesParts(
        table[:, 0],
        table[:, 1:],
        None if mapping is None else mappings.decode(json.dumps(mapping)),
        None if methods is None else tuple(methods),
    )
