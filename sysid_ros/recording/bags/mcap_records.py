# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Records of MCAP files: the envelope, chunks, definitions and messages.

Format: https://mcap.dev/spec. What reads whole files, parts of them, and files that are still
being written shares these functions.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

import lz4.frame
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, ChunkIndex, Schema, Statistics

from sysid_ros.errors import BagError
from sysid_ros.recording.messages import RawMessage

MAGIC = b"\x89MCAP0\r\n"
HEADER = struct.Struct("<BQ")  # opcode, length of the record's content
_MESSAGE = struct.Struct("<BQHIqq")  # the same, then channel, sequence, log time, publish time
_CHUNK = struct.Struct("<QQQI")  # start, end, uncompressed size, CRC
# what the parsers of damaged records and the decompressors of damaged chunks raise
UNPARSABLE = (struct.error, ValueError, OverflowError, MemoryError, McapError)
UNPACKABLE = (struct.error, ValueError, MemoryError, zstandard.ZstdError, RuntimeError)
_LARGEST_CHUNK = 1 << 32  # bytes; recorders write chunks of a few MiB at most


class Summary(NamedTuple):
    """The summary at the end of a complete file."""

    schemas: dict[int, Schema]
    channels: dict[int, Channel]
    counts: dict[int, int] | None
    chunk_channels: dict[int, frozenset[int]]  # by the chunk's offset in the file


def unpack_chunk(content: bytes) -> tuple[bytes, bool]:
    """The records in a whole chunk, and whether they match its checksum.

    Raises:
      UNPACKABLE: It is damaged.
    """
    _, _, size, crc = _CHUNK.unpack_from(content)
    name, packed = _chunk_payload(content)
    records = _decompress(name, packed, size)
    return records, not crc or zlib.crc32(records) == crc


def unpack_torn_chunk(content: bytes) -> bytes:
    """The records in the beginning of a chunk, as far as its compression allows.

    Raises:
      UNPACKABLE: The tear lies in the chunk's own header, or what there is is damaged.
    """
    name, packed = _chunk_payload(content)
    if name == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    if name == "lz4":
        unpacked: bytes = lz4.frame.LZ4FrameDecompressor().decompress(packed)
        return unpacked
    return packed


def _chunk_payload(content: bytes) -> tuple[str, bytes]:
    """Return the compression's name and the compressed bytes of a chunk record's content."""
    position = _CHUNK.size
    (length,) = struct.unpack_from("<I", content, position)
    position += 4
    name = content[position : position + length].decode()
    position += length
    (size,) = struct.unpack_from("<Q", content, position)
    return name, content[position + 8 : position + 8 + size]


def _decompress(name: str, packed: bytes, size: int) -> bytes:
    if size > _LARGEST_CHUNK:
        raise RuntimeError(f"it claims to hold {size} bytes")
    if name == "zstd":
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    if name == "lz4":
        unpacked: bytes = lz4.frame.decompress(packed)
        return unpacked
    if name:
        raise RuntimeError(f"unknown compression {name!r}; valid: '', 'lz4', 'zstd'")
    return packed


def parse_definitions(records: bytes) -> Summary:
    """Collect the schemas, channels and statistics in a run of records.

    Raises:
      UNPARSABLE: One of them is damaged.
    """
    summary = Summary({}, {}, None, {})
    for opcode, content in _records_in(records):
        stream = ReadDataStream(BytesIO(content))
        if opcode == Opcode.SCHEMA:
            schema = Schema.read(stream)
            summary.schemas[schema.id] = schema
        elif opcode == Opcode.CHANNEL:
            channel = Channel.read(stream)
            summary.channels[channel.id] = channel
        elif opcode == Opcode.CHUNK_INDEX:
            index = ChunkIndex.read(stream)
            if index.message_index_length:
                held = frozenset(index.message_index_offsets)
                summary.chunk_channels[index.chunk_start_offset] = held
        elif opcode == Opcode.STATISTICS:
            statistics = Statistics.read(stream)
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


def messages_in(records: bytes, wanted: dict[int, str]) -> Iterator[RawMessage]:
    """Yield the wanted messages in a run of records; the inner loop of reading MCAP."""
    position, end = 0, len(records)
    unpack, size, head = _MESSAGE.unpack_from, _MESSAGE.size, HEADER.size
    message = int(Opcode.MESSAGE)  # comparing with the enumeration's member is slow
    while position + size <= end:
        opcode, length, channel, _, log_ns, publish_ns = unpack(records, position)
        following = position + head + length
        if opcode == message and channel in wanted and following <= end:
            if log_ns < 0 or publish_ns < 0:  # unsigned in the file, signed in ROS
                raise BagError(f"a message of {wanted[channel]} is dated after the year 2262")
            yield RawMessage(
                wanted[channel], log_ns, publish_ns, records[position + size : following]
            )
        position = following
