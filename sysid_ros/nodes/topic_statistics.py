"""What a recorder counts per topic while messages pass by."""

from __future__ import annotations

import struct
from collections import deque
from dataclasses import dataclass, field

_STAMP = {0: struct.Struct(">iI"), 1: struct.Struct("<iI")}  # by the CDR's byte order
_CDR_HEADER = 4  # bytes
_RATE_WINDOW = 200  # messages


def header_stamp(data: bytes) -> int | None:
    """The ``header.stamp`` of a serialized message that begins with a ``std_msgs/Header``.

    Args:
      data: CDR.

    Returns:
      Nanoseconds, or ``None`` where the message is too short to hold one.
    """
    if len(data) < _CDR_HEADER + 8:
        return None
    seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data, _CDR_HEADER)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


@dataclass
class TopicStatistics:
    """Running counts of one topic; times in nanoseconds."""

    max_gap_ns: int  # longer intervals are counted as gaps
    received: int = 0
    missing: int = 0  # numbers left out in the publishers' own counts
    reported_lost: int = 0  # by the middleware
    gaps: int = 0
    longest_gap_ns: int = 0
    duplicates: int = 0  # equal stamps in a row
    backwards: int = 0  # stamps older than the one before
    _last_ns: int | None = None
    _sequences: dict[bytes, int] = field(default_factory=dict)
    _recent: deque[int] = field(default_factory=lambda: deque(maxlen=_RATE_WINDOW))

    def add(self, stamp_ns: int, publisher: bytes, sequence: int | None) -> None:
        """Count one message.

        Args:
          stamp_ns: Its header stamp, or its publish time where it has no header.
          publisher: Identifies who sent it.
          sequence: That publisher's count of messages, if the middleware tells.
        """
        self.received += 1
        if sequence is not None:
            expected = self._sequences.get(publisher, sequence - 1) + 1
            self.missing += max(sequence - expected, 0)
            self._sequences[publisher] = sequence
        if self._last_ns is not None:
            interval = stamp_ns - self._last_ns
            self.duplicates += interval == 0
            self.backwards += interval < 0
            self.gaps += interval > self.max_gap_ns
            self.longest_gap_ns = max(self.longest_gap_ns, interval)
        self._last_ns = stamp_ns
        self._recent.append(stamp_ns)

    @property
    def lost(self) -> int:
        """Messages that were sent and did not arrive."""
        return max(self.missing, self.reported_lost)

    @property
    def rate(self) -> float:
        """Messages per second over the last few hundred, 0 while unknown."""
        if len(self._recent) < 2 or self._recent[-1] <= self._recent[0]:
            return 0.0
        return 1e9 * (len(self._recent) - 1) / (self._recent[-1] - self._recent[0])
