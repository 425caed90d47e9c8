# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Record of how far each publisher was heard: what may still be on its way when a bag is to end."""

from __future__ import annotations

import itertools
import statistics
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_LOOKED_AT = 32  # messages of a publisher that tell how often it sends
_FEW = 10  # intervals that tell
_REGULAR_NS = 500_000_000  # between messages of whoever is waited for
# Middlewares offer a lost message again at least that often (Fast DDS, the slowest, every 3 s):
# whoever was not heard for longer has sent nothing since.
_REPEATED = 3.5  # s
_LONGEST_LOOK = 0.1  # s, of which the recorder was held up for the rest


@dataclass
class _Sender:
    """A publisher: when its latest messages were sent, and the least delay of any, ns."""

    sent: deque[int] = field(default_factory=lambda: deque(maxlen=_LOOKED_AT))
    least_delay: int = 1 << 62  # with the difference of both computers' clocks
    heard: float = 0.0  # when the latest came, s for which the recorder had looked

    @property
    def heard_ns(self) -> int:
        """By the clock of receipt, until when what it sent has come."""
        return self.sent[-1] + self.least_delay

    def is_regular(self) -> bool:
        """Return whether it would have sent something by now if it went on."""
        intervals = [later - before for before, later in itertools.pairwise(self.sent)]
        return len(intervals) >= _FEW and statistics.median(intervals) < _REGULAR_NS


class Arrivals:
    """Knows until when the messages of each publisher have come.

    Reliable messages come in order: what a publisher sent until its newest message is here. What
    it sent afterwards may have been lost on the way, to be sent again; nobody tells, but whoever
    sent regularly is silent then.
    """

    def __init__(self) -> None:
        self._senders: dict[bytes, _Sender] = {}
        self._looked, self._last = 0.0, time.monotonic()

    def look(self, now: float) -> None:
        """Take notice that messages are about to be taken.

        Args:
          now: By the monotonic clock, s. A recorder that was held up has not looked meanwhile.
        """
        self._looked += min(now - self._last, _LONGEST_LOOK)
        self._last = now

    def add(self, publisher: bytes, info: Mapping[str, Any]) -> int:
        """Take notice of a message.

        Returns:
          When it was sent, by the clock of receipt, ns; 0 where the middleware does not know.
        """
        received, sent = info["received_timestamp"], info["source_timestamp"]
        if received <= 0 or sent <= 0:
            return 0
        sender = self._senders.get(publisher)
        if sender is None:
            sender = self._senders[publisher] = _Sender()
        sender.sent.append(sent)
        sender.heard = self._looked
        if received - sent < sender.least_delay:
            sender.least_delay = received - sent
        return sender.heard_ns

    def lack(self, publishers: Iterable[bytes], until_ns: int) -> bool:
        """Return whether messages sent before an instant may still come.

        Args:
          publishers: Those whose lost messages are sent again, of those that are there.
          until_ns: The instant, by the computer's clock.
        """
        senders = (self._senders[name] for name in publishers if name in self._senders)
        return any(
            sender.heard_ns < until_ns
            and self._looked - sender.heard < _REPEATED
            and sender.is_regular()
            for sender in senders
        )
