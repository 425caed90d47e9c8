"""Fields of whole topics as columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import BagError, DataError
from sysid_ros.recording.bag import Recording
from sysid_ros.recording.fields import Absent, FieldPath
from sysid_ros.recording.layout import FieldReader, Layout
from sysid_ros.recording.message_tree import Number
from sysid_ros.recording.storage import RawMessage

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_BATCH_BYTES = 8 << 20
_BATCH_MESSAGES = 8192
_LAYOUTS_KEPT = 8  # of messages laid out in more ways in turn, each is located by itself


@dataclass(frozen=True)
class TopicColumns:
    """Fields of one topic, in the order in which its messages were received.

    Attributes:
      topic: The topic's name.
      msgtype: Its type.
      paths: The k fields.
      log_ns: (n,) receive times, nanoseconds since the epoch.
      publish_ns: (n,) publish times; ``None`` where the bag does not keep them.
      header_ns: (n,) header stamps; ``None`` where the type has no header.
      values: (n, k) the fields, NaN where a message has no such element.
      present: (n, k) whether the message has the element.
      absences: Per field, why the first message without it has none; ``None`` if all have it.
    """

    topic: str
    msgtype: str
    paths: tuple[FieldPath, ...]
    log_ns: IntArray
    publish_ns: IntArray | None
    header_ns: IntArray | None
    values: FloatArray
    present: BoolArray
    absences: tuple[Absent | None, ...]


def read_columns(
    recording: Recording, fields: Mapping[str, Sequence[FieldPath]]
) -> dict[str, TopicColumns]:
    """Read fields of several topics in one pass over the bag, in bounded memory.

    Args:
      recording: The open bag.
      fields: The wanted fields of each topic.

    Returns:
      One table for each topic.

    Raises:
      BagError: A topic is not in the bag or lacks a definition, or the bag is damaged.
      DataError: A field is not in its type.
    """
    readers: dict[str, _TopicReader] = {}
    for topic, paths in fields.items():
        info = recording.topic(topic)
        types = recording.types(topic)
        reader = FieldReader.of_type(info.msgtype, info.serialization, types, tuple(paths))
        readers[topic] = _TopicReader(topic, reader)
    for message in recording.messages(set(readers)):
        readers[message.topic].add(message)
    return {topic: reader.finish() for topic, reader in readers.items()}


class _TopicReader:
    """Collects the messages of one topic and decodes them batch by batch."""

    def __init__(self, topic: str, reader: FieldReader) -> None:
        self._topic = topic
        self._reader = reader
        self._layouts: list[Layout] = []  # the one used last comes first
        self._absences: list[Absent | None] = [None] * len(reader.paths)
        self._batch: list[RawMessage] = []
        self._batch_bytes = 0
        self._log: list[IntArray] = []
        self._publish: list[IntArray] = []
        self._stamps: list[IntArray] = []
        self._values: list[FloatArray] = []
        self._present: list[BoolArray] = []

    def add(self, message: RawMessage) -> None:
        """Take one message."""
        self._batch.append(message)
        self._batch_bytes += len(message.data)
        if len(self._batch) >= _BATCH_MESSAGES or self._batch_bytes >= _BATCH_BYTES:
            self._decode_batch()

    def finish(self) -> TopicColumns:
        """Decode what is left and put everything in the order of receipt."""
        self._decode_batch()
        log = _join(self._log, np.int64)
        order = np.argsort(log, kind="stable")
        fields = len(self._reader.paths)
        return TopicColumns(
            topic=self._topic,
            msgtype=self._reader.msgtype,
            paths=self._reader.paths,
            log_ns=log[order],
            publish_ns=_join(self._publish, np.int64)[order] if self._publish else None,
            header_ns=_join(self._stamps, np.int64)[order] if self._reader.stamp else None,
            values=_join(self._values, np.float64).reshape(-1, fields)[order],
            present=_join(self._present, np.bool_).reshape(-1, fields)[order],
            absences=tuple(self._absences),
        )

    def _decode_batch(self) -> None:
        if not self._batch:
            return
        count, fields = len(self._batch), len(self._reader.paths)
        values = np.empty((count, fields))
        present = np.empty((count, fields), dtype=np.bool_)
        stamps = np.empty(count, dtype=np.int64)
        lengths = np.array([len(message.data) for message in self._batch])
        for length in np.unique(lengths):
            remaining = np.flatnonzero(lengths == length)
            joined = b"".join([self._batch[index].data for index in remaining])
            rows = np.frombuffer(joined, np.uint8).reshape(-1, length)
            while len(remaining):
                layout, matching = self._next_layout(rows)
                chosen, taken = remaining[matching], rows[matching]
                values[chosen] = layout.values(taken)
                present[chosen] = [isinstance(number, Number) for number in layout.numbers]
                if layout.stamp:
                    stamps[chosen] = layout.stamps(taken)
                remaining, rows = remaining[~matching], rows[~matching]
        self._values.append(values)
        self._present.append(present)
        self._stamps.append(stamps)
        self._log.append(np.array([message.log_ns for message in self._batch], dtype=np.int64))
        published = [message.publish_ns for message in self._batch]
        known = [stamp for stamp in published if stamp is not None]
        if len(known) == count:
            self._publish.append(np.array(known, dtype=np.int64))
        self._batch.clear()
        self._batch_bytes = 0

    def _next_layout(self, rows: npt.NDArray[np.uint8]) -> tuple[Layout, BoolArray]:
        """Find a layout that fits some of the messages, the first among them at least."""
        for position, layout in enumerate(self._layouts):
            matching = layout.matches(rows[:1])
            if matching[0]:
                self._layouts.insert(0, self._layouts.pop(position))
                return layout, layout.matches(rows)
        try:
            layout = self._reader.layout(rows[0].tobytes())
        except (BagError, DataError) as error:
            raise type(error)(f"topic {self._topic}: {error}") from error
        for column, number in enumerate(layout.numbers):
            if isinstance(number, Absent) and self._absences[column] is None:
                self._absences[column] = number
        self._layouts.insert(0, layout)
        del self._layouts[_LAYOUTS_KEPT:]
        return layout, layout.matches(rows)


def _join(parts: list[npt.NDArray[np.generic]], dtype: npt.DTypeLike) -> npt.NDArray[np.generic]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
