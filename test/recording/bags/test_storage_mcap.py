# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MCAP files in every state in which a recorder leaves them."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcap.writer import CompressionType, Writer

from sysid_ros.errors import BagError
from sysid_ros.recording.bags import open_recording

COUNT = 60
DELAY_NS = 250


def write(path: Path, **options) -> list[tuple[str, int, int, bytes]]:
    """Write messages of two topics with publish times; return what was written."""
    written = []
    with path.open("wb") as stream:
        writer = Writer(stream, chunk_size=400, **options)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channels = {
            topic: writer.register_channel(topic, "cdr", schema) for topic in ("/even", "/odd")
        }
        for number in range(COUNT):
            topic = "/odd" if number % 2 else "/even"
            data = b"\x00\x01\x00\x00" + number.to_bytes(2, "little") * 12
            stamp = 10**18 + number
            writer.add_message(channels[topic], stamp, data, stamp - DELAY_NS)
            written.append((topic, stamp, stamp - DELAY_NS, data))
        writer.finish()
    return written


def read(path: Path) -> tuple[list[tuple[str, int, int | None, bytes]], tuple[str, ...]]:
    with open_recording(path) as recording:
        return [tuple(message) for message in recording.messages()], recording.warnings


@pytest.mark.parametrize("compression", list(CompressionType))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_chunking": False},
        {"use_statistics": False},
        {"repeat_channels": False, "repeat_schemas": False},
        {"index_types": 0},
        {"use_summary_offsets": False, "enable_crcs": False},
    ],
    ids=lambda options: "-".join(options) or "default",
)
def test_every_way_to_write_is_read(tmp_path, compression, options) -> None:
    if "index_types" in options:
        from mcap.writer import IndexType

        options = {"index_types": IndexType.NONE}
    path = tmp_path / "bag.mcap"
    written = write(path, compression=compression, **options)
    assert read(path) == (written, ())
    with open_recording(path) as recording:
        odd = [message.data for message in recording.messages(["/odd"])]
    assert odd == [data for topic, _, _, data in written if topic == "/odd"]


@pytest.mark.parametrize("compression", list(CompressionType))
def test_a_file_cut_anywhere_is_read_up_to_the_cut(tmp_path, compression) -> None:
    """Read messages are a beginning of those written; only an early cut leaves nothing."""
    path = tmp_path / "whole.mcap"
    written = write(path, compression=compression)
    content = path.read_bytes()
    cut = tmp_path / "cut.mcap"
    longest = 0
    for size in range(8, len(content), 37):
        cut.write_bytes(content[:size])
        try:
            messages, warnings = read(cut)
        except BagError as error:
            assert "holds no messages" in str(error)
            assert longest == 0
            continue
        assert messages == written[: len(messages)]
        assert len(messages) >= longest
        if len(messages) < COUNT:
            assert len(warnings) == 1
            assert "was cut off (its end mark is missing)" in warnings[0]
        longest = len(messages)
    assert longest == COUNT


def test_a_torn_chunk_is_read_as_far_as_it_goes(tmp_path) -> None:
    path = tmp_path / "bag.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream, chunk_size=1 << 30, compression=CompressionType.NONE)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channel = writer.register_channel("/a", "cdr", schema)
        for number in range(100):
            writer.add_message(channel, number, bytes(100), number)
        writer.finish()
    path.write_bytes(path.read_bytes()[:7000])
    messages, warnings = read(path)
    assert 40 < len(messages) < 60
    (warning,) = warnings
    assert warning.endswith("of 7000, and what is left of the chunk there.")


def test_zeros_after_the_cut(tmp_path) -> None:
    """A file system may leave zeros where data had not reached the disk."""
    path = tmp_path / "bag.mcap"
    written = write(path, compression=CompressionType.NONE)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + bytes(500))
    messages, warnings = read(path)
    assert messages == written[: len(messages)]
    assert len(messages) > COUNT // 4
    assert warnings


def test_a_changed_byte_is_found_by_the_checksum(tmp_path) -> None:
    path = tmp_path / "bag.mcap"
    write(path, compression=CompressionType.NONE)
    content = bytearray(path.read_bytes())
    content[content.index((40).to_bytes(2, "little") * 12) + 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(BagError, match=r"damaged at byte .*checksum does not match"):
        read(path)
