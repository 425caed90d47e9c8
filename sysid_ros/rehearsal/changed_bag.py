# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording written anew with other numbers in its messages; all else stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.recording.bags import BagFolder, BagTopic, Recording
from sysid_ros.recording.messages import FieldPath, FieldReader, Number
from sysid_ros.rehearsal.plan import RehearsalError


@dataclass(frozen=True)
class Change:
    """Numbers that one signal puts into a topic's messages."""

    paths: tuple[FieldPath, ...]
    raw: FloatArray  # (messages, components)


def write_changed(
    recording: Recording, topics: Sequence[str], changes: Mapping[str, list[Change]], folder: Path
) -> None:
    """Write some topics of a recording of ROS 2 into a new folder, with other numbers by topic.

    Raises:
      RehearsalError: The recording is of ROS 1.
      SysidError: The bag cannot be written.
    """
    bag = BagFolder(folder.parent, folder.name, dated=False)
    channels: dict[str, int] = {}
    readers: dict[str, FieldReader] = {}
    counts = dict.fromkeys(topics, 0)
    for name in topics:
        info = recording.topic(name)
        if info.serialization != "cdr":
            raise RehearsalError(f"{recording.path}: bags of ROS 1 cannot be rehearsed")
        channels[name] = bag.add_topic(
            BagTopic(
                name, info.msgtype, info.definition.text, info.definition.digest,
                encoding="ros2idl" if info.definition.language == "idl" else "ros2msg",
            )
        )  # fmt: skip
        paths = tuple(path for change in changes.get(name, ()) for path in change.paths)
        readers[name] = FieldReader.of_type(
            info.msgtype, info.serialization, recording.types(name), paths
        )
    for message in recording.messages(topics):
        row = counts[message.topic]
        counts[message.topic] += 1
        data = message.data
        if message.topic in changes:
            numbers = np.concatenate([one.raw[row] for one in changes[message.topic]])
            data = _patched(data, readers[message.topic], numbers)
        published = message.log_ns if message.publish_ns is None else message.publish_ns
        bag.write(channels[message.topic], data, log_ns=message.log_ns, publish_ns=published)
    bag.close()


def _patched(data: bytes, reader: FieldReader, numbers: FloatArray) -> bytes:
    """A message with other numbers in its fields."""
    changed = bytearray(data)
    for place, number in zip(reader.layout(data).numbers, numbers, strict=True):
        if isinstance(place, Number):
            packed = np.array(number, dtype=place.dtype).tobytes()
            changed[place.offset : place.offset + len(packed)] = packed
    return bytes(changed)
