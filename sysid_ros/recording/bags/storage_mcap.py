# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MCAP files, complete or cut off, with or without chunks, index and summary.

Format: https://mcap.dev/spec. A file is read from front to back; the summary at its end only
spares a first pass for the topics and lets chunks without a wanted topic be skipped. Whatever is
not what the format says is refused or, to save the rest, left out, counted and named.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mcap.opcode import Opcode

from sysid_ros.errors import BagError
from sysid_ros.files import open_regular
from sysid_ros.recording.bags.decompression import LARGEST_CHUNK
from sysid_ros.recording.bags.mcap_records import (
    HEADER,
    IN_DATA,
    MAGIC,
    PRIVATE,
    UNPACKABLE,
    UNPARSABLE,
    Findings,
    Summary,
    check_extra,
    indexed_messages,
    messages_in,
    parse_definitions,
    unpack_chunk,
    unpack_torn_chunk,
)
from sysid_ros.recording.bags.storage import Storage, StoredTopic
from sysid_ros.recording.messages import Definition, RawMessage, ros2_type

_LANGUAGES = {"ros2msg": "msg", "ros1msg": "msg", "ros2idl": "idl"}
_FOOTER_SIZE = HEADER.size + 20
_DATA_END_LENGTH, _FOOTER_LENGTH = 4, 20
_SUMMARY_CRC = 4  # bytes at the footer's end, which the checksum does not cover
_PRIVATE_RECORDS = "{} records of an application's own types are not read"
_AFTER_DATA = (
    Opcode.SCHEMA,
    Opcode.CHANNEL,
    Opcode.CHUNK_INDEX,
    Opcode.ATTACHMENT_INDEX,
    Opcode.METADATA_INDEX,
    Opcode.STATISTICS,
    Opcode.SUMMARY_OFFSET,
    Opcode.FOOTER,
)


_WITH_MESSAGES = (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE, Opcode.CHUNK)


class _Block(NamedTuple):
    """A run of records: where it lies, and whether it is a chunk's."""

    start: int
    records: bytes
    is_chunk: bool


