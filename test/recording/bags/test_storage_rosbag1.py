# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""ROS 1 bags that were cut off, have no index, or are damaged."""

from __future__ import annotations

import struct

import pytest
from rosbags.rosbag1 import Writer

from sysid_ros.errors import BagError
from sysid_ros.recording.bags import open_recording

COUNT = 40


@pytest.fixture
def bag(tmp_path, ros1):
    path = tmp_path / "bag.bag"
    with Writer(path) as writer:
        writer.chunk_threshold = 300
        connection = writer.add_connection("/a", "std_msgs/msg/Float64", typestore=ros1)
        for number in range(COUNT):
            writer.write(connection, 10**18 + number, struct.pack("<d", number))
    return path


def read(path):
    with open_recording(path) as recording:
        return [tuple(message) for message in recording.messages()], recording.warnings


def expected(count):
    return [("/a", 10**18 + n, None, struct.pack("<d", n)) for n in range(count)]


def without_index(content: bytes) -> bytes:
    """Set the header's index position to zero, as in a bag that was never closed."""
    start = content.index(b"index_pos=") + len(b"index_pos=")
    return content[:start] + bytes(8) + content[start + 8 :]


def test_whole_and_indexless_bags(bag) -> None:
    assert read(bag) == (expected(COUNT), ())
    bag.write_bytes(without_index(bag.read_bytes()))
    messages, warnings = read(bag)
    assert messages == expected(COUNT)
    assert warnings[0].startswith("bag.bag was cut off (it has no index)")


def test_a_bag_cut_anywhere_is_read_up_to_the_cut(bag) -> None:
    content = bag.read_bytes()
    longest = 0
    for size in range(4200, len(content) - 1, 41):
        bag.write_bytes(without_index(content)[:size])
        try:
            messages, warnings = read(bag)
        except BagError as error:
            assert "holds no messages" in str(error)
            assert longest == 0
            continue
        assert messages == expected(len(messages))
        assert len(messages) >= longest
        assert warnings
        longest = len(messages)
    assert longest == COUNT


def test_other_versions_are_refused(tmp_path) -> None:
    path = tmp_path / "old.bag"
    path.write_bytes(b"#ROSBAG V1.2\n" + bytes(100))
    with pytest.raises(BagError, match=r"format 2.0 .*`rosbag fix` converts"):
        open_recording(path)
