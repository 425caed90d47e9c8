# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The clock that dates messages, and putting stamps in order.

Header stamps are the default, or those of a type's own: they name the instant of measurement.
Messages without are dated by the time of publishing where the bag keeps it, since the receive time
of a busy recorder is a queueing delay that a fit would mistake for a delay or for friction.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sysid_ros.arrays import BoolArray, IndexArray, IntArray
from sysid_ros.errors import DataError
from sysid_ros.recording.bags import LARGEST_DISORDER_NS
from sysid_ros.recording.mapping.device_time import device_stamps
from sysid_ros.recording.mapping.even_rate import at_even_rate
from sysid_ros.recording.messages import Clock, message_type

if TYPE_CHECKING:
    from sysid_ros.recording.mapping.simulation_time import SimulationTime
    from sysid_ros.recording.messages import TopicColumns


_FEW = 20  # messages, of which nothing is said
_SHARING = 0.02  # of the messages, that share a stamp where stamps are rounded, and ...
_COARSE = 0.3  # ... of the interval between messages, that the stamps' step has at least
_EVEN = 0.5  # of that interval, by which others differ: two nodes' messages come in pairs
_TOGETHER = 0.5  # of a step back of stamps, that receipt goes back by with them
_DAY_NS = 86_400 * 1_000_000_000


@dataclass(frozen=True)
class Stamps:
    """Stamps in increasing order, and which messages they belong to."""

    clock: Clock  # the clock actually used
    ns: IntArray  # (m,) nanoseconds since that clock's epoch, increasing, equal ones included
    rows: IndexArray  # (m,) the messages' positions in the order of receipt
    unset: int  # messages left out because their stamp is zero although the others' are not

    @property
    def as_received(self) -> IntArray:
        """The stamps in the order of receipt."""
        return self.ns[np.argsort(self.rows)]


def choose_stamps(
    columns: TopicColumns, wanted: Clock, simulation: SimulationTime | None = None
) -> tuple[Clock, IntArray]:
    """Return the stamps of a topic's messages by the wanted clock or the next best.

    ``HEADER`` falls back for types without a header: to the simulation's time where there is one,
    else to the publish time. ``PUBLISH`` falls back to the receive time where the bag keeps no
    publish time, and so does ``EVEN``, which keeps times as they are where messages are not sent
    at an even rate. ``DEVICE`` falls back to the header for types without a count of time.

    Args:
      columns: The topic's messages.
      wanted: The clock that was asked for.
      simulation: The simulation's time, where the headers of other topics have it.

    Returns:
      The clock used, and (n,) stamps in nanoseconds.

    Raises:
      DataError: The header stamps were never filled in, or a count of time is none.
    """
    if wanted is Clock.DEVICE and (columns.count is not None or columns.header_ns is None):
        return Clock.DEVICE, device_stamps(columns)
    if wanted is Clock.DEVICE:
        wanted = Clock.HEADER
    if wanted is Clock.HEADER and columns.header_ns is not None:
        if message_type(columns.msgtype).zero_stamp_is_now:
            return _starting_now(columns, simulation)
        if not _filled_in(columns.header_ns, columns.log_ns):
            same = "the same" if columns.header_ns.any() else "zero"
            raise DataError(
                f"topic {columns.topic}: every header stamp is {same}; choose another clock, "
                "such as 'clock: receive' for its signals"
            )
        return Clock.HEADER, columns.header_ns
    return _without_header(columns, wanted, simulation)


def _without_header(
    columns: TopicColumns, wanted: Clock, simulation: SimulationTime | None
) -> tuple[Clock, IntArray]:
    if wanted in (Clock.HEADER, Clock.SIMULATION) and simulation is not None:
        return Clock.SIMULATION, simulation.stamps(columns)
    publish = columns.publish_ns
    clock, ns = Clock.RECEIVE, columns.log_ns
    if wanted is not Clock.RECEIVE and publish is not None and publish.all():
        clock, ns = Clock.PUBLISH, publish
    return (Clock.EVEN, at_even_rate(ns)) if wanted is Clock.EVEN else (clock, ns)


