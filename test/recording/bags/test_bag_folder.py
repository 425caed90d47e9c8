# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bag folders: what rosbag2's format demands, and a disk that fails."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import yaml
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from sysid_ros.errors import BagError, OutputError
from sysid_ros.nodes.recorder.bag_session import BagContents, BagSession, BagSettings
from sysid_ros.nodes.recorder.message_definitions import definition
from sysid_ros.nodes.recorder.snapshot_buffer import SnapshotBuffer
from sysid_ros.recording.bags import BagFolder, BagTopic, QosProfile, open_recording
from sysid_ros.recording.bags.mcap_extras import read_extras

STORE = get_typestore(Stores.ROS2_KILTED)
TYPE = "std_msgs/msg/Float64MultiArray"


def topic(name: str = "/command") -> BagTopic:
    profiles = (QosProfile(), QosProfile(reliability="best_effort", depth=5))
    return BagTopic(name, TYPE, definition(TYPE), STORE.hash_rihs01(TYPE), profiles)


def message(value: float) -> bytes:
    layout = STORE.types["std_msgs/msg/MultiArrayLayout"](dim=[], data_offset=0)
    return bytes(
        STORE.serialize_cdr(
            STORE.types[TYPE](layout=layout, data=np.array([value], dtype=np.float64)), TYPE
        )
    )


def test_bag_is_read_by_rosbags(tmp_path: Path):
    bag = BagFolder(tmp_path / "new" / "bags", "demo", distribution="kilted")
    channel = bag.add_topic(topic())
    for number in range(5):
        bag.write(channel, message(number), log_ns=1000 + number, publish_ns=999 + number)
    bag.close()
    with AnyReader([bag.path]) as reader:
        assert reader.message_count == 5
        read = [
            (stamp, reader.deserialize(raw, connection.msgtype).data[0])
            for connection, stamp, raw in reader.messages()
        ]
        connection = reader.connections[0]
    assert read == [(1000 + number, float(number)) for number in range(5)]
    assert connection.digest == STORE.hash_rihs01(TYPE)
    assert len(connection.ext.offered_qos_profiles) == 2


def test_metadata_describes_the_bag(tmp_path: Path):
    bag = BagFolder(tmp_path, "demo", distribution="kilted")
    channel = bag.add_topic(topic())
    bag.add_topic(topic("/silent"))
    bag.write(channel, message(1.0), log_ns=7_000_000_000, publish_ns=7_000_000_000)
    bag.write(channel, message(2.0), log_ns=9_500_000_000, publish_ns=9_500_000_000)
    bag.close()
    text = (bag.path / "metadata.yaml").read_text()
    information = yaml.safe_load(text)["rosbag2_bagfile_information"]
    assert information["message_count"] == 2
    assert information["duration"]["nanoseconds"] == 2_500_000_000
    assert information["starting_time"]["nanoseconds_since_epoch"] == 7_000_000_000
    assert information["relative_file_paths"] == [f"{bag.path.name}_0.mcap"]
    counts = {
        entry["topic_metadata"]["name"]: entry["message_count"]
        for entry in information["topics_with_message_count"]
    }
    assert counts == {"/command": 2, "/silent": 0}
    assert (bag.path / information["relative_file_paths"][0]).is_file()


def test_every_file_of_a_split_bag_counts_its_own_messages(tmp_path: Path):
    bag = BagFolder(tmp_path, "demo")
    channel = bag.add_topic(topic())
    for count in (20, 30):
        for number in range(count):
            bag.write(channel, message(1.0), log_ns=1000 + number, publish_ns=1000 + number)
        if count == 20:
            bag.split()
    bag.close()
    counts = []
    for file in sorted(bag.path.glob("*.mcap")):
        text = read_extras(file).records["rosbag2"]["serialized_metadata"]
        information = yaml.safe_load(text)["rosbag2_bagfile_information"]
        counts.append([one["message_count"] for one in information["files"]])
    assert counts == [[20], [20, 30]]


def test_messages_are_counted_once_where_a_full_disk_has_no_room_for_the_next_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full() -> None:
        raise OSError(28, "No space left on device")

    bag = BagFolder(tmp_path, "demo")
    bag.write(bag.add_topic(topic()), message(1.0), log_ns=1000, publish_ns=1000)
    monkeypatch.setattr(bag, "_open", full)
    with pytest.raises(OutputError, match="No space left"):
        bag.split()
    assert bag.message_count == 1
    assert bag.end_early() == 0


