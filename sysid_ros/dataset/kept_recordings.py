# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings that several fits of one command map alike, so that a process reads each once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache

from sysid_ros.recording.mapping import MappedRecording

KEPT_BYTES = 64 << 20  # of samples that a process keeps; other recordings are read again


class KeptRecordings:
    """Mapped recordings, as many as there is room for."""

    def __init__(self) -> None:
        self._known: dict[Hashable, MappedRecording] = {}
        self._room = KEPT_BYTES

    def mapped(self, key: Hashable, read: Callable[[], MappedRecording]) -> MappedRecording:
        """A recording as it is known, or as it is read now.

        Args:
          key: By which it is known.
          read: Opens and maps it.
        """
        if key in self._known:
            return self._known[key]
        found = read()
        signals = (*found.controls, *found.measured)
        size = sum(signal.times.nbytes + signal.values.nbytes for signal in signals)
        if size <= self._room:
            self._known[key], self._room = found, self._room - size
        return found


@lru_cache(maxsize=1)
def kept_recordings(token: str) -> KeptRecordings:
    """The recordings of fits that map the same signals, which a token says; of the latest only."""
    del token
    return KeptRecordings()
