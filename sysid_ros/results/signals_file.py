# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``residuals.npz``: what was measured and simulated, for other tools and for new reports.

One group of arrays per sequence and signal, named by their position; ``index`` is a JSON text
that gives the names, units and roles. ``numpy.load`` opens the file without pickle:

    data = numpy.load("residuals.npz")
    residual = data["0/1/measured"] - data["0/1/fitted"]   # sequence 0, signal 1
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.files import dumps, open_arrays, replacing
from sysid_ros.judgement import SequenceFit, SignalFit

# Noise hardly compresses: level 1 takes a fifth of level 6's time for the same size within 2 %.
_COMPRESSION_LEVEL = 1


def write_signals(path: Path, sequences: Sequence[SequenceFit]) -> None:
    """Write every signal of ``sequences`` to ``path``.

    Arrays per signal, key ``<sequence>/<signal>/<array>``: ``times`` [s], ``measured``,
    ``initial`` and ``fitted`` in the signal's unit, all of shape (n,); per sequence
    ``<sequence>/window_starts`` [s]. Signals sampled together share one ``times`` array, which
    ``index`` then names.
    """
    with (
        replacing(path) as stream,
        zipfile.ZipFile(
            stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL
        ) as file,
    ):
        index = []
        for number, sequence in enumerate(sequences):
            _write_array(file, f"{number}/window_starts", sequence.window_starts)
            shared: list[tuple[str, FloatArray]] = []
            signals = []
            for position, signal in enumerate(sequence.signals):
                key = f"{number}/{position}"
                times_key = _times_key(shared, f"{key}/times", signal.times)
                if times_key == f"{key}/times":
                    _write_array(file, times_key, signal.times)
                for name in ("measured", "initial", "fitted"):
                    _write_array(file, f"{key}/{name}", getattr(signal, name))
                entry: dict[str, Any] = {
                    "name": signal.name, "unit": signal.unit, "joint": signal.joint,
                }  # fmt: skip
                if signal.origin:
                    entry["origin"] = signal.origin
                signals.append({**entry, "times": times_key})
            index.append({"name": sequence.name, "role": sequence.role, "signals": signals})
        _write_array(file, "index", np.array(dumps(index, indent=None)))


def _times_key(shared: list[tuple[str, FloatArray]], key: str, times: FloatArray) -> str:
    """The key under which ``times`` is stored: its own unless an equal array came before."""
    for known, array in shared:
        if array is times or np.array_equal(array, times):
            return known
    shared.append((key, times))
    return key


def _write_array(file: zipfile.ZipFile, key: str, array: npt.NDArray[Any]) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    file.writestr(f"{key}.npy", buffer.getbuffer())


def read_signals(path: Path) -> tuple[SequenceFit, ...]:
    """Read the sequences back.

    Args:
      path: A file of :func:`write_signals`; it may be absent.

    Returns:
      The sequences in their order; none where there is no file.

    Raises:
      ValueError: If the file is damaged.
      KeyError: If it lacks an array that its index names.
    """
    if not path.exists():
        return ()
    try:
        with open_arrays(path) as data:
            index = json.loads(str(data["index"]))
            return tuple(
                _read_sequence(data, str(number), entry) for number, entry in enumerate(index)
            )
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def _read_sequence(data: Any, key: str, entry: dict[str, Any]) -> SequenceFit:
    times: dict[str, FloatArray] = {}
    signals = []
    for position, signal in enumerate(entry["signals"]):
        times_key = signal["times"]
        if times_key not in times:  # every look-up decompresses again
            times[times_key] = data[times_key]
        signals.append(
            SignalFit(
                name=signal["name"],
                unit=signal["unit"],
                times=times[times_key],
                measured=data[f"{key}/{position}/measured"],
                initial=data[f"{key}/{position}/initial"],
                fitted=data[f"{key}/{position}/fitted"],
                joint=signal.get("joint", ""),
                origin=tuple(signal.get("origin", ())),
            )
        )
    return SequenceFit(
        name=entry["name"],
        role=entry["role"],
        signals=tuple(signals),
        window_starts=data[f"{key}/window_starts"],
    )
