# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fields of whole topics as columns of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import BoolArray, FloatArray, IntArray
from sysid_ros.errors import BagError, DataError
from sysid_ros.recording.messages.field_paths import Absent, FieldPath
from sysid_ros.recording.messages.message_layout import FieldReader, Layout, Rows, stack_messages
from sysid_ros.recording.messages.message_tree import Number
from sysid_ros.recording.messages.stored_message import RawMessage
from sysid_ros.recording.messages.trajectories import Trajectory, TrajectoryReader

_Scalar = TypeVar("_Scalar", bound=np.generic)

_FAR = 5.0  # intervals between messages, by which a clock is set back at the least
_OF_SIZE = 0.1  # by which stamps and receipt may go back differently
_LIVED = 0.75  # of the usual number of messages, that each of two passes has at the least
_OFTEN = 5  # times that a clock is set in a recording, at most
_LAYOUTS_KEPT = 8  # of messages laid out in more ways in turn, each is located by itself


@dataclass(frozen=True)
class TimeCount:
    """An integer in which the sender of messages counts time, from an instant of its own."""

    field: str
    values: IntArray  # (n,)


@dataclass(frozen=True)
class TopicColumns:
    """Fields of one topic, in the order in which its messages were received."""

    topic: str  # the topic's name
    msgtype: str
    paths: tuple[FieldPath, ...]  # the k fields
    log_ns: IntArray  # (n,) receive times, nanoseconds since the epoch
    publish_ns: IntArray | None  # (n,) publish times; ``None`` where the bag does not keep them
    header_ns: IntArray | None  # (n,) header stamps, or their own; ``None`` without any
    values: FloatArray  # (n, k) the fields, NaN where a message has no such element
    present: BoolArray  # (n, k) whether the message has the element
    # per field, why the first message without it has none; ``None`` if all have it
    absences: tuple[Absent | None, ...]
    # by path, how many messages name its element more than once, where some do
    ambiguous: Mapping[FieldPath, int] = field(default_factory=dict)
    # for each path to all points of a trajectory, those of every message (n,)
    trajectories: Mapping[FieldPath, tuple[Trajectory | None, ...]] = field(default_factory=dict)
    count: TimeCount | None = None  # of time by the sender; ``None`` where the type has none

    def shares(self, stamps: IntArray) -> BoolArray:
        """Tell which messages but the first, (n - 1,), say other under the stamp of the last."""
        both = self.present[1:] & self.present[:-1]
        differ = np.any(both & (self.values[1:] != self.values[:-1]), axis=1)
        return np.asarray((stamps[1:] == stamps[:-1]) & differ)


