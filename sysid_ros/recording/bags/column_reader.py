# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fields of several topics of a bag, read in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from sysid_ros.recording.bags.bag import Recording
from sysid_ros.recording.bags.topic_types import TopicTypes
from sysid_ros.recording.messages import (
    FieldPath,
    FieldReader,
    RawMessage,
    TopicColumns,
    TopicDecoder,
    TrajectoryReader,
    is_expanded,
)

_BATCH = 1024  # messages decoded at once; a batch of joint states fits a processor's cache


def read_columns(
    recording: Recording, fields: Mapping[str, Sequence[FieldPath]]
) -> dict[str, TopicColumns]:
    """Read fields of several topics in one pass over the bag, in bounded memory.

    Raises:
      BagError: A topic is not in the bag or lacks a definition, or the bag is damaged.
      DataError: A field is not in its type.
    """
    reader = ColumnReader(recording, fields)
    reader.read(recording.messages(set(fields)))
    return reader.columns()


class ColumnReader:
    """Reads fields of several topics from messages as they come."""

    def __init__(self, recording: TopicTypes, fields: Mapping[str, Sequence[FieldPath]]) -> None:
        """Prepare to read.

        Args:
          recording: Tells the types of topics; a bag need not stay open.
          fields: The wanted fields of each topic.

        Raises:
          BagError: A topic is not in the bag or lacks a definition.
          DataError: A field is not in its type.
        """
        self._decoders: dict[str, TopicDecoder] = {}
        for topic, paths in fields.items():
            info = recording.topic(topic)
            types = recording.types(topic)
            single = tuple(path for path in paths if not is_expanded(path))
            reader = FieldReader.of_type(info.msgtype, info.serialization, types, single)
            expanded = [
                TrajectoryReader(path, info.msgtype, info.serialization, types)
                for path in paths
                if is_expanded(path)
            ]
            self._decoders[topic] = TopicDecoder(topic, reader, expanded)

    def read(self, messages: Iterator[RawMessage]) -> None:
        """Read some more messages, all of topics that are wanted.

        Raises:
          BagError: A message is damaged.
        """
        while batch := list(islice(messages, _BATCH)):
            by_topic: dict[str, list[RawMessage]] = {}
            for message in batch:
                by_topic.setdefault(message.topic, []).append(message)
            for topic, of_topic in by_topic.items():
                self._decoders[topic].add(of_topic)

    def forget_before(self, log_ns: int) -> None:
        """Forget what was received before an instant, but for the last message of each topic."""
        for decoder in self._decoders.values():
            decoder.forget_before(log_ns)

    def columns(self) -> dict[str, TopicColumns]:
        """Return one table for each topic: everything read so far and not forgotten."""
        return {topic: decoder.columns() for topic, decoder in self._decoders.items()}
