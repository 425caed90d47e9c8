# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""ROS 1 bags (format 2.0): compressed or not, sorted or not, indexed or cut off.

Format: http://wiki.ros.org/Bags/Format/2.0. The file is read from front to back, so an index is
not needed; where there is one, its counts are what the bag promises.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sysid_ros.errors import BagError
from sysid_ros.files import open_regular
from sysid_ros.recording.bags.decompression import LARGEST_CHUNK, UNDECOMPRESSABLE, decompress
from sysid_ros.recording.bags.storage import Storage, StoredTopic
from sysid_ros.recording.messages import Definition, RawMessage, ros2_type

MAGIC = b"#ROSBAG V"
_VERSION = b"#ROSBAG V2.0\n"
_MESSAGE, _BAG_HEADER, _INDEX, _CHUNK, _CHUNK_INFO, _CONNECTION = 0x02, 0x03, 0x04, 0x05, 0x06, 0x07


class _MalformedError(Exception):
    """A record does not have the shape it must have."""


class _Record(NamedTuple):
    opcode: int
    header: dict[bytes, bytes]
    data: bytes


class _Connection(NamedTuple):
    number: int
    topic: str
    msgtype: str
    definition: str


class _Message(NamedTuple):
    connection: int
    stamp_ns: int
    data: bytes


class _Counts(NamedTuple):
    by_connection: tuple[tuple[int, int], ...]


