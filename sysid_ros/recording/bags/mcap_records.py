# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Records of MCAP files: the envelope, chunks, definitions and messages.

Format: https://mcap.dev/spec. What reads whole files, parts of them, and files that are still
being written shares these functions.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple

from mcap.data_stream import ReadDataStream
from mcap.exceptions import EndOfFile, McapError
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, ChunkIndex, Header, Metadata, Schema, Statistics

from sysid_ros.errors import BagError
from sysid_ros.recording.bags.decompression import UNDECOMPRESSABLE, decompress
from sysid_ros.recording.messages import RawMessage

MAGIC = b"\x89MCAP0\r\n"
HEADER = struct.Struct("<BQ")  # opcode, length of the record's content
_MESSAGE = struct.Struct("<BQHIqq")  # the same, then channel, sequence, log time, publish time
_CHUNK = struct.Struct("<QQQI")  # start, end, uncompressed size, CRC
# what the parsers of damaged records and the decompressors of damaged chunks raise
UNPARSABLE = (struct.error, ValueError, OverflowError, MemoryError, McapError)
UNPACKABLE = (struct.error, *UNDECOMPRESSABLE)
PRIVATE = 0x80  # opcodes from here on are an application's own
# Between the chunks; what only the summary may hold means damage there.
IN_DATA = frozenset(
    (
        Opcode.HEADER,
        Opcode.SCHEMA,
        Opcode.CHANNEL,
        Opcode.MESSAGE,
        Opcode.CHUNK,
        Opcode.MESSAGE_INDEX,
        Opcode.ATTACHMENT,
        Opcode.METADATA,
    )
)
MOST_CHANNELS = 4000
_INDEX_HEAD = struct.Struct("<HI")  # channel, bytes of entries
_INDEX_ENTRY = 16


class StrictStream(ReadDataStream):
    """Reads fields of records and does not make do with less than there should be."""

    def __init__(self, content: bytes) -> None:
        """Read from the content of one record."""
        super().__init__(BytesIO(content))

    def read(self, length: int) -> bytes:
        """Return the next bytes.

        Raises:
          EndOfFile: There are fewer.
        """
        data: bytes = super().read(length)
        if len(data) < length:
            raise EndOfFile
        return data


class Summary(NamedTuple):
    """The summary at the end of a complete file, or else one made from all of its records."""

    schemas: dict[int, Schema]
    channels: dict[int, Channel]
    counts: dict[int, int] | None
    # Channels by the chunk's offset in the file; ``None`` where its index does not say.
    chunk_channels: dict[int, frozenset[int] | None]
    redeclared: set[int]  # channels that are declared as two things


@dataclass
class Findings:
    """The records read of a run, and those left out."""

    # messages of each channel, wanted or not
    messages: Counter[int] = field(default_factory=Counter)
    undeclared: int = 0  # messages of channels that nothing declares
    misdated: int = 0  # messages dated after the year 2262, whose times ROS cannot hold
    # channels that are declared again as something else
    redeclared: set[int] = field(default_factory=set)
    unknown: int = 0  # records of types that do not exist
    private: int = 0  # records of an application's own
    unread: int = 0  # bytes at the end that are no whole record


def unpack_chunk(content: bytes) -> tuple[bytes, bool | None]:
    """The records in a whole chunk, and whether they match its checksum; ``None`` without one.

    Raises:
      UNPACKABLE: It is damaged.
    """
    _, _, size, crc = _CHUNK.unpack_from(content)
    name, packed, whole = _chunk_payload(content)
    if not whole:
        raise ValueError("its size is not that of its record")
    records = decompress(name, packed)
    if len(records) != size:
        raise ValueError(f"it should hold {size} bytes and holds {len(records)}")
    return records, zlib.crc32(records) == crc if crc else None


def unpack_torn_chunk(content: bytes) -> bytes:
    """The records in the beginning of a chunk, as far as its compression allows.

    Raises:
      UNPACKABLE: The tear lies in the chunk's own header, or what there is is damaged.
    """
    name, packed, _ = _chunk_payload(content)
    return decompress(name, packed, partly=True)


def _chunk_payload(content: bytes) -> tuple[str, bytes, bool]:
    """The compression's name, the compressed bytes, and whether they fill the record."""
    position = _CHUNK.size
    (length,) = struct.unpack_from("<I", content, position)
    position += 4
    name = content[position : position + length].decode()
    position += length
    (size,) = struct.unpack_from("<Q", content, position)
    position += 8
    return name, content[position : position + size], position + size == len(content)


def indexed_messages(content: bytes) -> tuple[int, int]:
    """The channel and the number of messages of a message index record.

    Raises:
      UNPARSABLE: It is damaged, or it is no such record.
    """
    channel, size = _INDEX_HEAD.unpack_from(content)
    if size % _INDEX_ENTRY or _INDEX_HEAD.size + size != len(content):
        raise ValueError("its size is not that of its entries")
    return channel, size // _INDEX_ENTRY


