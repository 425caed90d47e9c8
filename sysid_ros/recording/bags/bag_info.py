# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The contents of a bag: ``sysid_ros info``."""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sysid_ros.errors import BagError
from sysid_ros.recording.bags.bag import Recording, TopicInfo, open_recording
from sysid_ros.recording.bags.clock_relation import ClockRelation, relate
from sysid_ros.recording.bags.mcap_extras import OWN_PREFIX, STORAGE_RECORD, read_extras
from sysid_ros.recording.bags.spacing import LARGEST_DISORDER_NS, sampling
from sysid_ros.recording.messages import HEADER, Clock, RawMessage, locate
from sysid_ros.time_intervals import shortest_gap

_STAMP_OFFSET = 4  # of a leading header's stamp: after CDR's own header, or ROS 1's ``seq``


@dataclass(frozen=True)
class TopicSummary:
    """The messages read from one topic, in numbers."""

    name: str
    msgtype: str
    messages: int  # how many messages were read
    promised: int | None  # how many the bag promises, ``None`` where it does not say
    clock: str  # which stamps the following describe: header, publish or receive
    rate: float  # 1 / mean interval [Hz], as stamps may come in bursts; 0 for fewer than two
    jitter: float  # 95th percentile of |interval - median| [s]
    gaps: int  # intervals longer than 5.5 median intervals
    longest_gap: float  # the longest interval [s]
    duplicates: int  # stamps that occur again
    backwards: int  # stamps that lie before the one received before them
    restarts: int  # of those, steps back by more than a second
    first: float | None  # the first stamp [s] after the bag's first message was received
    last: float | None  # the last stamp [s], likewise
    delay: ClockRelation | None  # from stamp to receipt; ``None`` for receive times themselves
    qos: str  # the offered QoS profiles as text
    problem: str | None  # why its messages cannot be decoded; ``None`` if they can


@dataclass(frozen=True)
class AttachmentSummary:
    """A file inside the bag."""

    name: str
    media_type: str  # such as ``application/xml``
    size: int  # in bytes
    sha256: str  # hash of its content


@dataclass(frozen=True)
class BagInfo:
    """The contents of a bag; ``str`` gives a table for a terminal."""

    path: str  # the file or folder
    format: str  # ``"mcap"``, ``"sqlite3"`` or ``"rosbag1"``
    files: tuple[str, ...]  # names of the storage files
    size: int  # their size together [bytes]
    start_ns: int  # when the first message was received, nanoseconds since the epoch
    duration: float  # from the first message's receipt to the last one's [s]
    messages: int  # how many messages were read
    promised: int | None  # how many the bag promises, ``None`` where it does not say
    topics: tuple[TopicSummary, ...]  # its topics by name
    warnings: tuple[str, ...]  # what is wrong with it, one sentence each
    attachments: tuple[AttachmentSummary, ...] = ()  # the files inside it
    # named texts inside it, such as what its recorder counted
    records: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # what vouches for the messages and what cannot be seen, one sentence each
    checks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries, lists, numbers and strings for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        promise = "" if self.promised in (None, self.messages) else f" of {self.promised} promised"
        head = [
            f"{self.path}: {self.format}, {len(self.files)} file{'s' * (len(self.files) != 1)}, "
            f"{self.size / 1e6:.1f} MB",
            f"{self.messages} messages{promise} in {self.duration:.3f} s",
            *self.checks,
            "",
        ]
        extras = [*_attachment_lines(self.attachments), *_record_lines(self.records)]
        if extras:
            extras.insert(0, "")
        warnings = [f"! {text}" for text in self.warnings]
        return "\n".join([*head, *_table(self.topics), *extras, *warnings])


def describe(
    path: str | Path,
    *,
    msg_paths: Sequence[str | Path] = (),
    on_progress: Callable[[float], None] | None = None,
) -> BagInfo:
    """Read a bag from end to end and say what is in it.

    Args:
      path: The bag.
      msg_paths: Additional message definitions, as for :func:`~.bag.open_recording`.
      on_progress: Told how much has been read, 0 to 1.

    Raises:
      BagError: As :func:`~.bag.open_recording`, or the bag is damaged.
    """
    with open_recording(path, msg_paths=msg_paths, on_progress=on_progress) as recording:
        readings = {name: _Reading.of(recording, name) for name in recording.topics}
        for message in recording.messages():
            readings[message.topic].add(message)
        start = min(min(reading.log) for reading in readings.values() if reading.log)
        topics = tuple(
            _summarize(recording.topics[name], reading, start) for name, reading in readings.items()
        )
        counts = [topic.promised for topic in topics]
        read = sum(topic.messages for topic in topics)
        promised = None if None in counts else sum(count or 0 for count in counts)
        end = max(max(reading.log) for reading in readings.values() if reading.log)
        warnings = list(recording.warnings)
        if promised is not None and read != promised:
            warnings.append(f"the bag promises {promised} messages, {read} were read.")
        attachments, records = _extras(recording.files)
        return BagInfo(
            path=str(recording.path),
            format=recording.format,
            files=tuple(file.name for file in recording.files),
            size=sum(file.stat().st_size for file in recording.files),
            start_ns=start,
            duration=(end - start) / 1e9,
            messages=read,
            promised=promised,
            topics=topics,
            warnings=tuple(warnings),
            attachments=attachments,
            records=records,
            checks=recording.checks,
        )


