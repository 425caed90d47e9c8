# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages that wait for the update under way to end."""

from __future__ import annotations

from collections import deque
from itertools import chain

from sysid_ros.recording.messages import RawMessage

MOST = 5000  # of a topic


class WaitingMessages:
    """Keeps the latest messages of every topic.

    Attributes:
      left_out: How many there was no room for so far.
    """

    def __init__(self) -> None:
        self.left_out = 0
        self._by_topic: dict[str, deque[RawMessage]] = {}

    def __bool__(self) -> bool:
        return any(self._by_topic.values())

    def add(self, message: RawMessage) -> None:
        """Keep a message, in the place of its topic's oldest where there are too many."""
        own = self._by_topic.setdefault(message.topic, deque(maxlen=MOST))
        self.left_out += len(own) == MOST
        own.append(message)

    def take(self) -> list[RawMessage]:
        """Give away all messages, each topic's in the order of receipt."""
        found = list(chain.from_iterable(self._by_topic.values()))
        self._by_topic.clear()
        return found