class Rosbag1Storage(Storage):
    """One open ROS 1 bag; it keeps receive times only."""

    format = "rosbag1"

    def __init__(self, path: Path, *, salvage: bool = False, shown: Path | None = None) -> None:
        """Open a bag; if damaged, it is read on where messages cannot be told to a topic."""
        super().__init__(path, salvage=salvage, shown=shown)
        self._size = path.stat().st_size
        self._file: BinaryIO = open_regular(path)
        self._redeclared: set[int] = set()
        self._read_to = 0  # byte at which a file without an index ends
        try:
            self._index = self._read_bag_header()
            self._connections, self._counts = self._read_connections()
        except BaseException:
            self._file.close()
            raise

    @property
    def checks(self) -> list[str]:
        """Checks that vouch for the messages that were read."""
        name = self._path.name
        counted = "its index counts messages" if self._whole else "it has no index"
        return [f"{name} has no checksums but {counted}: changed bytes cannot be seen."]

    @property
    def topics(self) -> list[StoredTopic]:
        """The bag's topics, one for each connection."""
        return [
            StoredTopic(
                name=connection.topic,
                msgtype=connection.msgtype,
                serialization="ros1",
                definition=Definition(
                    "msg" if connection.definition.strip() else "", connection.definition
                ),
                promised=None if self._counts is None else self._counts[number],
            )
            for number, connection in sorted(self._connections.items())
        ]

    @property
    def progress(self) -> float:
        """The share of the file that has been read, 0 to 1."""
        return self._file.tell() / self._size

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Yield the messages of some topics in file order; see :class:`~.storage.Storage`."""
        self._omissions.clear()
        known = {
            number: connection.topic
            for number, connection in self._connections.items()
            if number not in self._redeclared
        }
        wanted = {number for number, topic in known.items() if topic in topics}
        for found in self._contents(len(_VERSION)):
            if isinstance(found, _Connection):
                self._declare(found)
            elif isinstance(found, _Message) and found.connection in wanted:
                yield RawMessage(known[found.connection], found.stamp_ns, None, found.data)
            elif isinstance(found, _Message) and found.connection not in known:
                self._omissions.count(
                    "{} messages of connections that nothing declares, or that are declared as two "
                    "things, are left out",
                    1,
                )

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read_bag_header(self) -> int:
        """Check the version line and return where the index lies, 0 for none."""
        if self._size == 0:
            raise BagError(f"{self._path} is empty (0 bytes)")
        version = self._file.read(len(_VERSION))
        if version != _VERSION:
            raise BagError(
                f"{self._path} is not a ROS 1 bag of format 2.0 (it starts with {version!r}); "
                "`rosbag fix` converts older ones"
            )
        try:
            opcode, header, _ = self._read_record()
            if opcode != _BAG_HEADER:
                raise _MalformedError("the first record is not a bag header")
            return _unsigned(header, b"index_pos", "<Q")
        except _MalformedError as problem:
            raise self._damaged(len(_VERSION), problem) from problem

    def _read_connections(self) -> tuple[dict[int, _Connection], Counter[int] | None]:
        """Collect the connections, and their message counts where the index is whole."""
        try:
            return self._scanned_connections()
        except BagError:
            if not self._whole:
                raise
            index, self._index = self._index, 0  # read it as a bag without one
            found = self._scanned_connections()
            if self._read_to < index:  # not the index is damaged but what lies before it
                raise
            return found

    def _scanned_connections(self) -> tuple[dict[int, _Connection], Counter[int] | None]:
        connections: dict[int, _Connection] = {}
        counts: Counter[int] = Counter()
        for found in self._contents(self._index if self._whole else len(_VERSION)):
            if isinstance(found, _Connection):
                self._declare(found, connections)
                connections[found.number] = found
            elif isinstance(found, _Counts):
                for number, count in found.by_connection:
                    counts[number] += count
        return connections, counts if self._whole else None

    def _declare(self, found: _Connection, known: Mapping[int, _Connection] | None = None) -> None:
        """Refuse or note a connection that was declared before as something else."""
        before = (self._connections if known is None else known).get(found.number, found)
        if (before.topic, before.msgtype) == (found.topic, found.msgtype):
            return
        if not self._salvage:
            raise BagError(
                f"{self._path} is damaged: connection {found.number} is declared as "
                f"{before.topic} and as {found.topic}"
            )
        self._redeclared.add(found.number)

    @property
    def _whole(self) -> bool:
        """True if the recorder closed the file: only then the header says where the index is."""
        return 0 < self._index <= self._size

    def _contents(self, position: int) -> Iterator[_Message | _Connection | _Counts]:
        """Yield what lies from a position on to the index (or the end), in chunks too."""
        end = self._index if self._whole and position < self._index else self._size
        while position < end:
            self._file.seek(position)
            try:
                record = self._read_record()
                inner = _records_in(_unpacked(record)) if record.opcode == _CHUNK else [record]
                contents = [_interpret(one) for one in inner]
            except _MalformedError as problem:
                if self._is_filler(position, end):
                    return
                if self._whole:
                    raise self._damaged(position, problem) from problem
                yield from self._torn_chunk(position)
                break
            yield from (found for found in contents if found is not None)
            position = self._file.tell()
        if not self._whole:
            self._note_cut(position)

    def _torn_chunk(self, position: int) -> Iterator[_Message | _Connection | _Counts]:
        """Yield what can be read of a chunk that the end of a cut-off file tore apart."""
        self._file.seek(position)
        try:
            header = _parse_header(self._read_sized())
            if _unsigned(header, b"op", "<B") != _CHUNK:
                return
            self._file.read(4)  # the size that it should have had
            chunk = _Record(_CHUNK, header, self._file.read(LARGEST_CHUNK))
            for record in _records_in(_unpacked(chunk, partly=True)):
                found = _interpret(record)
                if found is not None:
                    yield found
        except _MalformedError:
            return  # the tear

    def _is_filler(self, position: int, end: int) -> bool:
        """Tell whether only zero bytes lie there, as some writers leave before the index."""
        self._file.seek(position)
        return self._whole and not self._file.read(end - position).strip(b"\0")

    def _read_record(self) -> _Record:
        header = _parse_header(self._read_sized())
        return _Record(_unsigned(header, b"op", "<B"), header, self._read_sized())

    def _read_sized(self) -> bytes:
        head = self._file.read(4)
        size = int.from_bytes(head, "little")
        if len(head) < 4 or size > self._size - self._file.tell():
            raise _MalformedError("a record there is longer than the file")
        if size > LARGEST_CHUNK:
            raise _MalformedError(f"a record there has {size} bytes; the limit is {LARGEST_CHUNK}")
        return self._file.read(size)

    def _note_cut(self, position: int) -> None:
        self._read_to = position
        note = (
            f"{self._path.name} was cut off (it has no index); "
            f"read up to byte {position} of {self._size}."
        )
        self._omissions.say(note)

    def _damaged(self, position: int, problem: _MalformedError) -> BagError:
        return BagError(f"{self._path} is damaged at byte {position}: {problem}")


def _parse_header(raw: bytes) -> dict[bytes, bytes]:
    """Split a record header into its ``name=value`` fields."""
    fields = {}
    position = 0
    while position < len(raw):
        size = int.from_bytes(raw[position : position + 4], "little")
        position += 4
        name, equals, value = raw[position : position + size].partition(b"=")
        if not equals or position + size > len(raw):
            raise _MalformedError("a record header there does not consist of fields")
        fields[name] = value
        position += size
    return fields


def _unsigned(header: dict[bytes, bytes], name: bytes, form: str = "<I") -> int:
    """Return an integer field of a record header."""
    try:
        (value,) = struct.unpack(form, header[name])
    except (KeyError, struct.error) as error:
        raise _MalformedError(f"a record there lacks its field {name.decode()!r}") from error
    return int(value)


def _interpret(record: _Record) -> _Message | _Connection | _Counts | None:
    """Say what a record means; ``None`` for those that only help to seek."""
    header, data = record.header, record.data
    if record.opcode == _MESSAGE:
        packed = _unsigned(header, b"time", "<Q")  # seconds low, nanoseconds high
        stamp_ns = (packed & 0xFFFFFFFF) * 1_000_000_000 + (packed >> 32)
        return _Message(_unsigned(header, b"conn"), stamp_ns, data)
    if record.opcode == _CONNECTION:
        fields = _parse_header(data)
        try:
            return _Connection(
                number=_unsigned(header, b"conn"),
                topic=header[b"topic"].decode(),
                msgtype=ros2_type(fields[b"type"].decode()),
                definition=fields[b"message_definition"].decode(errors="replace"),
            )
        except (KeyError, UnicodeDecodeError) as error:
            raise _MalformedError(f"a connection there is incomplete ({error})") from error
    if record.opcode == _CHUNK_INFO:
        return _Counts(tuple(struct.iter_unpack("<II", data[: len(data) // 8 * 8])))
    if record.opcode not in (_BAG_HEADER, _INDEX, _CHUNK):
        raise _MalformedError(f"a record there is of type 0x{record.opcode:02x}, which cannot be")
    return None


def _unpacked(chunk: _Record, *, partly: bool = False) -> bytes:
    """Unpack a chunk, or the part of one that was cut off."""
    name = chunk.header.get(b"compression", b"none").decode(errors="replace")
    try:
        if name not in ("none", "bz2", "lz4"):
            raise ValueError(f"its compression {name!r} is unknown; valid: 'none', 'bz2', 'lz4'")
        return decompress(name, chunk.data, partly=partly)
    except UNDECOMPRESSABLE as error:
        raise _MalformedError(f"the chunk does not unpack ({error})") from error


def _records_in(records: bytes) -> Iterator[_Record]:
    """Yield the records of an unpacked chunk."""
    position = 0
    while position < len(records):
        header_end = position + 4 + int.from_bytes(records[position : position + 4], "little")
        data_start = header_end + 4
        end = data_start + int.from_bytes(records[header_end:data_start], "little")
        if end > len(records) or data_start > len(records):
            raise _MalformedError("a record there is longer than its chunk")
        header = _parse_header(records[position + 4 : header_end])
        yield _Record(_unsigned(header, b"op", "<B"), header, records[data_start:end])
        position = end
