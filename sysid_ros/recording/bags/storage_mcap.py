# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MCAP files, complete or cut off, with or without chunks, index and summary.

Format: https://mcap.dev/spec. A file is read from front to back; the summary at its end only
spares a first pass for the topics and lets chunks without a wanted topic be skipped.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from mcap.opcode import Opcode
from mcap.records import Channel, Schema

from sysid_ros.errors import BagError
from sysid_ros.recording.bags.mcap_records import (
    HEADER,
    MAGIC,
    UNPACKABLE,
    UNPARSABLE,
    Summary,
    messages_in,
    parse_definitions,
    unpack_chunk,
    unpack_torn_chunk,
)
from sysid_ros.recording.bags.storage import StoredTopic
from sysid_ros.recording.messages import Definition, RawMessage, ros2_type

_LANGUAGES = {"ros2msg": "msg", "ros1msg": "msg", "ros2idl": "idl"}
_FOOTER_SIZE = HEADER.size + 20


class McapStorage:
    """One open MCAP file."""

    format = "mcap"

    def __init__(self, path: Path, *, salvage: bool = False, shown: Path | None = None) -> None:
        """Open a file and learn its topics.

        Args:
          path: The ``.mcap`` file.
          salvage: Whether damaged chunks are left out with a warning.
          shown: What messages call the file, if not ``path``.

        Raises:
          BagError: It is not an MCAP file or is damaged.
        """
        self._path = shown or path
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

    @property
    def progress(self) -> float:
        """The share of the file that has been read, 0 to 1."""
        return self._file.tell() / self._size

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Yield the messages of some topics in file order; see :class:`~.storage.Storage`."""
        wanted = {
            number: channel.topic
            for number, channel in self._summary.channels.items()
            if channel.topic in topics
        }
        for records in self._blocks(frozenset(wanted)):
            yield from messages_in(records, wanted)

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

    def _read_summary(self) -> Summary:
        """Read the summary section, or every record where there is none or it is incomplete."""
        if self._complete and self._size > 2 * len(MAGIC) + _FOOTER_SIZE:
            end = self._size - len(MAGIC) - _FOOTER_SIZE
            self._file.seek(end)
            opcode, _, start, _, _ = struct.unpack("<BQQQI", self._file.read(_FOOTER_SIZE))
            if opcode == Opcode.FOOTER and 0 < start <= end:
                self._file.seek(start)
                try:
                    summary = parse_definitions(self._file.read(end - start))
                except UNPARSABLE:
                    return self._scan_definitions()
                if summary.counts is not None:
                    if set(summary.counts) <= set(summary.channels):
                        return summary
                    return self._scan_definitions()._replace(counts=summary.counts)
        return self._scan_definitions()

    def _scan_definitions(self) -> Summary:
        """Learn the topics from the data itself; such a file promises nothing."""
        schemas: dict[int, Schema] = {}
        channels: dict[int, Channel] = {}
        for records in self._blocks(None):
            try:
                found = parse_definitions(records)
            except UNPARSABLE as error:
                position = self._file.tell()
                raise self._damaged(
                    position, f"before it, a schema or channel ({error})"
                ) from error
            schemas.update(found.schemas)
            channels.update(found.channels)
        self.warnings.clear()  # the reading pass will say it again
        return Summary(schemas, channels, None, {})

    def _blocks(self, wanted: frozenset[int] | None) -> Iterator[bytes]:
        """Yield runs of records: the content of each chunk, and each record outside chunks.

        Args:
          wanted: Channels of interest, to skip chunks that have none; ``None`` for everything.
        """
        self._file.seek(len(MAGIC))
        position = len(MAGIC)
        while position < self._end:
            head = self._file.read(HEADER.size)
            opcode, length = HEADER.unpack(head) if len(head) == HEADER.size else (0, 0)
            start, position = position, position + HEADER.size + length
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
            records, whole = unpack_chunk(content)
        except UNPACKABLE as error:
            raise self._damaged(start, f"its chunk does not unpack ({error})") from error
        if not whole:
            raise self._damaged(start, "the chunk's checksum does not match its content")
        return records

    def _torn_record(self, opcode: int, start: int) -> Iterator[bytes]:
        """Save what can be read of a record that the end of a cut-off file tore apart."""
        if self._complete:
            raise self._damaged(start, "a record there is longer than the file or has no type")
        self._note_cut(start)
        if opcode != Opcode.CHUNK:
            return
        self._file.seek(start + HEADER.size)
        try:
            yield unpack_torn_chunk(self._file.read(self._end - self._file.tell()))
        except UNPACKABLE:
            return  # nothing of it can be saved

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
