# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An MCAP file written such that a crash costs only what came after the last flush.

The ``mcap`` package's own writer ends a chunk by size alone, which may leave minutes of slow
topics in memory. This one ends a chunk when it is told to. Format: https://mcap.dev/spec.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from io import FileIO
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

from sysid_ros.recording.bags.mcap_records import MAGIC

_MESSAGE = struct.Struct("<BQHIQQ")  # opcode, length, channel, sequence, log time, publish time
_MESSAGE_HEAD = _MESSAGE.size - 9  # bytes of a message record that are not data
_FOOTER_HEAD = struct.Struct("<BQQQ")  # what the summary's checksum covers of the footer
_CHUNK_SIZE = 1 << 20  # bytes after which a chunk ends by itself
_BLOCK = 1 << 22  # bytes copied at once


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
        # Unbuffered, so that what a failing disk did not take is known and can be undone.
        self._file = path.open("x+b", buffering=0)
        self._size = 0
        self._schemas: list[Schema] = []
        self._channels: list[Channel] = []
        self._indexes: list[McapRecord] = []  # of chunks, attachments and metadata
        self._counts: Counter[int] = Counter()
        self._time_range: tuple[int, int] | None = None
        self._start_chunk()
        self._append(MAGIC + _bytes([Header(profile="ros2", library=library)]))

    @property
    def counts(self) -> Mapping[int, int]:
        """Messages on the disk by channel."""
        return self._counts

    @property
    def pending(self) -> int:
        """Messages taken that the next flush writes."""
        return len(self._chunk_times)

    @property
    def time_range(self) -> tuple[int, int]:
        """Earliest and latest log time on the disk in nanoseconds; zeros without a message."""
        return self._time_range or (0, 0)

    @property
    def size(self) -> int:
        """Bytes taken so far, before compression where they are not yet on the disk."""
        return self._size + len(self._chunk)

    @property
    def vanished(self) -> bool:
        """True if the file was deleted; what is written to it can still be saved."""
        return os.fstat(self._file.fileno()).st_nlink == 0

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
          publish_ns: When it was published; below zero, which MCAP cannot say, if unknown.
          sequence: The publisher's count of messages.

        Raises:
          OSError: A full chunk could not be written.
        """
        publish_ns = publish_ns if publish_ns >= 0 else log_ns
        self._chunk_times.append(log_ns)
        self._offsets[channel].append((log_ns, len(self._chunk)))
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
        content = _bytes([Attachment(0, now, name, media_type, data)])
        offset = self._append(content)
        self._indexes.append(
            AttachmentIndex(offset, len(content), now, 0, len(data), name, media_type)
        )

    def add_metadata(self, name: str, entries: Mapping[str, str]) -> None:
        """Put named texts into the file, at once.

        Raises:
          OSError: They could not be written.
        """
        content = _bytes([Metadata(name=name, metadata=dict(entries))])
        offset = self._append(content)
        self._indexes.append(MetadataIndex(offset, len(content), name))

    def flush(self) -> None:
        """Write everything taken so far and hand it to the operating system.

        Raises:
          OSError: It could not be written; it may be tried again.
        """
        if self._chunk:
            self._write_chunk()
            self._start_chunk()

    def close(self) -> None:
        """Write the rest and the summary, and close the file.

        Raises:
          OSError: It could not be written; the file is still open, and may be closed again.
        """
        self.flush()
        end = _bytes([DataEnd(0)])
        self._append(end + self._summary(self._size + len(end)) + MAGIC)
        os.fsync(self._file.fileno())
        self._file.close()

    @property
    def closed(self) -> bool:
        """True if the file takes nothing more."""
        return self._file.closed

    def abandon(self) -> None:
        """Close the file as it is, readable up to the last flush."""
        self._file.close()

    def drop_pending(self) -> int:
        """Give up what was taken since the last flush.

        Returns:
          How many messages that were.
        """
        dropped = self.pending
        self._start_chunk()
        return dropped

    def move(self, path: Path) -> None:
        """Copy what is written to a new file and go on there; the old one may be deleted.

        Args:
          path: Must not exist.

        Raises:
          OSError: The new file cannot be written; the old one goes on.
        """
        new = path.open("x+b", buffering=0)
        try:
            for offset in range(0, self._size, _BLOCK):
                length = min(_BLOCK, self._size - offset)
                _write(new, os.pread(self._file.fileno(), length, offset))
        except OSError:
            new.close()
            raise
        self._file.close()
        self._file = new

    def _append(self, content: bytes) -> int:
        """Write ``content`` wholly or not at all; returns where it starts."""
        start = self._size
        try:
            _write(self._file, content)
        except OSError:
            with suppress(OSError):  # a torn record at the end is what readers expect at worst
                self._file.truncate(start)
                self._file.seek(start)
            raise
        self._size += len(content)
        return start

    def _start_chunk(self) -> None:
        self._chunk = bytearray()
        self._chunk_times: list[int] = []
        self._offsets: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def _write_chunk(self) -> None:
        content = bytes(self._chunk)
        packed = self._compress(content)
        first, last = min(self._chunk_times, default=0), max(self._chunk_times, default=0)
        start = self._size
        record = _bytes(
            [Chunk(self._compression, packed, last, first, zlib.crc32(content), len(content))]
        )
        index, positions = bytearray(), {}
        for channel, offsets in self._offsets.items():
            positions[channel] = start + len(record) + len(index)
            index += _bytes([MessageIndex(channel, offsets)])
        self._append(record + index)
        self._counts.update({channel: len(at) for channel, at in self._offsets.items()})
        if self._chunk_times:
            before = self._time_range or (first, last)
            self._time_range = min(first, before[0]), max(last, before[1])
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
            message_end_time=self.time_range[1],
            message_start_time=self.time_range[0],
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


def _write(file: FileIO, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]


def _bytes(records: Iterable[McapRecord]) -> bytes:
    builder = RecordBuilder()
    for record in records:
        record.write(builder)
    return bytes(builder.end())  # type: ignore[no-untyped-call]
