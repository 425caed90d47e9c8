# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contents of an MCAP file besides messages: attached files and named texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Attachment, Metadata

from sysid_ros.errors import BagError
from sysid_ros.files import open_regular
from sysid_ros.recording.bags.mcap_records import HEADER, MAGIC, UNPARSABLE

STORAGE_RECORD = "rosbag2"  # what metadata.yaml says, by every recorder
# Records of ours.
OWN_PREFIX = "sysid_ros."
MODEL_RECORD = f"{OWN_PREFIX}model"
DESCRIPTION_RECORD = f"{OWN_PREFIX}robot_description"
TOPIC_RECORD = f"{OWN_PREFIX}topic "  # followed by the topic's name: what was counted of it


@dataclass(frozen=True)
class AttachedFile:
    """A file inside a bag."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True)
class McapExtras:
    """Attachments, and metadata records by name, in the order in which they were written.

    Where a name occurs more than once, the last record counts.
    """

    attachments: tuple[AttachedFile, ...] = ()
    records: Mapping[str, Mapping[str, str]] | None = None


def read_extras(path: Path) -> McapExtras:
    """Read what a file carries besides messages, up to where it may be cut off.

    Args:
      path: An ``.mcap`` file; other files carry nothing.

    Raises:
      BagError: The file cannot be read.
    """
    attachments: list[AttachedFile] = []
    records: dict[str, Mapping[str, str]] = {}
    try:
        for opcode, content in _records(path):
            stream = ReadDataStream(BytesIO(content))
            if opcode == Opcode.ATTACHMENT:
                found = Attachment.read(stream)
                attachments.append(AttachedFile(found.name, found.media_type, found.data))
            else:
                metadata = Metadata.read(stream)
                records[metadata.name] = dict(metadata.metadata)
    except OSError as error:
        raise BagError(f"{path} cannot be read: {error}") from error
    except UNPARSABLE:
        pass  # a torn or damaged record: what came before it counts
    return McapExtras(tuple(attachments), records)


def _records(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield attachments and metadata; everything else is skipped unread."""
    size = path.stat().st_size
    with open_regular(path) as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
        position = len(MAGIC)
        while position + HEADER.size <= size:
            file.seek(position)
            opcode, length = HEADER.unpack(file.read(HEADER.size))
            position += HEADER.size + length
            if position > size or opcode in (0, Opcode.DATA_END, Opcode.FOOTER):
                return
            if opcode in (Opcode.ATTACHMENT, Opcode.METADATA):
                yield opcode, file.read(length)
