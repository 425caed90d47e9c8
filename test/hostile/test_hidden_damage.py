# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Damage that other readers pass over: refused or counted and named; recover says it too."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest
from hostile.damaged_bags import MESSAGES, START_NS, TOPICS, TYPE, write_mcap, write_sqlite3
from mcap.data_stream import RecordBuilder
from mcap.records import Channel, DataEnd, Footer, Header, Message, Schema

from sysid_ros.errors import BagError
from sysid_ros.recording.bags import describe, open_recording, recover

MAGIC = b"\x89MCAP0\r\n"
MESSAGE = struct.Struct("<BQHIQQ")
CHUNK_OPCODE = 6


def patched(path: Path, position: int, content: bytes) -> Path:
    data = bytearray(path.read_bytes())
    data[position : position + len(content)] = content
    path.write_bytes(data)
    return path


def tenth_message(path: Path) -> int:
    """Where the tenth message's record starts; chunks are not compressed."""
    stamp = struct.pack("<Q", START_NS + 9 * 1_000_000)
    data = path.read_bytes()
    position = -1
    while True:
        position = data.index(stamp, position + 1)
        if data[position - 15] == 5 and data[position - 14 : position - 6] == struct.pack("<Q", 34):
            return position - 15


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    return write_mcap(tmp_path / "bag.mcap", crc=False)


def test_a_record_longer_than_its_chunk_without_checksum(bag, tmp_path) -> None:
    patched(bag, tenth_message(bag) + 1, struct.pack("<Q", 5000))
    with pytest.raises(BagError, match=r"a record is longer than its chunk: \d+ bytes"):
        describe(bag)
    recovery = recover(bag, output=tmp_path / "new")
    assert recovery.messages < MESSAGES
    said = " ".join(recovery.warnings)
    assert "a record is longer than its chunk" in said
    lost = MESSAGES - recovery.messages
    assert f"{lost} messages are missing that the index of their chunk promises" in said


def test_messages_of_a_channel_that_nothing_declares(bag, tmp_path) -> None:
    patched(bag, tenth_message(bag) + 9, struct.pack("<H", 77))
    warnings = describe(bag).warnings
    assert "bag.mcap: 1 messages of channels that nothing declares are left out." in warnings
    recovery = recover(bag, output=tmp_path / "new")
    assert recovery.messages == MESSAGES - 1
    assert "1 messages of channels that nothing declares" in " ".join(recovery.warnings)
    assert "29 were saved" in " ".join(recovery.warnings)


def write_redefined(path: Path) -> Path:
    """Three messages of channel 1, another topic from the second on, and one of channel 2."""
    builder = RecordBuilder()
    Header(profile="ros2", library="").write(builder)
    Schema(id=1, name=TYPE, encoding="ros2msg", data=b"float64 data").write(builder)
    for number, (channel, topic) in enumerate(((1, "/a"), (1, "/b"), (1, "/b"), (2, "/c"))):
        Channel(id=channel, topic=topic, message_encoding="cdr", metadata={}, schema_id=1).write(
            builder
        )
        Message(
            channel_id=channel,
            log_time=START_NS + number,
            publish_time=START_NS + number,
            sequence=0,
            data=b"\x00\x01\x00\x00" + struct.pack("<d", number),
        ).write(builder)
    DataEnd(data_section_crc=0).write(builder)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(builder)
    path.write_bytes(MAGIC + builder.end() + MAGIC)
    return path


def test_a_channel_that_is_declared_as_two_topics(tmp_path) -> None:
    redefined = write_redefined(tmp_path / "redefined.mcap")
    said = "redefined.mcap: 3 messages of channels that are declared as two things are left out."
    assert describe(redefined).warnings == (said,)
    recovery = recover(redefined, output=tmp_path / "new")
    assert recovery.topics == {"/c": 1}
    assert recovery.warnings == [said]


def test_rows_of_a_topic_that_is_not_there(tmp_path) -> None:
    bag = write_sqlite3(tmp_path / "bag.db3")
    with closing(sqlite3.connect(bag)) as database:
        database.execute("UPDATE messages SET topic_id = 9 WHERE id <= 7")
        database.commit()
    assert "bag.db3: 7 messages belong to no topic and are left out." in describe(bag).warnings
    recovery = recover(bag, output=tmp_path / "new")
    assert recovery.messages == MESSAGES - 7
    assert "bag.db3: 7 messages belong to no topic and are left out." in recovery.warnings


@pytest.mark.parametrize("opcode", [4, 7, 9, 12, 15, 0x46, 0x86])
def test_a_chunk_whose_type_was_changed(bag, tmp_path, opcode) -> None:
    first = bag.read_bytes().index(bytes([CHUNK_OPCODE]), len(MAGIC) + 9)
    assert struct.unpack_from("<Q", bag.read_bytes(), first + 9)[0] == START_NS
    patched(bag, first, bytes([opcode]))
    try:
        warnings = describe(bag).warnings
    except BagError:
        warnings = ("refused",)
    assert warnings
    recovery = recover(bag, output=tmp_path / "new")
    assert recovery.messages < MESSAGES
    assert recovery.warnings


@pytest.mark.parametrize("opcode", [1, 3, 6, 0x45, 0x85])
def test_a_message_whose_type_was_changed(bag, tmp_path, opcode) -> None:
    patched(bag, tenth_message(bag), bytes([opcode]))
    try:
        warnings = describe(bag).warnings
    except BagError:
        warnings = ("refused",)
    assert warnings
    recovery = recover(bag, output=tmp_path / "new")
    assert recovery.messages == MESSAGES - 1
    assert f"{TOPICS[1]}: 30 messages are promised by the file, 29 were saved." in recovery.warnings


def test_a_summary_that_hides_a_chunk(tmp_path) -> None:
    bag = write_mcap(tmp_path / "bag.mcap")
    data = bag.read_bytes()
    footer = len(data) - len(MAGIC) - 29
    start = struct.unpack_from("<Q", data, footer + 9)[0]
    patched(bag, start + 20, b"\xff")
    with open_recording(bag) as recording:
        assert sum(1 for _ in recording.messages()) == MESSAGES
        assert recording.warnings == ("The summary of bag.mcap is damaged and was not used.",)


def test_info_says_what_it_could_check(tmp_path) -> None:
    checked = describe(write_mcap(tmp_path / "checked.mcap"))
    assert "match" in checked.checks[0]
    assert checked.checks[0] in str(checked).splitlines()
    assert "have no checksum" in describe(write_mcap(tmp_path / "plain.mcap", crc=False)).checks[0]
    assert "no checksums" in describe(write_sqlite3(tmp_path / "bag.db3")).checks[0]
