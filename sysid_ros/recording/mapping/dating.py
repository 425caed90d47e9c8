# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Dating the messages of a recording: one time axis for topics with clocks of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.errors import DataError
from sysid_ros.recording.bags import FASTEST_CLOCK, ClockRelation, relate
from sysid_ros.recording.mapping.clock_steps import ClockStep, steps_forward
from sysid_ros.recording.mapping.mapping_settings import (
    ClockCorrection,
    MaskRequest,
    SignalKind,
    SignalRequest,
)
from sysid_ros.recording.mapping.simulation_time import SimulationTime, simulation_time
from sysid_ros.recording.mapping.stamps import Stamps, choose_stamps, put_in_order
from sysid_ros.recording.messages import Clock, TopicColumns, is_command, message_type

_SUSPICIOUS_DRIFT = 0.005  # s over a whole recording, of one topic's clock against another's
_AT_ONCE_NS = 1_000_000_000  # within which a recorder begins to hear all topics
_SUSPICIOUS_DELAY = 0.05  # s; from stamp to receipt a message rarely takes longer
_LONGEST_DELAY = 0.5  # s; none that a robot is driven by takes longer
_SENDERS = {Clock.HEADER, Clock.DEVICE}  # which count in their own clocks


@dataclass(frozen=True)
class DatedTopic:
    """A topic's messages dated by one clock."""

    columns: TopicColumns  # the messages, in the order of receipt
    stamps: Stamps  # their stamps, in order
    times: FloatArray  # (m,) the stamps in seconds from the recording's start
    # how the recorder's clock related to the stamps as recorded; ``None`` where they do not tell
    relation: ClockRelation | None = None
    corrected: bool = False  # whether the stamps were translated to the recorder's clock
    forward: tuple[ClockStep, ...] = ()  # where the clock of the stamps was set forward

    @cached_property
    def distinct(self) -> bool:
        """True if no two messages have the same stamp."""
        return bool(np.all(np.diff(self.times) > 0.0))

    def seconds(self, ns: IntArray) -> FloatArray:
        """Instants of the stamps' clock [ns] as seconds from the recording's start."""
        since: FloatArray = (ns - self.stamps.ns[0]) / 1e9 + self.times[0]
        return since


Source = tuple[str, Clock]  # a topic and the clock asked for


@dataclass(frozen=True)
class DatedRecording:
    """The mapped topics of a recording on one time axis."""

    start_ns: int  # epoch nanoseconds of t = 0: the first stamp of a measured signal's topic
    topics: Mapping[Source, DatedTopic]  # each topic by each clock asked for


def source_of(used: SignalRequest | MaskRequest, clock: Clock) -> Source:
    """Return a signal's or mask's topic and clock; ``clock`` counts where it does not say."""
    return used.topic, used.clock or clock


def date_topics(
    columns: Mapping[str, TopicColumns],
    signals: Sequence[SignalRequest],
    masks: Sequence[MaskRequest],
    clock: Clock,
    correction: ClockCorrection = ClockCorrection.NONE,
    start_ns: int | None = None,
) -> DatedRecording:
    """Date every topic by the clocks asked for.

    Args:
      columns: The messages of each topic, none empty.
      signals: What is read from them.
      masks: What says when they count.
      clock: Which of a message's times counts, where a signal or mask does not say.
      correction: Whether stamps are translated to the recorder's clock, and how.
      start_ns: Epoch nanoseconds of t = 0, where it is not the first stamp.

    Raises:
      DataError: Header stamps are missing, stamps jump back, or two clocks have nothing in common.
    """
    simulation = simulation_time(columns)
    read: list[SignalRequest | MaskRequest] = [*signals, *masks]
    if simulation is None or not _simulated(columns, read, clock, simulation):
        simulation = None
    dated = {
        source: _dated(columns[source[0]], source[1], simulation, correction)
        for source in dict.fromkeys(source_of(used, clock) for used in read)
    }
    forward = steps_forward({source: _as_received(topic) for source, topic in dated.items()})
    dated = {
        source: replace(topic, forward=forward[source])
        if topic.relation is not None or topic.stamps.clock is Clock.RECEIVE
        else topic  # its own clock dates it, and does not show
        for source, topic in dated.items()
    }
    if correction is not ClockCorrection.NONE:
        dated = {source: _as_others(topic, dated, correction) for source, topic in dated.items()}
    lasting = {source_of(one, clock) for one in read if _stays_in_force(one, columns)}
    lasting -= {source_of(one, clock) for one in read if not _stays_in_force(one, columns)}
    _check_overlap(dated, lasting)
    measured = {
        source_of(signal, clock) for signal in signals if signal.kind is not SignalKind.ACTUATOR
    }
    if start_ns is None:
        start_ns = min(int(dated[source].stamps.ns[0]) for source in measured or dated)
    return DatedRecording(
        start_ns,
        {
            source: replace(topic, times=(topic.stamps.ns - start_ns) / 1e9)
            for source, topic in dated.items()
        },
    )


