"""MCAP files, complete or cut off, with or without chunks, index and summary.

Format: https://mcap.dev/spec. A file is read from front to back; the summary at its end only
spares a first pass for the topics and lets chunks without a wanted topic be skipped.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import lz4.frame
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Channel, ChunkIndex, Schema, Statistics

from sysid_ros.errors import BagError
from sysid_ros.recording.storage import Definition, RawMessage, StoredTopic, ros2_type

MAGIC = b"\x89MCAP0\r\n"
_LANGUAGES = {"ros2msg": "msg", "ros1msg": "msg", "ros2idl": "idl"}
_HEADER = struct.Struct("<BQ")  # opcode, length of the record's content
_MESSAGE = struct.Struct("<BQHIQQ")  # the same, then channel, sequence, log time, publish time
_CHUNK = struct.Struct("<QQQI")  # start, end, uncompressed size, CRC
# what the parsers of damaged records and the decompressors of damaged chunks raise
_UNPARSABLE = (struct.error, ValueError, OverflowError, MemoryError, McapError)
_UNPACKABLE = (struct.error, ValueError, MemoryError, zstandard.ZstdError, RuntimeError)
_LARGEST_CHUNK = 1 << 32  # bytes; recorders write chunks of a few MiB at most
_FOOTER_SIZE = _HEADER.size + 20


class _Summary(NamedTuple):
    """What the end of a complete file says about it."""

    schemas: dict[int, Schema]
    channels: dict[int, Channel]
    counts: dict[int, int] | None
    chunk_channels: dict[int, frozenset[int]]  # by the chunk's offset in the file


class McapStorage:
    """One open MCAP file."""

    format = "mcap"

    def __init__(self, path: Path, *, salvage: bool = False) -> None:
        """Open a file and learn its topics.

        Args:
          path: The ``.mcap`` file.
          salvage: Whether damaged chunks are left out with a warning.

        Raises:
          BagError: It is not an MCAP file or is damaged.
        """
        self._path = path
        self._salvage = salvage
        self._file: BinaryIO = path.open("rb")
        self._size = path.stat().st_size
        self.warnings: list[str] = []
        try:
            self._complete = self._has_closing_magic()
            self._end = self._size if self._complete else self._end_of_content()
            self._summary = self._read_summary()
        except BaseException:
            self._file.close()
            raise

    @property
    def topics(self) -> list[StoredTopic]:
        """The file's topics, one for each channel."""
        schemas, counts = self._summary.schemas, self._summary.counts
        found = []
        for number, channel in sorted(self._summary.channels.items()):
            schema = schemas.get(channel.schema_id)
            language = _LANGUAGES.get(schema.encoding, "") if schema else ""
            text = schema.data.decode(errors="replace") if schema and language else ""
            found.append(
                StoredTopic(
                    name=channel.topic,
                    msgtype=ros2_type(schema.name) if schema else "",
                    serialization=channel.message_encoding,
                    definition=Definition(
                        language=language if text.strip() else "",
                        text=text,
                        digest=channel.metadata.get("topic_type_hash", ""),
                    ),
                    promised=None if counts is None else counts.get(number, 0),
                    qos=channel.metadata.get("offered_qos_profiles", ""),
                )
            )
        return found

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Yield the messages of some topics in file order; see :class:`~.storage.Storage`."""
        wanted = {
            number: channel.topic
            for number, channel in self._summary.channels.items()
            if channel.topic in topics
        }
        for records in self._blocks(frozenset(wanted)):
            yield from _messages_in(records, wanted)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _has_closing_magic(self) -> bool:
        if self._file.read(len(MAGIC)) != MAGIC:
            raise BagError(f"{self._path} is not an MCAP file: it does not start with its mark")
        self._file.seek(max(self._size - len(MAGIC), 0))
        return self._size >= 2 * len(MAGIC) and self._file.read(len(MAGIC)) == MAGIC

    def _end_of_content(self) -> int:
        """Find the last byte that is not zero: beyond it nothing had reached the disk."""
        position = self._size
        while position > 0:
            start = max(position - (1 << 16), 0)
            self._file.seek(start)
            content = self._file.read(position - start).rstrip(b"\0")
            if content:
                return start + len(content)
            position = start
        return 0

    def _read_summary(self) -> _Summary:
        """Read the summary section, or every record where there is none or it is incomplete."""
        if self._complete and self._size > 2 * len(MAGIC) + _FOOTER_SIZE:
            end = self._size - len(MAGIC) - _FOOTER_SIZE
            self._file.seek(end)
            opcode, _, start, _, _ = struct.unpack("<BQQQI", self._file.read(_FOOTER_SIZE))
            if opcode == Opcode.FOOTER and 0 < start <= end:
                self._file.seek(start)
                try:
                    summary = _parse_definitions(self._file.read(end - start))
                except _UNPARSABLE:
                    return self._scan_definitions()
                if summary.counts is not None and set(summary.counts) <= set(summary.channels):
                    return summary
        return self._scan_definitions()

    def _scan_definitions(self) -> _Summary:
        """Learn the topics from the data itself; such a file promises nothing."""
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        for records in self._blocks(None):
            try:
                found = _parse_definitions(records)
            except _UNPARSABLE as error:
                position = self._file.tell()
                raise self._damaged(
                    position, f"before it, a schema or channel ({error})"
                ) from error
            schemas.update(found.schemas)
            channels.update(found.channels)
        self.warnings.clear()  # the reading pass will say it again
        return _Summary(schemas, channels, None, {})

    def _blocks(self, wanted: frozenset[int] | None) -> Iterator[bytes]:
        """Yield runs of records: the content of each chunk, and each record outside chunks.

        Args:
          wanted: Channels of interest, to skip chunks that have none; ``None`` for everything.
        """
        self._file.seek(len(MAGIC))
        position = len(MAGIC)
        while position < self._end:
            head = self._file.read(_HEADER.size)
            opcode, length = _HEADER.unpack(head) if len(head) == _HEADER.size else (0, 0)
            start, position = position, position + _HEADER.size + length
            if opcode in (Opcode.DATA_END, Opcode.FOOTER):
                return
            if opcode == 0 or position > self._end:
                yield from self._torn_record(opcode, start)
                return
            if opcode == Opcode.CHUNK:
                held = self._summary.chunk_channels.get(start) if wanted is not None else None
                if held is not None and wanted is not None and not held & wanted:
                    self._file.seek(position)
                    continue
                yield self._readable_chunk(self._file.read(length), start)
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE):
                yield head + self._file.read(length)
            else:
                self._file.seek(position)
        self._note_cut(position)

    def _readable_chunk(self, content: bytes, start: int) -> bytes:
        """Unpack one whole chunk; nothing where it is damaged and the rest shall be saved."""
        try:
            return self._chunk(content, start)
        except BagError as error:
            if not self._salvage:
                raise
            self._warn(f"{error}; the chunk is left out.")
            return b""

    def _chunk(self, content: bytes, start: int) -> bytes:
        """Unpack one whole chunk and check it against its CRC."""
        try:
            _, _, size, crc = _CHUNK.unpack_from(content)
            name, packed = _chunk_payload(content)
            records = _decompress(name, packed, size)
        except _UNPACKABLE as error:
            raise self._damaged(start, f"its chunk does not unpack ({error})") from error
        if crc and zlib.crc32(records) != crc:
            raise self._damaged(start, "the chunk's checksum does not match its content")
        return records

    def _torn_record(self, opcode: int, start: int) -> Iterator[bytes]:
        """Save what can be read of a record that the end of a cut-off file tore apart."""
        if self._complete:
            raise self._damaged(start, "a record there is longer than the file or has no type")
        self._note_cut(start)
        if opcode != Opcode.CHUNK:
            return
        self._file.seek(start + _HEADER.size)
        try:
            name, packed = _chunk_payload(self._file.read(self._end - self._file.tell()))
            yield _decompress_partly(name, packed)
        except _UNPACKABLE:
            return  # the tear lies in the chunk's own header: nothing of it can be saved

    def _note_cut(self, position: int) -> None:
        if not self._complete:
            note = (
                f"{self._path.name} was cut off (its end mark is missing); "
                f"read up to byte {position} of {self._size}."
            )
            self._warn(note)

    def _warn(self, text: str) -> None:
        if text not in self.warnings:  # a file may be read more than once
            self.warnings.append(text)

    def _damaged(self, position: int, why: str) -> BagError:
        return BagError(f"{self._path} is damaged at byte {position}: {why}")


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


def _decompress_partly(name: str, packed: bytes) -> bytes:
    """Decompress as far as a torn stream allows."""
    if name == "zstd":
        return zstandard.ZstdDecompressor().decompressobj().decompress(packed)
    if name == "lz4":
        unpacked: bytes = lz4.frame.LZ4FrameDecompressor().decompress(packed)
        return unpacked
    return packed


def _parse_definitions(records: bytes) -> _Summary:
    """Collect the schemas, channels and statistics in a run of records."""
    summary = _Summary({}, {}, None, {})
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
    while position + _HEADER.size <= len(records):
        opcode, length = _HEADER.unpack_from(records, position)
        position += _HEADER.size
        if position + length > len(records):
            return
        yield opcode, records[position : position + length]
        position += length


def _messages_in(records: bytes, wanted: dict[int, str]) -> Iterator[RawMessage]:
    """Yield the wanted messages in a run of records; the inner loop of reading MCAP."""
    position, end = 0, len(records)
    unpack, size, head = _MESSAGE.unpack_from, _MESSAGE.size, _HEADER.size
    message = int(Opcode.MESSAGE)  # comparing with the enumeration's member is slow
    while position + size <= end:
        opcode, length, channel, _, log_ns, publish_ns = unpack(records, position)
        following = position + head + length
        if opcode == message and channel in wanted and following <= end:
            yield RawMessage(
                wanted[channel], log_ns, publish_ns, records[position + size : following]
            )
        position = following