class TopicDecoder:
    """Decodes the messages of one topic batch by batch."""

    def __init__(
        self, topic: str, reader: FieldReader, expanded: Sequence[TrajectoryReader] = ()
    ) -> None:
        self._topic = topic
        self._reader = reader
        self._expanded = tuple(expanded)
        self._trajectories: list[list[Trajectory | None]] = [[] for _ in expanded]
        self._layouts: list[Layout] = []  # the one used last comes first
        self._absences: list[Absent | None] = [None] * len(reader.paths)
        self._ambiguous: Counter[FieldPath] = Counter()
        self._log: list[IntArray] = []
        self._publish: list[IntArray] = []
        self._stamps: list[IntArray] = []
        self._counts: list[IntArray] = []
        self._values: list[FloatArray] = []
        self._present: list[BoolArray] = []

    def add(self, messages: Sequence[RawMessage]) -> None:
        """Decode some messages, and take all of them or none.

        Raises:
          BagError: A message is damaged; nothing is taken.
        """
        _, log, publish, data = zip(*messages, strict=True)
        trajectories = [list(expanded.read(data)) for expanded in self._expanded]
        count, fields = len(data), len(self._reader.paths)
        values = np.empty((count, fields))
        present = np.empty((count, fields), dtype=np.bool_)
        stamps, counts = np.empty((2, count), dtype=np.int64)
        lengths = np.array([len(one) for one in data])
        for length in np.unique(lengths):
            remaining = np.flatnonzero(lengths == length)
            rows = stack_messages(data if len(remaining) == count else [data[i] for i in remaining])
            while len(remaining):
                layout, matching = self._next_layout(rows, int(length))
                whole = bool(matching.all())
                taken = rows if whole else rows[matching]
                chosen = remaining if whole else remaining[matching]
                values[chosen] = layout.values(taken)
                self._count_ambiguous(layout, len(chosen))
                present[chosen] = [isinstance(number, Number) for number in layout.numbers]
                if layout.stamp:
                    stamps[chosen] = layout.stamps(taken)
                counts[chosen] = layout.counts(taken)
                remaining, rows = remaining[~matching], rows[~matching]
        self._log.append(np.array(log, dtype=np.int64))
        if None not in publish:
            self._publish.append(np.array(publish, dtype=np.int64))
        for found, further in zip(self._trajectories, trajectories, strict=True):
            found.extend(further)
        self._values.append(values)
        self._present.append(present)
        self._stamps.append(stamps)
        self._counts.append(counts)

    def forget_before(self, log_ns: int) -> None:
        """Forget messages received before an instant, but for the last of them."""
        log = _join(self._log, np.int64)
        first = max(0, int(np.count_nonzero(log < log_ns)) - 1)
        if not first:
            return
        whole = sum(map(len, self._publish)) == len(log)
        self._log = [log[first:]]
        self._publish = [_join(self._publish, np.int64)[first:]] if whole else []
        self._stamps = [_join(self._stamps, np.int64)[first:]]
        self._counts = [_join(self._counts, np.int64)[first:]]
        self._values = [_join(self._values, np.float64)[first:]]
        self._present = [_join(self._present, np.bool_)[first:]]
        self._trajectories = [found[first:] for found in self._trajectories]

    def columns(self) -> TopicColumns:
        """Return everything decoded, in the order of receipt."""
        log = _join(self._log, np.int64)
        order: slice | IntArray = slice(None)  # which costs no copy
        stamps = _join(self._stamps, np.int64)
        fields = len(self._reader.paths)
        present = _join(self._present, np.bool_).reshape(len(log), fields)
        if np.any(log[1:] < log[:-1]) and not (
            self._reader.stamped and _set_back(log, stamps, present)
        ):
            order = np.argsort(log, kind="stable")
        rows = range(len(log)) if isinstance(order, slice) else order
        publish, counts = _join(self._publish, np.int64), _join(self._counts, np.int64)
        return TopicColumns(
            topic=self._topic,
            msgtype=self._reader.msgtype,
            paths=self._reader.paths,
            log_ns=log[order],
            publish_ns=publish[order] if len(publish) == len(log) else None,
            header_ns=stamps[order] if self._reader.stamped else None,
            values=_join(self._values, np.float64).reshape(len(log), fields)[order],
            present=present[order],
            absences=tuple(self._absences),
            ambiguous=dict(self._ambiguous),
            trajectories={
                reader.path: tuple(found[row] for row in rows)
                for reader, found in zip(self._expanded, self._trajectories, strict=True)
            },
            count=TimeCount(self._reader.count, counts[order]) if self._reader.count else None,
        )

    def _count_ambiguous(self, layout: Layout, messages: int) -> None:
        for path, number in zip(self._reader.paths, layout.numbers, strict=True):
            if isinstance(number, Absent) and number.ambiguous:
                self._ambiguous[path] += messages

    def _next_layout(self, rows: Rows, length: int) -> tuple[Layout, BoolArray]:
        """Find a layout that fits some of the messages, the first among them at least."""
        for position, layout in enumerate(self._layouts):
            if layout.length == length and layout.matches(rows[:1])[0]:
                self._layouts.insert(0, self._layouts.pop(position))
                return layout, layout.matches(rows)
        try:
            layout = self._reader.layout(rows[0].tobytes()[:length])
        except (BagError, DataError) as error:
            raise type(error)(f"topic {self._topic}: {error}") from error
        for column, number in enumerate(layout.numbers):
            if isinstance(number, Absent) and self._absences[column] is None:
                self._absences[column] = number
        self._layouts.insert(0, layout)
        del self._layouts[_LAYOUTS_KEPT:]
        return layout, layout.matches(rows)


def _set_back(log: IntArray, stamps: IntArray, present: BoolArray) -> bool:
    """True where the clock of recorder and header stamps was set back while messages came.

    From one message to the next both go back by as much, and as many messages as usual come in what
    is lived twice, before and after; of messages that a recorder wrote out of order there is half.
    Both tell the same fields: of two nodes with joints of their own, a bag may have one first.
    """
    back = np.flatnonzero(np.diff(log) < 0)
    usual = float(np.median(np.abs(np.diff(log))))
    for last in back.tolist():
        size = int(log[last] - log[last + 1])
        together = abs(int(stamps[last] - stamps[last + 1]) - size) < _OF_SIZE * size
        before = np.flatnonzero(log[: last + 1] > log[last + 1])
        after = last + 1 + np.flatnonzero(log[last + 1 :] < log[last])
        full = _LIVED * size / max(usual, 1.0)
        if size < _FAR * usual or not together or min(len(before), len(after)) < full:
            return False
        shared = present[before].any(axis=0) & present[after].any(axis=0)
        if shared.size and not shared.any():
            return False
    return 0 < len(back) <= _OFTEN


def _join(parts: list[npt.NDArray[_Scalar]], dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