def _dated(
    columns: TopicColumns,
    wanted: Clock,
    simulation: SimulationTime | None,
    correction: ClockCorrection,
) -> DatedTopic:
    """One topic by one clock, corrected where asked for; its times are still to be filled in."""
    clock, ns = choose_stamps(columns, wanted, simulation)
    stamps = put_in_order(clock, ns, columns.topic, columns.log_ns)
    relation = stamp_relation(columns, clock, stamps.ns, columns.log_ns[stamps.rows])
    begins = clock is Clock.HEADER and message_type(columns.msgtype).zero_stamp_is_now
    if relation is None or begins or correction is ClockCorrection.NONE:
        return DatedTopic(columns, stamps, np.empty(0), relation)
    if abs(relation.drift) > FASTEST_CLOCK:
        raise DataError(
            f"topic {columns.topic}: the {clock.value} stamps run {1.0 + relation.drift:.4g} times "
            "slower than the recorder's clock, which is no drift; was this a simulation? Then "
            "leave clock_correction out"
        )
    ns = relation.corrected(stamps.ns, drift=correction is ClockCorrection.DRIFT)
    return DatedTopic(columns, replace(stamps, ns=ns), np.empty(0), relation, corrected=True)


def _as_received(topic: DatedTopic) -> tuple[IntArray, IntArray]:
    """Stamps and times of receipt in the order of receipt; of what says when it begins, receipt."""
    log = topic.columns.log_ns[np.sort(topic.stamps.rows)]
    return log if topic.relation is None else topic.stamps.as_received, log


def stamp_relation(
    columns: TopicColumns, clock: Clock, stamps_ns: IntArray, log_ns: IntArray
) -> ClockRelation | None:
    """The relation of the recorder's clock to stamps, (n,) ns; ``None`` where they do not tell.

    When a trajectory begins says something only if it was sent then.
    """
    if clock is Clock.RECEIVE:
        return None
    relation = relate(stamps_ns, log_ns)
    begins = clock is Clock.HEADER and message_type(columns.msgtype).zero_stamp_is_now
    return None if begins and abs(relation.offset) > _SUSPICIOUS_DELAY else relation


def _as_others(
    topic: DatedTopic, dated: Mapping[Source, DatedTopic], correction: ClockCorrection
) -> DatedTopic:
    """A trajectory's topic, corrected where its clock is that of another: it was sent at once."""
    if topic.corrected or topic.stamps.clock is not Clock.HEADER:
        return topic
    own = relate(topic.stamps.ns, topic.columns.log_ns[topic.stamps.rows])
    known = [one.relation.offset for one in dated.values() if one.corrected and one.relation]
    if not any(abs(own.offset - offset) <= _SUSPICIOUS_DELAY for offset in known):
        return topic
    ns = own.corrected(topic.stamps.ns, drift=correction is ClockCorrection.DRIFT)
    return replace(topic, stamps=replace(topic.stamps, ns=ns), corrected=True)


def _simulated(
    columns: Mapping[str, TopicColumns],
    read: Sequence[SignalRequest | MaskRequest],
    clock: Clock,
    simulation: SimulationTime,
) -> bool:
    """Return whether messages without a header are to be dated by the simulation's time."""
    if any(source_of(used, clock)[1] is Clock.SIMULATION for used in read):
        return True
    return simulation.dates(columns[used.topic] for used in read)


def _stays_in_force(used: SignalRequest | MaskRequest, columns: Mapping[str, TopicColumns]) -> bool:
    """Return whether what a message says lasts until the next one: of masks and commands."""
    kind = getattr(used, "kind", None)
    commanded = is_command(columns[used.topic].msgtype, used.field, used.topic)
    return kind is None or (kind is SignalKind.ACTUATOR and commanded)


def _check_overlap(dated: Mapping[Source, DatedTopic], lasting: Collection[Source]) -> None:
    """Refuse topics whose clocks have no instant in common.

    What stays in force may have been said before the others begin, if it was also received then.
    """
    latest = max(dated, key=lambda source: int(dated[source].stamps.ns[0]))
    begun = int(dated[latest].columns.log_ns[0]) + _AT_ONCE_NS
    ending = [
        source
        for source, topic in dated.items()
        if source not in lasting or int(topic.columns.log_ns[-1]) > begun
    ]
    earliest = min(ending or [latest], key=lambda source: int(dated[source].stamps.ns[-1]))
    late, early = dated[latest].stamps, dated[earliest].stamps
    if late.ns[0] > early.ns[-1]:
        apart = (int(late.ns[0]) - int(early.ns[-1])) / 1e9
        raise DataError(
            f"the times of {earliest[0]} ({early.clock.value}) end {apart:.6g} s before those of "
            f"{latest[0]} ({late.clock.value}) begin; if both were recorded together, date them "
            "by the same clock, such as 'clock: receive', or translate their stamps: "
            "'clock_correction: drift'"
        )


