# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Simulation time for messages without a stamp, from the bag's ``/clock`` or other stamps.

With ``use_sim_time`` headers carry the simulation's time while receipt and publishing have the
computer's. What a controller without headers sent is dated by the ``/clock`` that was in force; in
a bag without one by the stamps and the receipt of what was measured, which lie as far apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import IntArray
from sysid_ros.errors import DataError
from sysid_ros.recording.bags import FASTEST_CLOCK, relate
from sysid_ros.recording.messages import CLOCK, TopicColumns, message_type, parse_field

CLOCK_TOPIC = "/clock"
CLOCK_FIELDS = (parse_field("clock.sec"), parse_field("clock.nanosec"))
_MARGIN_NS = 1_000_000_000
_DAY_NS = 86_400 * _MARGIN_NS
_SHARING = 0.05  # of the messages that may share a tick before the clock counts as the slower one


@dataclass(frozen=True)
class SimulationTime:
    """The relation of a computer's time and a simulation's."""

    published: bool  # whether ``wall_ns`` are times of publishing rather than of receipt
    wall_ns: IntArray  # (n,) the computer's time at each message of ``/clock``, increasing
    simulation_ns: IntArray  # (n,) what they said, never decreasing
    measured: bool = False  # whether they are stamps of measurements, in place of such messages

    @classmethod
    def of(cls, columns: TopicColumns) -> SimulationTime:
        """Read the relation off the messages of ``/clock``.

        Raises:
          DataError: The simulation's time runs backwards, as after a restart.
        """
        wall = _sent(columns)
        order = np.argsort(wall, kind="stable")
        simulation = told_by_clock(columns)[order]
        if np.any(np.diff(simulation) < 0):
            raise DataError(
                f"{columns.topic} runs backwards: the simulation started over; "
                "'sysid_ros recover BAG --split' makes a bag of each stretch"
            )
        return cls(columns.publish_ns is not None, wall[order], simulation)

    @classmethod
    def of_stamps(cls, columns: TopicColumns) -> SimulationTime | None:
        """Read the relation off a topic's stamps; ``None`` if they may be a computer's.

        Those of a simulation, or of a board that counts from when it was switched on, are far from
        those of receipt, and run at another pace than computers' clocks do.
        """
        header = columns.header_ns
        if header is None or abs(relate(header, columns.log_ns).drift) <= FASTEST_CLOCK:
            return None
        wall, first = np.unique(_sent(columns), return_index=True)
        return cls(columns.publish_ns is not None, wall, np.maximum.accumulate(header[first]), True)

    def stamps(self, columns: TopicColumns) -> IntArray:
        """Date messages by the last ``/clock`` before they were published, or else received.

        That is the time that their publisher went by. Of a few that share a tick, as where a node
        was held up and answers two at once, the last one counts from that tick on. Where ``/clock``
        ends before them, as its last messages came too late for the recording, they go on at their
        usual interval.
        """
        both = self.published and columns.publish_ns is not None
        wall = columns.publish_ns if both and columns.publish_ns is not None else columns.log_ns
        if self.measured:
            return self._between(wall)
        last = np.searchsorted(self.wall_ns, wall, side="right") - 1
        stamps: IntArray = self.simulation_ns[np.maximum(last, 0)]
        stamps = _gone_on(stamps, int(np.count_nonzero(last == len(self.wall_ns) - 1)))
        shared = np.append(np.diff(stamps) == 0, False)  # with the message that follows
        if np.count_nonzero(shared) <= _SHARING * len(stamps):
            ends = np.flatnonzero(~shared)
            place = np.arange(len(stamps))
            return np.asarray(stamps - (ends[np.searchsorted(ends, place)] - place))
        # The clock ticks more slowly than these messages come, which lie between its ticks.
        return self._between(wall)

    def _between(self, wall: IntArray) -> IntArray:
        """The simulation's time at instants of the computer's (n,), not beyond its ends."""
        first, zero = self.wall_ns[0], self.simulation_ns[0]
        since = np.interp(wall - first, self.wall_ns - first, self.simulation_ns - zero)
        return np.asarray(zero + np.rint(since).astype(np.int64))

    def dates(self, topics: Iterable[TopicColumns]) -> bool:
        """Return whether any of some topics have the simulation's time in headers or of receipt."""
        low, high = self.simulation_ns[0] - _MARGIN_NS, self.simulation_ns[-1] + _MARGIN_NS
        stamps = (one for topic in topics for one in (topic.header_ns, topic.log_ns))
        return any(one is not None and low <= np.median(one) <= high for one in stamps)


def told_by_clock(columns: TopicColumns) -> IntArray:
    """The time, ns, that each message of ``/clock`` says, (n,)."""
    seconds, nanoseconds = (
        columns.values[:, columns.paths.index(path)].astype(np.int64) for path in CLOCK_FIELDS
    )
    return np.asarray(seconds * 1_000_000_000 + nanoseconds)


def _gone_on(stamps: IntArray, behind: int) -> IntArray:
    """Stamps of which those behind the clock's end follow the first of them at equal steps."""
    ticks = np.diff(stamps[: max(len(stamps) - behind + 1, 0)])
    if behind < 2 or not np.any(ticks > 0) or np.mean(ticks == 0) > _SHARING:
        return stamps
    interval = int(np.median(ticks[ticks > 0]))
    gone_on = stamps[-behind] + interval * np.arange(behind)
    return np.concatenate([stamps[:-behind], gone_on])


def simulation_time(columns: Mapping[str, TopicColumns]) -> SimulationTime | None:
    """The simulation's time of a recording that was read with its ``/clock``, or by its stamps.

    Of several topics the one that tells it most often has it; none does where others have the
    computer's, as beside a board that nobody set.
    """
    clock = columns.get(CLOCK_TOPIC)
    if clock is not None and clock.msgtype == CLOCK and len(clock.log_ns):
        return SimulationTime.of(clock)
    measured = [
        one
        for one in columns.values()
        if one.header_ns is not None and one.header_ns.any()
        and not message_type(one.msgtype).zero_stamp_is_now
    ]  # fmt: skip
    bare = any(one.header_ns is None and len(one.log_ns) for one in columns.values())
    if not bare or any(map(_of_a_computer, measured)):
        return None
    told = [one for topic in measured if (one := SimulationTime.of_stamps(topic)) is not None]
    return max(told, key=lambda one: len(one.wall_ns), default=None)


def _of_a_computer(columns: TopicColumns) -> bool:
    """Tell whether a topic's stamps are of the day on which they were sent."""
    header = columns.header_ns
    return header is not None and abs(float(np.median(_sent(columns) - header))) < _DAY_NS


def _sent(columns: TopicColumns) -> IntArray:
    return columns.log_ns if columns.publish_ns is None else columns.publish_ns
