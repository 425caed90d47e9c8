# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Counts of a recorder per topic while messages pass by."""

from __future__ import annotations

import struct
import time
from array import array
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rclpy.node import Node

from sysid_ros.nodes.clocks import uses_simulated_time
from sysid_ros.recording.bags import ClockRelation, relate

_STAMP = {0: struct.Struct(">iI"), 1: struct.Struct("<iI")}  # by the CDR's byte order
_CDR_HEADER = 4  # bytes
_RATE_WINDOW = 200  # messages
_REGULAR = 1.0  # Hz; slower topics may be silent for long
_PATIENCE = 1.0  # s
_MISSED = 10  # messages that fail to come until a topic counts as silent
_BLOCK = 100  # messages, of which the one with the least delay tells about the clocks
_MOST_BLOCKS = 1024  # of a topic; of more, each two are joined, so that nothing grows for days


def header_stamp(data: bytes) -> int | None:
    """The ``header.stamp`` of a message in CDR that begins with a ``std_msgs/Header``.

    Returns:
      Nanoseconds, or ``None`` where the message is too short to hold one.
    """
    if len(data) < _CDR_HEADER + 8:
        return None
    seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data, _CDR_HEADER)
    return int(seconds) * 1_000_000_000 + int(nanoseconds)


def times_of(info: Mapping[str, Any], last_ns: int, now_ns: int) -> tuple[int, int]:
    """Return a message's times of receipt and publication, ns, by the computers' clocks.

    The middleware gives zero or less for what it does not know: then it is received now, and
    published when it is received.
    """
    received, published = info["received_timestamp"], info["source_timestamp"]
    log_ns = receipt_in_order(received if received > 0 else now_ns, last_ns, now_ns)
    return log_ns, published if published > 0 else log_ns


def message_times(
    node: Node, info: Mapping[str, Any], last_ns: int, *, has_clock: bool
) -> tuple[int, int]:
    """Return a message's times of receipt and publication, ns, by the clock of a node.

    Simulated time goes in steps, of which the node hears at its own pace, so that a command and the
    ``/clock`` that answers it may be received at the same instant. Where ``/clock`` is taken down
    beside it, publication is dated by the computers, as rosbag2 does it: that order remains.
    """
    by_computers = times_of(info, last_ns, time.time_ns())
    if not uses_simulated_time(node):
        return by_computers
    now = int(node.get_clock().now().nanoseconds)
    return now, by_computers[1] if has_clock else now


def receipt_in_order(received_ns: int, last_ns: int, now_ns: int) -> int:
    """The time of receipt of a message, not before that of the one taken before it.

    A message that was lost and sent again dates from then, and those that came meanwhile from
    before, although they had to wait for it. Readers sort by these times.

    Args:
      received_ns: Of the message, by the middleware.
      last_ns: Of the topic's message before it.
      now_ns: By the same clock; before ``last_ns`` only where the clock was set back.
    """
    return max(received_ns, min(last_ns, now_ns))