@dataclass
class _Reading:
    """The stamps of one topic's messages, eight bytes each."""

    # Of the header, where there is one, by CDR's byte for the order; ROS 1 has only one.
    stamp: tuple[struct.Struct, struct.Struct] | None
    problem: str | None
    check: Callable[[RawMessage], str | None]  # of the first message
    log: array[int]
    publish: array[int]
    header: array[int]

    @classmethod
    def of(cls, recording: Recording, topic: str) -> _Reading:
        problem, stamp = None, None
        try:
            fields = recording.types(topic)[recording.topic(topic).msgtype]
            if fields and fields[0][1][1] == HEADER:
                big_endian = ">II" if recording.topic(topic).serialization == "cdr" else "<II"
                stamp = struct.Struct(big_endian), struct.Struct("<II")
        except BagError as error:
            problem = str(error)

        def check(message: RawMessage) -> str | None:
            return problem or _misfit(recording, message)

        return cls(stamp, problem, check, array("q"), array("q"), array("q"))

    def add(self, message: RawMessage) -> None:
        """Note one message's times."""
        if not self.log:
            self.problem = self.check(message)
        self.log.append(message.log_ns)
        if message.publish_ns:
            self.publish.append(message.publish_ns)
        if self.stamp is not None and len(message.data) >= _STAMP_OFFSET + self.stamp[1].size:
            order = self.stamp[message.data[1] != 0]
            seconds, nanoseconds = order.unpack_from(message.data, _STAMP_OFFSET)
            self.header.append(seconds * 1_000_000_000 + nanoseconds)

    def stamps(self) -> tuple[Clock, array[int]]:
        """Return the stamps of the best clock that all messages have."""
        for clock, stamps in ((Clock.HEADER, self.header), (Clock.PUBLISH, self.publish)):
            if len(stamps) == len(self.log) and any(stamps):
                return clock, stamps
        return Clock.RECEIVE, self.log


def _misfit(recording: Recording, message: RawMessage) -> str | None:
    """Return the reason why a message cannot be decoded; ``None`` if it can."""
    topic, types = recording.topic(message.topic), recording.types(message.topic)
    try:
        locate(message.data, topic.msgtype, types, serialization=topic.serialization)
    except BagError as error:
        return f"{error}."
    return None


def _summarize(topic: TopicInfo, reading: _Reading, start_ns: int) -> TopicSummary:
    clock, raw = reading.stamps()
    stamps_ns = np.array(raw, dtype=np.int64)
    log_ns = np.array(reading.log, dtype=np.int64)
    ordered = np.sort(stamps_ns)
    times = (np.unique(ordered) - start_ns) / 1e9
    spacing = sampling(times, shortest_gap(times))
    return TopicSummary(
        name=topic.name,
        msgtype=topic.msgtype,
        messages=len(log_ns),
        promised=topic.promised,
        clock=clock.value,
        rate=1.0 / float(np.mean(np.diff(times))) if len(times) > 1 else 0.0,
        jitter=spacing.jitter,
        gaps=spacing.gaps,
        longest_gap=spacing.longest_gap,
        duplicates=len(ordered) - len(times),
        backwards=int(np.count_nonzero(np.diff(stamps_ns) < 0)),
        restarts=int(np.count_nonzero(np.diff(stamps_ns[stamps_ns != 0]) < -LARGEST_DISORDER_NS)),
        first=float(times[0]) if len(times) else None,
        last=float(times[-1]) if len(times) else None,
        delay=relate(stamps_ns, log_ns) if clock is not Clock.RECEIVE else None,
        qos=topic.qos,
        problem=reading.problem,
    )


def _extras(
    files: Sequence[Path],
) -> tuple[tuple[AttachmentSummary, ...], dict[str, Mapping[str, str]]]:
    """Attached files and named texts of all files, without those of rosbag2 itself."""
    found = [read_extras(file) for file in files]
    attachments = tuple(
        AttachmentSummary(
            file.name, file.media_type, len(file.data), hashlib.sha256(file.data).hexdigest()
        )
        for extras in found
        for file in extras.attachments
    )
    records = {name: record for extras in found for name, record in (extras.records or {}).items()}
    records.pop(STORAGE_RECORD, None)
    return attachments, records


def _attachment_lines(attachments: Sequence[AttachmentSummary]) -> list[str]:
    return [f"attached {file.name}: {file.media_type}, {file.size} bytes" for file in attachments]


def _record_lines(records: Mapping[str, Mapping[str, str]]) -> list[str]:
    """One line per record, named without our own prefix."""
    return [
        f"{name.removeprefix(OWN_PREFIX)}: "
        + ", ".join(f"{key} {value}" for key, value in record.items())
        for name, record in records.items()
    ]


def _table(topics: Sequence[TopicSummary]) -> list[str]:
    """Lay out one line for each topic."""
    rows = [("topic", "type", "messages", "rate", "longest gap", "clock")]
    for topic in topics:
        promise = "" if topic.promised in (None, topic.messages) else f" of {topic.promised}"
        rows.append(
            (
                topic.name,
                topic.msgtype or "unknown",
                f"{topic.messages}{promise}",
                f"{topic.rate:.4g} Hz" if topic.rate else "-",
                f"{topic.longest_gap:.3g} s" if topic.rate else "-",
                topic.clock if topic.messages else "-",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    problems = [f"! {topic.name}: {topic.problem}" for topic in topics if topic.problem]
    problems += [_restart_line(topic) for topic in topics if topic.restarts]
    return [line.rstrip() for line in lines] + problems


def _restart_line(topic: TopicSummary) -> str:
    often = "once" if topic.restarts == 1 else f"{topic.restarts} times"
    return (
        f"! {topic.name}: the {topic.clock} stamps jump back {often}: a clock was set, a "
        "simulation started over, or publishers differ; 'sysid_ros recover BAG --split' makes a "
        "bag of each stretch"
    )
