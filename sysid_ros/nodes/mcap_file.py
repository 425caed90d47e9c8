"""An MCAP file written such that a crash costs only what came after the last flush.

The ``mcap`` package's own writer ends a chunk by size alone, which may leave minutes of slow
topics in memory. This one ends a chunk when it is told to. Format: https://mcap.dev/spec.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import lz4.frame
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import (
    Attachment,
    AttachmentIndex,
    Channel,
    Chunk,
    ChunkIndex,
    DataEnd,
    Footer,
    Header,
    McapRecord,
    MessageIndex,
    Metadata,
    MetadataIndex,
    Schema,
    Statistics,
    SummaryOffset,
)

_MAGIC = b"\x89MCAP0\r\n"
_MESSAGE = struct.Struct("<BQHIQQ")  # opcode, length, channel, sequence, log time, publish time
_MESSAGE_HEAD = _MESSAGE.size - 9  # bytes of a message record that are not data
_FOOTER_HEAD = struct.Struct("<BQQQ")  # what the summary's checksum covers of the footer
_CHUNK_SIZE = 1 << 20  # bytes after which a chunk ends by itself


def compressor(name: str) -> Callable[[bytes], bytes]:
    """The function that compresses chunks: ``none``, ``lz4`` or ``zstd``."""
    if name == "zstd":
        return zstandard.ZstdCompressor(level=1).compress
    if name == "lz4":
        return lz4.frame.compress  # type: ignore[no-any-return]
    return lambda data: data


class McapFile:
    """One MCAP file being written."""

    def __init__(self, path: Path, *, library: str, compression: str = "none") -> None:
        """Create the file.

        Args:
          path: Must not exist.
          library: Named in the file as its author.
          compression: ``none``, ``lz4`` or ``zstd``.

        Raises:
          OSError: The file exists or cannot be created.
        """
        self._compression = "" if compression == "none" else compression
        self._compress = compressor(compression)
        self._file = path.open("xb")
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._indexes: list[McapRecord] = []  # of chunks, attachments and metadata
        self._counts: defaultdict[int, int] = defaultdict(int)
        self._first_ns, self._last_ns = 0, 0
        self._start_chunk()
        self._file.write(_MAGIC + _bytes([Header(profile="ros2", library=library)]))
        self._file.flush()

    @property
    def counts(self) -> Mapping[int, int]:
        """Messages so far by channel."""
        return self._counts

    @property
    def time_range(self) -> tuple[int, int]:
        """Earliest and latest log time in nanoseconds; zeros while there is no message."""
        return self._first_ns, self._last_ns

    def add_channel(
        self,
        topic: str,
        schema_name: str,
        schema_encoding: str,
        schema: str,
        metadata: Mapping[str, str],
    ) -> int:
        """Announce a topic of CDR messages.

        Returns:
          The channel's number, for :meth:`add_message`.
        """
        known = [s.id for s in self._schemas if s.name == schema_name and s.data.decode() == schema]
        if not known:
            number = len(self._schemas) + 1
            self._schemas.append(Schema(number, schema.encode(), schema_encoding, schema_name))
            self._chunk += _bytes([self._schemas[-1]])
            known = [number]
        channel = Channel(len(self._channels) + 1, topic, "cdr", dict(metadata), known[0])
        self._channels.append(channel)
        self._chunk += _bytes([channel])
        return channel.id

    def add_message(
        self, channel: int, data: bytes, *, log_ns: int, publish_ns: int, sequence: int
    ) -> None:
        """Take one serialized message; it reaches the disk with the next flush.

        Args:
          channel: From :meth:`add_channel`.
          data: The message in CDR.
          log_ns: When it was received.
          publish_ns: When it was published.
          sequence: The publisher's count of messages.

        Raises:
          OSError: A full chunk could not be written.
        """
        if not self._counts:
            self._first_ns = log_ns
        self._first_ns = min(self._first_ns, log_ns)
        self._last_ns = max(self._last_ns, log_ns)
        self._chunk_times.append(log_ns)
        self._offsets[channel].append((log_ns, len(self._chunk)))
        self._counts[channel] += 1
        length = _MESSAGE_HEAD + len(data)
        self._chunk += _MESSAGE.pack(
            Opcode.MESSAGE, length, channel, sequence & 0xFFFFFFFF, log_ns, publish_ns
        )
        self._chunk += data
        if len(self._chunk) >= _CHUNK_SIZE:
            self.flush()

    def add_attachment(self, name: str, media_type: str, data: bytes) -> None:
        """Put a file into the file, at once.

        Raises:
          OSError: It could not be written.
        """
        now = time.time_ns()
        offset = self._file.tell()
        content = _bytes([Attachment(0, now, name, media_type, data)])
        self._file.write(content)
        self._indexes.append(
            AttachmentIndex(offset, len(content), now, 0, len(data), name, media_type)
        )

    def add_metadata(self, name: str, entries: Mapping[str, str]) -> None:
        """Put named texts into the file, at once.

        Raises:
          OSError: They could not be written.
        """
        offset = self._file.tell()
        content = _bytes([Metadata(name=name, metadata=dict(entries))])
        self._file.write(content)
        self._indexes.append(MetadataIndex(offset, len(content), name))

    def flush(self) -> None:
        """Write everything taken so far and hand it to the operating system.

        Raises:
          OSError: It could not be written.
        """
        if self._chunk:
            self._write_chunk()
            self._start_chunk()
        self._file.flush()

    def close(self) -> None:
        """Write the rest and the summary, and close the file.

        Raises:
          OSError: It could not be written; the file is closed, and readable up to there.
        """
        try:
            self.flush()
            self._file.write(_bytes([DataEnd(0)]))
            self._file.write(self._summary(self._file.tell()) + _MAGIC)
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def _start_chunk(self) -> None:
        self._chunk = bytearray()
        self._chunk_times: list[int] = []
        self._offsets: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def _write_chunk(self) -> None:
        content = bytes(self._chunk)
        packed = self._compress(content)
        first, last = min(self._chunk_times, default=0), max(self._chunk_times, default=0)
        start = self._file.tell()
        record = _bytes(
            [Chunk(self._compression, packed, last, first, zlib.crc32(content), len(content))]
        )
        index, positions = bytearray(), {}
        for channel, offsets in self._offsets.items():
            positions[channel] = start + len(record) + len(index)
            index += _bytes([MessageIndex(channel, offsets)])
        self._file.write(record + index)
        self._indexes.append(
            ChunkIndex(
                chunk_length=len(record),
                chunk_start_offset=start,
                compression=self._compression,
                compressed_size=len(packed),
                message_end_time=last,
                message_index_length=len(index),
                message_index_offsets=positions,
                message_start_time=first,
                uncompressed_size=len(content),
            )
        )

    def _summary(self, start: int) -> bytes:
        """Everything after the data: definitions, statistics, indexes, their offsets, footer."""
        statistics = Statistics(
            attachment_count=sum(isinstance(i, AttachmentIndex) for i in self._indexes),
            channel_count=len(self._channels),
            channel_message_counts=dict(self._counts),
            chunk_count=sum(isinstance(i, ChunkIndex) for i in self._indexes),
            message_count=sum(self._counts.values()),
            message_end_time=self._last_ns,
            message_start_time=self._first_ns,
            metadata_count=sum(isinstance(i, MetadataIndex) for i in self._indexes),
            schema_count=len(self._schemas),
        )
        groups: list[tuple[Opcode, Iterable[McapRecord]]] = [
            (Opcode.SCHEMA, self._schemas),
            (Opcode.CHANNEL, self._channels),
            (Opcode.STATISTICS, [statistics]),
        ]
        for opcode, kind in (
            (Opcode.CHUNK_INDEX, ChunkIndex),
            (Opcode.ATTACHMENT_INDEX, AttachmentIndex),
            (Opcode.METADATA_INDEX, MetadataIndex),
        ):
            groups.append((opcode, [i for i in self._indexes if isinstance(i, kind)]))
        content, offsets = b"", b""
        for opcode, records in groups:
            group = _bytes(records)
            if group:
                offsets += _bytes([SummaryOffset(opcode, start + len(content), len(group))])
                content += group
        offset_start = start + len(content)
        content += offsets
        covered = content + _FOOTER_HEAD.pack(Opcode.FOOTER, 20, start, offset_start)
        return content + _bytes([Footer(start, offset_start, zlib.crc32(covered))])


def _bytes(records: Iterable[McapRecord]) -> bytes:
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    return bytes(builder.end())  # type: ignore[no-untyped-call]