def set_forward(dated: DatedRecording) -> str:
    """The end of a sentence on clocks that were set forward in mid-recording; empty without any."""
    return "".join(
        f"; the clock that dates {name} was set forward by {step.size:.4g} s at {at:.4g} s"
        for (name, _), topic in dated.topics.items()
        for step in topic.forward
        for at in topic.seconds(np.array([step.before_ns])).tolist()
    )


def clock_warnings(dated: DatedRecording) -> list[str]:
    """Say what looks wrong with the clocks, one sentence each.

    Where header stamps of one topic are compared with times of publishing or receipt of another,
    a clock offset between the machines would be identified as a delay.
    """
    found = []
    used = {topic.stamps.clock for topic in dated.topics.values()}
    for (name, wanted), topic in dated.topics.items():
        if topic.stamps.unset:
            found.append(
                f"{topic.stamps.unset} messages of {name} have a stamp of zero and were left out."
            )
        mixed = not used <= _SENDERS and Clock.SIMULATION not in used
        if topic.stamps.clock in _SENDERS and mixed and not topic.corrected:
            found += _far_from_receipt(name, topic)
        if topic.stamps.clock is Clock.SIMULATION and wanted is not Clock.SIMULATION:
            found.append(
                f"{name} has no header; it is dated by the simulation's time when it was published."
            )
    return found + _apart(dated)


def differing_clocks(offsets: Mapping[str, float]) -> str:
    """Say that the clocks of topics differ beyond doubt; empty where they need not.

    No message is received before it was sent, nor do those that a robot is driven by take half a
    second, so that neither can be what a slow sensor or a busy recorder makes of equal clocks.

    Args:
      offsets: By topic receipt minus stamp without queueing [s]; zero where the stamps are the
        recorder's.
    """
    if not offsets:
        return ""
    first = min(offsets, key=lambda topic: offsets[topic])
    last = max(offsets, key=lambda topic: offsets[topic])
    apart = offsets[last] - offsets[first]
    if apart <= (_SUSPICIOUS_DELAY if offsets[first] < -_SUSPICIOUS_DELAY else _LONGEST_DELAY):
        return ""
    return (
        f"the stamps of {first} and {last} come from clocks that are {apart:.4g} s apart, seen "
        "from their receipt"
    )


def _far_from_receipt(name: str, topic: DatedTopic) -> list[str]:
    """Say that a sender's stamps are far from their receipt, if they are."""
    delay = 0.0 if topic.relation is None else topic.relation.median
    if abs(delay) <= _SUSPICIOUS_DELAY:
        return []
    clock, where = topic.stamps.clock.value, "before" if delay > 0.0 else "after"
    return [
        f"The {clock} stamps of {name} lie {abs(delay):.3g} s {where} their receipt, while "
        "other topics are dated by publishing or receipt: if the clocks differ, this will look "
        "like a delay of the robot; 'clock_correction: drift' takes it out."
    ]


def _apart(dated: DatedRecording) -> list[str]:
    """Say which topics' stamps come from senders' clocks that differ or run apart.

    Where both are a simulation's, which goes on as quickly as it can, their receipt tells nothing.
    """
    headers = {
        name: (topic.relation, float(topic.times[-1]))
        for (name, _), topic in dated.topics.items()
        if topic.stamps.clock in _SENDERS and topic.relation and not topic.corrected
    }
    found = []
    for (first, (one, length)), (second, (other, _)) in combinations(headers.items(), 2):
        if min(abs(one.drift), abs(other.drift)) > FASTEST_CLOCK:
            continue
        offset = other.offset - one.offset
        grown = (other.drift - one.drift) * length
        if abs(offset) > _SUSPICIOUS_DELAY or abs(grown) > _SUSPICIOUS_DRIFT:
            found.append(
                f"The stamps of {first} and {second} are {abs(offset):.3g} s apart, seen from "
                f"their receipt, and move {abs(grown) * 1e3:.3g} ms over the recording: unless one "
                "is processed that much longer before it is sent, their clocks differ, and "
                "'clock_correction: drift' puts both on the recorder's."
            )
    return found