def telling_clock(columns: TopicColumns, simulation: SimulationTime | None = None) -> Clock:
    """The clock to ask for that tells most of a topic whose signals are to be mapped.

    That is the header, or what takes its place, unless it tells nothing or is rounded; or else an
    own count of time that agrees with the receipt.
    """
    with suppress(DataError):
        choose_stamps(columns, Clock.HEADER, simulation)
        if simulation is not None or (columns.header_ns is not None and not rounding(columns)):
            return Clock.HEADER
    if simulation is None and columns.count is not None:
        with suppress(DataError):
            return choose_stamps(columns, Clock.DEVICE)[0]
    return Clock.HEADER if columns.header_ns is None else Clock.PUBLISH


def rounding(columns: TopicColumns) -> float:
    """The step [s] to which a driver rounds its header stamps, so that messages share one; else 0.

    Messages of one node come evenly, those of two that share a clock's stamps do not. One that is
    sent again, under the stamp of when it was measured, says the same; and a stamp that stands
    still for longer than the step is stuck, which says nothing of the others.
    """
    header = columns.header_ns
    if header is None or len(header) < _FEW:
        return 0.0
    steps, apart = np.abs(np.diff(header)), np.diff(columns.log_ns)
    usual = float(np.median(apart))
    even = float(np.percentile(np.abs(apart - usual), 75.0)) < _EVEN * usual
    step = int(np.gcd.reduce(steps))
    first = np.append(True, steps > 0)  # of the messages that share a stamp
    lasts = np.diff(np.flatnonzero(first), append=len(header))[np.cumsum(first) - 1]
    sharing = columns.shares(header) & ((lasts[1:] - 2) * usual <= step)
    coarse = step > _COARSE * usual and float(np.mean(sharing)) > _SHARING
    return step / 1e9 if even and coarse else 0.0


def _filled_in(header: IntArray, log: IntArray) -> bool:
    """False where all stamps are zero, or all that of a message that is sent again and again."""
    if not len(header):
        return True
    lasts = int(np.ptp(log)) > LARGEST_DISORDER_NS
    return bool(header.any()) and not (lasts and bool(np.all(header == header[0])))


def _starting_now(
    columns: TopicColumns, simulation: SimulationTime | None
) -> tuple[Clock, IntArray]:
    """Date trajectories: a stamp that was not filled in means at once, when it was published."""
    header = columns.header_ns
    filled_in = header is not None and _filled_in(header, columns.log_ns)
    if header is not None and filled_in and header.all():
        return Clock.HEADER, header
    clock, sent = _without_header(columns, Clock.HEADER, simulation)
    return clock, np.where(header == 0, sent, header) if header is not None and filled_in else sent


def are_set(stamps: IntArray) -> BoolArray:
    """False where a stamp [ns] is zero, which nobody filled in, although others were, (n,)."""
    simulated = not len(stamps) or np.median(stamps) <= _DAY_NS  # whose time may start at zero
    return np.asarray(stamps != 0) | simulated


def put_in_order(
    clock: Clock, stamps: IntArray, topic: str, received: IntArray | None = None
) -> Stamps:
    """Sort stamps.

    Args:
      clock: The clock they come from.
      stamps: (n,) nanoseconds in the order of receipt, n >= 1.
      topic: Where they come from, for messages.
      received: (n,) times of receipt [ns], which may jump back with them.

    Raises:
      DataError: They jump back by more than a second: the clock was set, or a simulation started
        over, and sorting would mix two different stretches.
    """
    is_set = are_set(stamps)
    given = stamps[is_set]
    steps = np.diff(given)
    if len(steps) and steps.min() < -LARGEST_DISORDER_NS:
        at = int(np.argmin(steps))
        with_recorder = received is not None and (
            np.diff(received[is_set])[at] < _TOGETHER * steps[at]
        )
        why = (
            "and the recorder's clock with them: what came before and after lies upon each other, "
            "which nothing splits; record again while no clock is set"
            if with_recorder
            else "the clock was set or a simulation started over: 'sysid_ros recover BAG --split' "
            "makes a bag of each stretch"
        )
        raise DataError(
            f"topic {topic}: the {clock.value} stamps jump back by {-int(steps[at]) / 1e9:.3g} s "
            f"after {(int(given[at]) - int(given[0])) / 1e9:.3f} s; {why}"
        )
    order = np.argsort(given, kind="stable")
    return Stamps(
        clock=clock,
        ns=given[order],
        rows=np.flatnonzero(is_set)[order],
        unset=int(np.count_nonzero(~is_set)),
    )
