# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The most recent messages, bounded by size and age, for writing when something has happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

# Memory of a message besides its bytes: the objects around it, as CPython allocates them.
OVERHEAD = 400


class BufferedMessage(NamedTuple):
    """One message as a bag keeps it."""

    topic: str
    data: bytes
    log_ns: int
    publish_ns: int
    sequence: int


class SnapshotBuffer:
    """A ring of messages: the oldest make room for new ones."""

    def __init__(self, max_bytes: int, max_seconds: float, *, overhead: int = 0) -> None:
        """Make an empty buffer.

        Args:
          max_bytes: Of messages kept at most.
          max_seconds: Age of the oldest message at most.
          overhead: Bytes that every message counts for besides its own.
        """
        self._max_bytes = max_bytes
        self._overhead = overhead
        self._max_seconds = max_seconds
        self._messages: deque[tuple[float, BufferedMessage]] = deque()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[BufferedMessage]:
        return (message for _, message in self._messages)

    def add(self, message: BufferedMessage, now: float) -> None:
        """Take one message.

        Args:
          message: The message.
          now: Seconds on a clock that never jumps, unless a simulation starts over.
        """
        self._messages.append((now, message))
        self._bytes += len(message.data) + self._overhead
        while self._bytes > self._max_bytes or abs(now - self._messages[0][0]) > self._max_seconds:
            _, oldest = self._messages.popleft()
            self._bytes -= len(oldest.data) + self._overhead
            if not self._messages:
                break

    def drain(self) -> Iterator[BufferedMessage]:
        """Yield the messages from the oldest on and forget them."""
        while self._messages:
            _, message = self._messages.popleft()
            self._bytes -= len(message.data) + self._overhead
            yield message
