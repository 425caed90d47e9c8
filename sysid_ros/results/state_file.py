# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``state.npz``: where a running fit stands, so that another process can carry it on.

An archive of plain arrays and one JSON text, replaced after every accepted step. It stays with a
result that was cut short and goes when the fit has run its course.
"""

from __future__ import annotations

import fcntl
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.engine.estimation import FitState
from sysid_ros.engine.least_squares import Point
from sysid_ros.errors import OutputError
from sysid_ros.files import TEXT, FormError, Record, by_name, dumps, open_arrays, replace_file
from sysid_ros.results.reading import ResultError
from sysid_ros.results.result_document import trace_entry, trace_from

STATE_FILE = "state.npz"
SEARCH_FILE = "search.json"  # where a run stands that has no state yet, as it is still searching
FORMAT = 1

_STATE = Record(FitState, without=("point", "trace"))


@dataclass(frozen=True)
class SavedState:
    """A state with what it is the state of."""

    state: FitState  # the fit's state
    # a digest of every input of the fit by name; see :mod:`sysid_ros.pipeline.resume`
    inputs: Mapping[str, str]


def write_state(folder: Path, state: FitState, inputs: Mapping[str, str]) -> None:
    """Replace the state in ``folder``, atomically.

    Args:
      folder: An existing folder.
      state: Where the fit stands.
      inputs: Digests of what is fitted, to recognise it by.

    Raises:
      OutputError: It cannot be written; the former state is then still whole.
    """
    document = {
        "format": FORMAT,
        "inputs": inputs,
        **_STATE.write(state),
        **trace_entry(state.trace),
    }
    starts = state.point.starts
    archive = io.BytesIO()
    np.savez(
        archive,
        document=np.array(dumps(document, indent=None)),
        theta=state.point.theta,
        starts=np.concatenate([*starts, np.zeros(0)]),
        start_sizes=np.array([start.size for start in starts], dtype=np.int64),
    )
    replace_file(folder / STATE_FILE, archive.getvalue())


def read_state(folder: Path) -> SavedState:
    """Read what :func:`write_state` wrote.

    Raises:
      ResultError: There is none, or it is damaged or of another version.
    """
    path = folder / STATE_FILE
    if not path.is_file():
        raise ResultError(
            f"{folder} holds no {STATE_FILE}: its fit had no accepted step yet, or it ended by "
            "itself and has nothing left to do"
        )
    try:
        with open_arrays(path) as archive:
            document = json.loads(str(archive["document"]))
            if document["format"] != FORMAT:
                raise ResultError(f"{path} has format {document['format']}, not {FORMAT}")
            inputs = by_name(TEXT).read(document["inputs"], "inputs")
            trace = trace_from(document, "the document")
            state: FitState = _STATE.read(document, "", point=_point(archive), trace=trace)
    except _DAMAGE as error:
        raise ResultError(f"cannot read {path}: {str(error) or type(error).__name__}") from error
    wrong = _impossible(state)
    if wrong:
        raise ResultError(f"cannot read {path}: {wrong} is no number that a fit could have had")
    return SavedState(state, inputs)


def _impossible(state: FitState) -> str:
    """The name of a number that no fit can have written; empty where there is none."""
    positive = {
        "damping": state.damping,
        **{f"noise.{name}": level for name, level in state.noise.items()},
    }
    counted = {
        "iteration": state.iteration, "rounds": state.rounds, "elapsed": state.elapsed,
    }  # fmt: skip
    wrong = [name for name, value in positive.items() if not 0.0 < value < math.inf]
    wrong += [name for name, value in counted.items() if not 0.0 <= value < math.inf]
    return next(iter(wrong), "")


# What numpy, zipfile, zlib and json say of files that are cut, poisoned or endless.
_DAMAGE = (
    OSError, ValueError, KeyError, TypeError, IndexError, EOFError, MemoryError, RecursionError,
    NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def _point(archive: Mapping[str, Any]) -> Point:
    theta, starts, sizes = (archive[name] for name in ("theta", "starts", "start_sizes"))
    for name, values in (("theta", theta), ("starts", starts)):
        if values.dtype != np.float64 or values.ndim != 1 or not np.all(np.isfinite(values)):
            raise FormError(f"{name} must be a list of finite numbers")
    if sizes.dtype != np.int64 or sizes.ndim != 1 or np.any(sizes < 0):
        raise FormError("start_sizes must be a list of sizes")
    if sizes.sum() != starts.size:
        raise FormError(f"starts has {starts.size} numbers, start_sizes {sizes.sum()}")
    ends = np.cumsum(sizes)
    return Point(theta, tuple(starts[e - n : e] for e, n in zip(ends, sizes, strict=True)))


def folders_with_state(output_dir: Path) -> list[Path]:
    """Result folders and interrupted work folders that hold a state, the latest first.

    Of two written within a tick of the file system's clock, the last by name comes first.
    """
    files = [
        path
        for name in (STATE_FILE, SEARCH_FILE)
        for path in output_dir.expanduser().glob(f"*/{name}")
        if path.is_file()
    ]
    files.sort(key=lambda path: (path.stat().st_mtime_ns, path.parent.name), reverse=True)
    return list(dict.fromkeys(path.parent for path in files))


@contextmanager
def claimed(folder: Path) -> Iterator[bool]:
    """Hold ``folder`` against other processes that ask in the same way.

    The claim is a lock of the operating system: it ends with its process, however that ends.

    Yields:
      Whether it was free.

    Raises:
      OutputError: The folder cannot be opened.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise OutputError(f"cannot open {folder}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