def check_extra(opcode: int, content: bytes) -> None:
    """Make sure that a record that is skipped is what its type says.

    Raises:
      UNPARSABLE: It is damaged, or it is no such record.
    """
    stream = StrictStream(content)
    if opcode == Opcode.ATTACHMENT:
        Attachment.read(stream)
        (crc,) = struct.unpack_from("<I", content, len(content) - 4)
        if crc and zlib.crc32(content[:-4]) != crc:
            raise ValueError("its checksum does not match")
    elif opcode == Opcode.METADATA:
        Metadata.read(stream)
    elif opcode == Opcode.HEADER:
        Header.read(stream)
    if stream.count != len(content):
        raise ValueError("its size is not that of its fields")


def parse_definitions(records: bytes, known: Summary | None = None) -> Summary:
    """Collect schemas, channels and statistics in a run of records, added to those known.

    Raises:
      UNPARSABLE: One of them is damaged.
      BagError: There are too many.
    """
    summary = Summary({}, {}, None, {}, set()) if known is None else known
    for opcode, content in _records_in(records):
        if opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
            found = parse_definition(opcode, content)
            summary.redeclared.update(redeclared(found, summary))
            if isinstance(found, Schema):
                summary.schemas[found.id] = found
            else:
                summary.channels[found.id] = found
                if len(summary.channels) > MOST_CHANNELS:
                    raise BagError(f"an MCAP file has more than {MOST_CHANNELS} channels")
        elif opcode == Opcode.CHUNK_INDEX:
            index = ChunkIndex.read(StrictStream(content))
            held = frozenset(index.message_index_offsets) if index.message_index_length else None
            summary.chunk_channels[index.chunk_start_offset] = held
        elif opcode == Opcode.STATISTICS:
            statistics = Statistics.read(StrictStream(content))
            summary = summary._replace(counts=dict(statistics.channel_message_counts))
    return summary


def _records_in(records: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield opcode and content of each whole record."""
    position = 0
    while position + HEADER.size <= len(records):
        opcode, length = HEADER.unpack_from(records, position)
        position += HEADER.size
        if position + length > len(records):
            return
        yield opcode, records[position : position + length]
        position += length


def messages_in(
    records: bytes, wanted: Mapping[int, str], declared: Summary, found: Findings
) -> Iterator[RawMessage]:
    """Yield the wanted messages in a run of records; the inner loop of reading MCAP.

    Topics are given by channel. What was odd is in ``found`` once everything was yielded.
    """
    position, end, channels = 0, len(records), declared.channels
    unpack, size, head = _MESSAGE.unpack_from, _MESSAGE.size, HEADER.size
    message = int(Opcode.MESSAGE)  # comparing with the enumeration's member is slow
    seen: list[int] = []
    note = seen.append
    while position + size <= end:
        opcode, length, channel, _, log_ns, publish_ns = unpack(records, position)
        following = position + head + length
        if following > end or (opcode == message and length < size - head):
            break
        if opcode != message:
            _note_other(opcode, records[position + head : following], declared, found)
        elif channel not in channels:
            found.undeclared += 1
        elif log_ns < 0 or publish_ns < 0:  # unsigned in the file, signed in ROS
            found.misdated += 1
        else:
            note(channel)
            if channel in wanted:
                yield RawMessage(
                    wanted[channel], log_ns, publish_ns, records[position + size : following]
                )
        position = following
    while position + head <= end:  # records shorter than any message
        opcode, length = HEADER.unpack_from(records, position)
        if opcode == message or position + head + length > end:
            break
        following = position + head + length
        _note_other(opcode, records[position + head : following], declared, found)
        position = following
    found.unread += end - position
    found.messages.update(seen)


def _note_other(opcode: int, content: bytes, declared: Summary, found: Findings) -> None:
    """Check a record that is no message."""
    if opcode in (Opcode.CHANNEL, Opcode.SCHEMA):
        try:
            found.redeclared |= redeclared(parse_definition(opcode, content), declared)
        except UNPARSABLE:
            found.unknown += 1
    elif opcode >= PRIVATE:
        found.private += 1
    else:
        found.unknown += 1


def parse_definition(opcode: int, content: bytes) -> Schema | Channel:
    """Parse a schema or a channel.

    Raises:
      UNPARSABLE: It is damaged.
    """
    stream = StrictStream(content)
    found: Schema | Channel = (
        Schema.read(stream) if opcode == Opcode.SCHEMA else Channel.read(stream)
    )
    return found


def redeclared(found: Schema | Channel, declared: Summary) -> set[int]:
    """The channels whose meaning a schema or channel changes; what describes them may differ."""
    if isinstance(found, Schema):
        if declared.schemas.get(found.id, found) == found:
            return set()
        return {n for n, channel in declared.channels.items() if channel.schema_id == found.id}
    known = declared.channels.get(found.id, found)
    same = (known.topic, known.schema_id, known.message_encoding) == (
        found.topic,
        found.schema_id,
        found.message_encoding,
    )
    return set() if same else {found.id}
