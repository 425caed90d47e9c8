# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whoever follows a bag sees every message once, however writing and looking take turns."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sysid_ros.errors import BagError
from sysid_ros.recording.bags import BagFolder, BagTopic, GrowingBag
from sysid_ros.recording.messages import RawMessage


def start_bag(folder: Path, compression: str = "none") -> tuple[BagFolder, int, int]:
    bag = BagFolder(folder, "bag", compression, dated=False)
    wanted, other = (
        bag.add_topic(BagTopic(name, "std_msgs/msg/Float64", "float64 data\n", ""))
        for name in ("/wanted", "/other")
    )
    return bag, wanted, other


def write(bag: BagFolder, channel: int, number: int) -> None:
    bag.write(channel, number.to_bytes(8, "little"), log_ns=number, publish_ns=number + 1)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    actions=st.lists(
        st.sampled_from(["write", "write", "flush", "split", "look"]), min_size=1, max_size=40
    ),
    compression=st.sampled_from(["none", "zstd", "lz4"]),
)
def test_every_message_is_seen_once(
    tmp_path_factory: pytest.TempPathFactory, actions: list[str], compression: str
):
    bag, wanted, other = start_bag(tmp_path_factory.mktemp("growing"), compression)
    growing = GrowingBag(bag.path, {"/wanted"})
    seen: list[RawMessage] = []
    written = 0
    for action in actions:
        if action == "write":
            write(bag, wanted, written)
            write(bag, other, written)
            written += 1
        elif action == "flush":
            bag.flush()
        elif action == "split":
            bag.split()
        else:
            bag.flush()
            seen += growing.new_messages()
            assert len(seen) == written
    bag.close()
    seen += growing.new_messages()
    assert seen == [
        RawMessage("/wanted", n, n + 1, n.to_bytes(8, "little")) for n in range(written)
    ]
    assert list(growing.new_messages()) == []


def test_chunk_that_is_half_written_is_left_for_the_next_look(tmp_path: Path):
    bag, wanted, _ = start_bag(tmp_path)
    write(bag, wanted, 1)
    bag.flush()
    (file,) = bag.path.glob("*.mcap")
    whole = file.read_bytes()
    growing = GrowingBag(tmp_path / "copy", {"/wanted"})
    (tmp_path / "copy").mkdir()
    seen = []
    for size in range(8, len(whole) + 1):
        (tmp_path / "copy" / "bag_0.mcap").write_bytes(whole[:size])
        seen += growing.new_messages()
    assert [message.log_ns for message in seen] == [1]


def test_bag_that_is_gone_is_named(tmp_path: Path):
    bag, wanted, _ = start_bag(tmp_path)
    write(bag, wanted, 1)
    bag.close()
    growing = GrowingBag(bag.path, {"/wanted"})
    for file in bag.path.iterdir():
        file.unlink()
    with pytest.raises(BagError, match="is not a bag"):
        list(growing.new_messages())
