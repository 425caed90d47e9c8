# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A bag that is still being written: what a recorder has added since the last look."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from mcap.opcode import Opcode

from sysid_ros.errors import BagError
from sysid_ros.files import open_regular
from sysid_ros.recording.bags.bag_files import storage_files
from sysid_ros.recording.bags.mcap_records import (
    HEADER,
    MAGIC,
    UNPACKABLE,
    UNPARSABLE,
    Findings,
    messages_in,
    parse_definitions,
    unpack_chunk,
)
from sysid_ros.recording.messages import RawMessage


class GrowingBag:
    """Reads each message once, as soon as its chunk is complete. MCAP only."""

    def __init__(self, folder: Path, topics: Collection[str]) -> None:
        """Begin at the beginning."""
        self._folder = folder
        self._topics = frozenset(topics)
        self._file = 0  # of those in the folder
        self._position = len(MAGIC)
        self._declared = parse_definitions(b"")

    def new_messages(self) -> Iterator[RawMessage]:
        """Yield what has been added since the last call.

        Raises:
          BagError: The bag is gone or damaged.
        """
        files = storage_files(self._folder)
        while self._file < len(files):
            path = files[self._file]
            try:
                with open_regular(path) as file:
                    yield from self._new_in(file, path.stat().st_size)
                    ended = self._ended(file)
            except OSError as error:
                raise BagError(f"{path} cannot be read: {error}") from error
            except (*UNPACKABLE, *UNPARSABLE) as error:
                raise BagError(f"{path} is damaged at byte {self._position}: {error}") from error
            if not ended:
                return
            self._file, self._position = self._file + 1, len(MAGIC)
            self._declared = parse_definitions(b"")

    def _new_in(self, file: BinaryIO, size: int) -> Iterator[RawMessage]:
        file.seek(self._position)
        while self._position + HEADER.size <= size:
            head = file.read(HEADER.size)
            opcode, length = HEADER.unpack(head)
            after = self._position + HEADER.size + length
            if after > size or opcode in (0, Opcode.DATA_END, Opcode.FOOTER):
                return
            records = b""
            if opcode == Opcode.CHUNK:
                records, _ = unpack_chunk(file.read(length))
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL, Opcode.MESSAGE):
                records = head + file.read(length)
            else:
                file.seek(after)
            self._position = after
            yield from self._wanted(records)

    def _wanted(self, records: bytes) -> Iterator[RawMessage]:
        parse_definitions(records, self._declared)
        wanted = {
            number: channel.topic
            for number, channel in self._declared.channels.items()
            if channel.topic in self._topics
        }
        return messages_in(records, wanted, self._declared, Findings())

    def _ended(self, file: BinaryIO) -> bool:
        """Return whether the recorder has completed the file that was read."""
        file.seek(self._position)
        return file.read(1) == bytes([Opcode.DATA_END])