class McapStorage(Storage):
    """One open MCAP file."""

    format = "mcap"

    def __init__(self, path: Path, *, salvage: bool = False, shown: Path | None = None) -> None:
        """Open a file; damaged chunks can be left out."""
        super().__init__(path, salvage=salvage, shown=shown)
        self._file: BinaryIO = open_regular(path)
        self._size = path.stat().st_size
        self._torn = 0  # where the record lies that a cut tore apart
        self._checked = self._unchecked = 0  # chunks with and without a checksum
        self._held: Counter[int] | None = None  # messages by channel of the chunk read last
        self._indexed: Counter[int] = Counter()  # what the index behind it says
        try:
            self._complete = self._has_closing_magic()
            self._end = self._size if self._complete else self._end_of_content()
            self._summary = self._read_summary()
        except BaseException:
            self._file.close()
            raise

    @property
    def checks(self) -> list[str]:
        """Checks that vouch for the messages that were read."""
        chunks = self._checked + self._unchecked
        if not chunks:
            return [
                f"{self._path.name} has no checksums: changed bytes of a message cannot be seen."
            ]
        if self._unchecked:
            return [
                f"{self._unchecked} of {chunks} chunks of {self._path.name} have no checksum: "
                "changed bytes of a message in them cannot be seen."
            ]
        return [f"The checksums of all {chunks} chunks of {self._path.name} match."]

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
        self._omissions.begin()
        self._checked = self._unchecked = 0
        wanted = {
            number: channel.topic
            for number, channel in self._summary.channels.items()
            if channel.topic in topics and number not in self._summary.redeclared
        }
        for block in self._blocks(frozenset(wanted)):
            found = Findings()
            yield from messages_in(block.records, wanted, self._summary, found)
            self._judge(block, found)

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
        if not self._complete or self._size <= 2 * len(MAGIC) + _FOOTER_SIZE:
            return self._scan_definitions()
        end = self._size - len(MAGIC) - _FOOTER_SIZE
        self._file.seek(end)
        footer = self._file.read(_FOOTER_SIZE)
        opcode, _, start, _, crc = struct.unpack("<BQQQI", footer)
        if opcode != Opcode.FOOTER or not 0 < start <= end or end - start > LARGEST_CHUNK:
            return self._scan_definitions()
        self._file.seek(start)
        content = self._file.read(end - start)
        if crc and zlib.crc32(footer[:-_SUMMARY_CRC], zlib.crc32(content)) != crc:
            return self._scan_instead()
        try:
            summary = parse_definitions(content)
        except UNPARSABLE:
            return self._scan_instead()
        if summary.counts is None:
            return self._scan_definitions()
        if not set(summary.counts) <= set(summary.channels):
            return self._scan_definitions()._replace(counts=summary.counts)
        if self._salvage:  # then what is declared twice must be known before messages are read
            summary.redeclared.update(self._scan_definitions(summary).redeclared)
        return summary

    def _scan_instead(self) -> Summary:
        summary = self._scan_definitions()
        self._omissions.say(f"The summary of {self._path.name} is damaged and was not used.")
        return summary

    def _scan_definitions(self, summary: Summary | None = None) -> Summary:
        """Learn the topics from the data itself; such a file promises nothing."""
        found = Summary({}, {}, None, {}, set())
        self._summary = found if summary is None else summary  # says where chunks are
        for block in self._blocks(None):
            try:
                parse_definitions(block.records, found)
            except UNPARSABLE as error:
                self._refuse(block.start, f"a schema or channel there is damaged ({error})")
        self._omissions.clear()  # the reading pass will say it again
        return found

    def _blocks(self, wanted: frozenset[int] | None) -> Iterator[_Block]:
        """Yield runs of records: the content of each chunk, and each record outside chunks.

        Args:
          wanted: Channels of interest, to skip chunks that have none; ``None`` for everything.
        """
        position = len(MAGIC)
        self._held = None
        while position < self._end:
            self._file.seek(position)
            head = self._file.read(HEADER.size)
            opcode, length = HEADER.unpack(head) if len(head) == HEADER.size else (0, 0)
            start, position = position, position + HEADER.size + length
            if self._is_end(opcode, length, position):
                self._note_cut(position)
                break
            if position > self._end or opcode == 0:
                if not self._complete:
                    yield from self._torn_record(opcode, start)
                    break
                position = self._skip(start, "a record there is longer than the file or no record")
            elif opcode not in IN_DATA and opcode < PRIVATE:
                self._refuse(start, f"a record there is of type 0x{opcode:02x}, which cannot be")
            elif opcode == Opcode.MESSAGE_INDEX or opcode not in _WITH_MESSAGES:
                self._check_skipped(opcode, length, start, once=wanted is None)
            elif length > LARGEST_CHUNK:
                self._refuse(start, f"its {length} bytes are more than the limit, {LARGEST_CHUNK}")
            elif opcode == Opcode.CHUNK:
                self._compare_index(start)
                held = self._summary.chunk_channels.get(start) if wanted is not None else None
                if held is None or wanted is None or held & wanted:
                    yield _Block(start, self._chunk(self._file.read(length), start), True)
            else:
                yield _Block(start, head + self._file.read(length), False)
        else:
            self._note_cut(position)
        self._compare_index(self._end)

    def _is_end(self, opcode: int, length: int, position: int) -> bool:
        """True if a record ends the data; one that only looks so, through damage, does not."""
        if opcode == Opcode.FOOTER:
            return length == _FOOTER_LENGTH and position >= self._end - len(MAGIC)
        if opcode != Opcode.DATA_END or length != _DATA_END_LENGTH:
            return False
        following = self._file.read(length + 1)[length:]
        return not following or following[0] in _AFTER_DATA

    def _chunk(self, content: bytes, start: int) -> bytes:
        """The records of one whole chunk; nothing where it is damaged and the rest is saved."""
        self._held = Counter()
        try:
            records, whole = unpack_chunk(content)
        except UNPACKABLE as error:
            self._refuse(start, f"its chunk does not unpack ({error})", "the chunk is left out")
            return b""
        if whole is None:
            self._unchecked += 1
        elif whole:
            self._checked += 1
        else:
            why = "the chunk's checksum does not match its content"
            self._refuse(start, why, "the chunk is left out")
            return b""
        return records

    def _judge(self, block: _Block, found: Findings) -> None:
        """Refuse or count what was left out of a run of records."""
        if block.is_chunk:
            self._held = found.messages
        for number in found.redeclared - self._summary.redeclared:
            topic = self._summary.channels[number].topic
            self._refuse(block.start, f"channel {number} ({topic}) is declared as something else")
        left_out = sum(found.messages[number] for number in self._summary.redeclared)
        self._omissions.count(
            "{} messages of channels that are declared as two things are left out", left_out
        )
        self._omissions.count(
            "{} messages of channels that nothing declares are left out", found.undeclared
        )
        self._omissions.count(_PRIVATE_RECORDS, found.private)
        if found.misdated:
            self._refuse(block.start, f"{found.misdated} messages are dated after the year 2262")
        if found.unknown:
            self._refuse(block.start, f"{found.unknown} records are of types that do not exist")
        torn = not self._complete and block.start == self._torn
        if found.unread and not torn:
            where = "its chunk" if block.is_chunk else "it should be"
            self._refuse(
                block.start, f"a record is longer than {where}: {found.unread} bytes are not read"
            )

    def _check_skipped(self, opcode: int, length: int, start: int, *, once: bool) -> None:
        """Make sure that a record without messages is one, not a chunk whose type was damaged."""
        if opcode >= PRIVATE:
            self._omissions.count(_PRIVATE_RECORDS, 1)
            return
        if length > LARGEST_CHUNK or (once and opcode != Opcode.MESSAGE_INDEX):
            return
        content = self._file.read(length)
        try:
            if opcode == Opcode.MESSAGE_INDEX:
                channel, count = indexed_messages(content)
                self._indexed[channel] += count
            else:
                check_extra(opcode, content)
        except UNPARSABLE:
            name = Opcode(opcode).name.lower().replace("_", " ")
            self._omissions.count("{} records are damaged: the first is the " + name, 1, start)

    def _compare_index(self, position: int) -> None:
        """Compare what a chunk held with the index behind it."""
        if self._held is not None and self._indexed:
            missing = (self._indexed - self._held).total()
            self._omissions.count(
                "{} messages are missing that the index of their chunk promises", missing, position
            )
        self._held, self._indexed = None, Counter()

    def _torn_record(self, opcode: int, start: int) -> Iterator[_Block]:
        """Save what can be read of a record that the end of a cut-off file tore apart."""
        if opcode != Opcode.CHUNK:
            self._note_cut(start)
            return
        self._file.seek(start + HEADER.size)
        try:
            content = self._file.read(min(self._end - self._file.tell(), LARGEST_CHUNK))
            records = unpack_torn_chunk(content)
        except UNPACKABLE:
            self._note_cut(start)
            return  # nothing of it can be saved
        self._torn = start
        self._note_cut(start, ", and what is left of the chunk there")
        yield _Block(start, records, False)

    def _skip(self, start: int, why: str) -> int:
        """Refuse the file, or go on with the next chunk that its summary knows."""
        following = min((one for one in self._summary.chunk_channels if one > start), default=None)
        position = self._end if following is None else following
        self._refuse(start, why, f"bytes {start} to {position} are left out")
        return position

    def _note_cut(self, position: int, further: str = "") -> None:
        if not self._complete:
            self._omissions.say(
                f"{self._path.name} was cut off (its end mark is missing); "
                f"read up to byte {position} of {self._size}{further}."
            )

    def _refuse(self, position: int, why: str, left_out: str = "it is left out") -> None:
        """Refuse the file, or leave a part of it out where the rest shall be saved.

        Raises:
          BagError: The rest shall not be saved.
        """
        error = BagError(f"{self._path} is damaged at byte {position}: {why}")
        if not self._salvage:
            raise error
        self._omissions.leave_out(str(error), left_out)