@dataclass
class TopicStatistics:
    """Running counts of one topic; times in nanoseconds."""

    max_gap_ns: int  # longer intervals are counted as gaps, longer delays than usual as late
    received: int = 0
    missing: int = 0  # numbers left out in the publishers' own counts
    reordered: int = 0  # numbers that came after higher ones
    reported_lost: int = 0  # by the middleware
    unheard: int = 0  # numbers before the first one of publishers that came later
    largest: int = 0  # bytes of a message
    gaps: int = 0
    longest_gap_ns: int = 0
    duplicates: int = 0  # equal stamps in a row
    backwards: int = 0  # stamps older than the one before
    late: int = 0  # received later after their stamp than usual
    _last_ns: int | None = None
    last_log_ns: int = 0
    _sequences: dict[bytes, int] = field(default_factory=dict)
    _present: set[bytes] = field(default_factory=set)  # publishers from the beginning
    _recent: deque[int] = field(default_factory=lambda: deque(maxlen=_RATE_WINDOW))
    # Per block of messages, stamp and time of receipt of the one with the least delay.
    _quickest: array[int] = field(default_factory=lambda: array("q"))
    _block: int = _BLOCK  # messages of each
    _in_block: int = 0  # of the present one, the last in _quickest
    _least_delay: int | None = None  # of the latest _BLOCK messages so far
    _usual_delay: int | None = None  # the least of those before

    def expect(self, publishers: Iterable[bytes]) -> None:
        """Take publishers for those that are there at the beginning, whose counts may be any."""
        self._present.update(publishers)

    def anew(self) -> TopicStatistics:
        """Counts of the next bag, which knows how far the publishers' own counts are."""
        return TopicStatistics(
            self.max_gap_ns, _sequences=dict(self._sequences), _present=set(self._present)
        )

    def pass_over(self, publisher: bytes, sequence: int | None) -> None:
        """Leave a message out, but know of it: the next one is not taken for a later one."""
        if sequence is not None:
            self._count_sequence(publisher, sequence)

    def add(
        self, stamp_ns: int, log_ns: int, publisher: bytes, sequence: int | None, size: int = 0
    ) -> None:
        """Count one message.

        Args:
          stamp_ns: Its header stamp, or its publish time where it has no header.
          log_ns: When it was received.
          publisher: Identifies who sent it.
          sequence: That publisher's count of messages, if the middleware tells.
          size: Bytes.
        """
        self.received += 1
        self.largest = max(self.largest, size)
        self.pass_over(publisher, sequence)
        if self._last_ns is not None:
            interval = stamp_ns - self._last_ns
            self.duplicates += interval == 0
            self.backwards += interval < 0
            self.gaps += interval > self.max_gap_ns
            self.longest_gap_ns = max(self.longest_gap_ns, interval)
        self._last_ns, self.last_log_ns = stamp_ns, log_ns
        self._recent.append(stamp_ns)
        self._count_delay(stamp_ns, log_ns)

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

    def silence(self, now_ns: int) -> float:
        """Seconds since the last message was received, 0 before the first one.

        Args:
          now_ns: By the clock that dates the receipt.
        """
        return max(0.0, 1e-9 * (now_ns - self.last_log_ns)) if self.received else 0.0

    def has_fallen_silent(self, now_ns: int) -> bool:
        """Return whether a topic that came at a rate comes no more."""
        patience = max(_PATIENCE, _MISSED / self.rate) if self.rate >= _REGULAR else np.inf
        return self.silence(now_ns) > patience

    @property
    def jitter(self) -> float:
        """95th percentile of the intervals' distance from their median over the last ones, s."""
        if len(self._recent) < 3:
            return 0.0
        intervals = np.diff(np.array(self._recent)) * 1e-9
        return float(np.percentile(np.abs(intervals - np.median(intervals)), 95.0))

    @property
    def clock(self) -> ClockRelation | None:
        """The stamps' clock relative to that of receipt, ``None`` before the first message."""
        if not self._quickest:
            return None
        stamps, received = np.array(self._quickest, dtype=np.int64).reshape(-1, 2).T
        return relate(stamps, received)

    def _count_sequence(self, publisher: bytes, sequence: int) -> None:
        highest = self._sequences.get(publisher)
        if highest is None:
            # Whether it sent the first of them before it could be heard, nobody tells.
            self.unheard += 0 if publisher in self._present else max(sequence - 1, 0)
            self._sequences[publisher] = sequence
        elif sequence > highest:
            self.missing += sequence - highest - 1
            self._sequences[publisher] = sequence
        elif sequence < highest:  # it was taken for missing when a higher one came
            self.reordered += 1
            self.missing = max(self.missing - 1, 0)

    def _count_delay(self, stamp_ns: int, log_ns: int) -> None:
        delay = log_ns - stamp_ns
        if self._usual_delay is not None:
            self.late += delay - self._usual_delay > self.max_gap_ns
        if self._least_delay is None or delay < self._least_delay:
            self._least_delay = delay
        if self.received % _BLOCK == 0:
            self._usual_delay, self._least_delay = self._least_delay, None
        if not self._in_block:
            self._quickest.extend((stamp_ns, log_ns))
        elif delay < self._quickest[-1] - self._quickest[-2]:
            self._quickest[-2], self._quickest[-1] = stamp_ns, log_ns
        self._in_block = (self._in_block + 1) % self._block
        if not self._in_block and len(self._quickest) >= 2 * _MOST_BLOCKS:
            self._join_blocks()

    def _join_blocks(self) -> None:
        """Make blocks of twice as many messages."""
        pairs = np.array(self._quickest, dtype=np.int64).reshape(-1, 2, 2)
        quicker = np.argmin(pairs[:, :, 1] - pairs[:, :, 0], axis=1)
        self._quickest = array("q", pairs[np.arange(len(pairs)), quicker].ravel().tolist())
        self._block *= 2
