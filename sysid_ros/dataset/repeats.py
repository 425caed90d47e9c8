# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that contain the samples of others: copies, and bags cut from one another.

A copy that is held out confirms whatever was fitted, and one that is fitted counts its data twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.signals import ModelSequences

_RUN = 50  # samples in a row that must be equal
_CHANGES = 25  # of them, that differ from the one before; a robot at rest repeats itself
_KEY = 5  # samples by which equal runs are looked up
_SHARE = 0.1  # of a recording's runs, which are equal where it is a copy in part


@dataclass(frozen=True)
class Repeat:
    """One recording that repeats another."""

    name: str  # the recording
    other: str  # the one whose samples it has, which stands before it
    share: float  # of its motion that is repeated, 0 to 1


def repeated_recordings(groups: Iterable[ModelSequences]) -> tuple[Repeat, ...]:
    """Find recordings whose measurements are those of others, sample by sample.

    Args:
      groups: Sequences by model, those that others may repeat first.

    Returns:
      Each recording that repeats an earlier one, with the one that it repeats most.
    """
    given = {
        name: series.data
        for group in groups
        for name, series in zip(group.sequence_name, group.sensordata, strict=True)
    }
    runs = {name: _moving_runs(data) for name, data in given.items()}
    rows = {name: _Rows(data.tobytes(), data[:1].nbytes) for name, data in given.items()}
    known: dict[bytes, list[tuple[str, int]]] = {}
    for name, starts in runs.items():
        for start in starts:
            known.setdefault(rows[name].some(start, _KEY), []).append((name, start))
    order = {name: place for place, name in enumerate(rows)}
    repeated: set[tuple[str, int, str]] = set()
    for other, data in rows.items():
        for row in range(len(given[other]) - _RUN + 1):
            for name, start in known.get(data.some(row, _KEY), ()):
                later = order[name] > order[other]
                if later and data.some(row, _RUN) == rows[name].some(start, _RUN):
                    repeated.add((name, start, other))
    counts = Counter((name, other) for name, _, other in repeated)
    most: dict[str, Repeat] = {}
    for (name, other), count in counts.most_common():
        share = count / len(runs[name])
        if share >= _SHARE:
            most.setdefault(name, Repeat(name, other, share))
    return tuple(most[name] for name in rows if name in most)


def _moving_runs(data: FloatArray) -> list[int]:
    """The beginnings of runs, one after the other, in which the robot moves."""
    changes = np.any(data[1:] != data[:-1], axis=1)
    return [
        start
        for start in range(0, len(data) - _RUN + 1, _RUN)
        if np.count_nonzero(changes[start : start + _RUN - 1]) >= _CHANGES
    ]


class _Rows(NamedTuple):
    """The samples of a recording as bytes, of which parts are taken faster than of arrays."""

    content: bytes
    size: int  # of a row

    def some(self, start: int, count: int) -> bytes:
        """So many rows from one on."""
        return self.content[start * self.size : (start + count) * self.size]