def test_a_closed_bag_outlives_a_power_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced: list[Path] = []
    sync = os.fsync

    def noted(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        sync(descriptor)

    bag = BagFolder(tmp_path, "demo")
    monkeypatch.setattr(os, "fsync", noted)
    bag.close()
    assert {bag.path / f"{bag.path.name}_0.mcap", bag.path, tmp_path} <= set(synced)


def test_bags_of_one_second_get_names_of_their_own(tmp_path: Path):
    paths = []
    for _ in range(3):
        bag = BagFolder(tmp_path, "demo")
        bag.close()
        paths.append(bag.path)
    assert len(set(paths)) == 3


def test_folder_that_cannot_be_made_is_named(tmp_path: Path):
    (tmp_path / "bags").write_text("a file")
    with pytest.raises(OutputError, match=str(tmp_path / "bags")):
        BagFolder(tmp_path / "bags", "demo")


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file may grow beyond ``size`` bytes, as on a disk that has become full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_bag_that_cannot_begin_leaves_no_folder(tmp_path: Path):
    with full_disk(1000), pytest.raises(OutputError, match="demo: File too large"):
        BagFolder(tmp_path, "demo")
    assert not list(tmp_path.iterdir())


def test_full_disk_ends_the_bag_and_keeps_what_is_written(tmp_path: Path):
    session = BagSession(BagSettings(tmp_path, "demo"))
    session.add_topic(topic(), latched=False)
    session.start(BagContents())
    for number in range(100):
        session.write("/command", message(number), number, number, number)
    session.flush()
    with full_disk(20_000):
        for number in range(10_000):
            session.write("/command", message(number), number, number, number)
        session.flush()
    assert not session.writing
    assert "File too large" in session.error
    with open_recording(Path(session.last_bag)) as recording:
        assert len(list(recording.messages(["/command"]))) >= 100


def test_a_disk_that_cannot_be_looked_at_is_said_and_ends_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    session = BagSession(BagSettings(tmp_path, "demo"))
    session.add_topic(topic(), latched=False)
    session.start(BagContents())
    session.write("/command", message(1.0), 1, 1, 1)
    monkeypatch.setattr("shutil.disk_usage", refuse)
    session.flush()
    assert not session.writing and "Permission denied" in session.error
    with open_recording(Path(session.last_bag)) as recording:
        assert len(list(recording.messages(["/command"]))) == 1
    with pytest.raises(OutputError, match="Permission denied"):
        session.start(BagContents())


def test_session_writes_latched_messages_into_every_bag(tmp_path: Path):
    session = BagSession(BagSettings(tmp_path, "demo"))
    session.add_topic(topic("/description"), latched=True)
    session.add_topic(topic("/command"), latched=False)
    session.write("/description", message(1.0), 10, 5, 1)
    session.write("/command", message(2.0), 10, 5, 1)
    for _ in range(2):
        session.start(BagContents({"experiment.yaml": ("application/yaml", b"model: arm.xml")}))
        session.stop()
        with AnyReader([Path(session.last_bag)]) as reader:
            assert [c.topic for c, _, _ in reader.messages()] == ["/description"]


def test_latched_messages_of_a_simulated_robot_have_simulated_times(tmp_path: Path):
    session = BagSession(BagSettings(tmp_path, "demo"), now_ns=lambda: 9)
    session.add_topic(topic(), latched=True)
    session.write("/command", message(1.0), 5, 5, 1)
    session.start(BagContents())
    session.stop()
    with open_recording(Path(session.last_bag)) as recording:
        assert [(one.log_ns, one.publish_ns) for one in recording.messages()] == [(9, 5)]


def test_a_snapshot_holds_latched_messages_once(tmp_path: Path):
    buffer = SnapshotBuffer(3 * len(message(0.0)), max_seconds=1e9)
    session = BagSession(BagSettings(tmp_path, "demo"), buffer, now_ns=lambda: 9)
    session.add_topic(topic(), latched=True)
    for number in range(5):  # the first two of which the buffer has dropped
        session.write("/command", message(number), number, number, number)
    session.take_snapshot(BagContents())
    with open_recording(Path(session.last_bag)) as recording:
        times = [(one.log_ns, one.publish_ns) for one in recording.messages()]
    assert sorted(times) == [(2, 2), (3, 3), (4, 4), (9, 0), (9, 1)]


def test_a_snapshot_that_fills_the_disk_keeps_what_it_could_not_write(tmp_path: Path):
    buffer = SnapshotBuffer(1 << 30, max_seconds=1e9)
    session = BagSession(BagSettings(tmp_path, "demo"), buffer)
    session.add_topic(topic(), latched=False)
    large = message(0.0) + bytes(300_000)
    for number in range(40):
        session.write("/command", large, number, number, number)
    with full_disk(2_000_000), pytest.raises(OutputError, match="File too large"):
        session.take_snapshot(BagContents())
    left = session.message_count
    assert 0 < left < 40
    session.take_snapshot(BagContents())
    with open_recording(Path(session.last_bag)) as recording:
        assert len(list(recording.messages())) == left


def test_paused_session_writes_nothing(tmp_path: Path):
    session = BagSession(BagSettings(tmp_path, "demo"))
    session.add_topic(topic(), latched=False)
    session.start(BagContents())
    assert session.state == "recording"
    session.paused = True
    session.write("/command", message(1.0), 1, 1, 1)
    assert (session.state, session.message_count) == ("paused", 0)
    session.paused = False
    session.write("/command", message(1.0), 1, 1, 1)
    assert session.message_count == 1
    session.stop()
    assert session.state == "watching"


def test_limit_waits_for_what_is_on_its_way(tmp_path: Path):
    def catch_up() -> None:
        session.write("/command", message(2.0), 2, 2, 2)

    session = BagSession(BagSettings(tmp_path, "demo", max_size=1e-6), catch_up=catch_up)
    session.add_topic(topic(), latched=False)
    session.start(BagContents())
    session.write("/command", message(1.0), 1, 1, 1)
    session.flush()
    assert "reached its limit" in session.limit
    assert session.last_count == 2


def test_a_folder_of_bags_is_no_bag_but_names_those_in_it(tmp_path: Path) -> None:
    for name in ("motion_2", "motion_1", "notes"):
        (tmp_path / name).mkdir()
    for name in ("motion_2", "motion_1"):
        (tmp_path / name / "metadata.yaml").touch()
    with pytest.raises(BagError, match=r"is not a bag: .* files; bags in it: motion_1, motion_2$"):
        open_recording(tmp_path)
