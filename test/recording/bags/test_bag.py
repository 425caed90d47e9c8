# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every bag is read completely or refused with one sentence."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from rosbags.highlevel import AnyReader
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import CompressionMode
from rosbags.typesys import Stores, get_typestore

from sysid_ros.errors import BagError, ErrorCode
from sysid_ros.recording.bags import open_recording, storage_formats

READABLE = {
    "foxglove_rosbag/example-bz2.bag": 8647,
    "foxglove_rosbag/example-lz4.bag": 8647,
    "foxglove_rosbag/example-unsorted-chunks.bag": 3,
    "segbot_arm/original_before_sed/drop.bag": 2,
    "segbot_arm/original_before_sed/home_to_grasp_real.bag": 1,
    "segbot_arm/original_before_sed/nenu.bag": 1,
    "plotjuggler/fake_joint_state.bag": 2725,
    "plotjuggler/rosbag2_test": 4695,
    "plotjuggler/rosbag2_test/rosbag2_test_0.db3": 4695,
    "imu_tools/ardrone_imu.bag": 8616,
    "imu_tools/phidgets_imu_upside_down.bag": 27928,
    "rosbag2/rosbag2_py_mcap_talker": 20,
    "rosbag2/rosbag2_py_mcap_talker/talker.mcap": 20,
    "rosbag2/rosbag2_py_sqlite3_talker": 20,
    "rosbag2/rosbag2_py_sqlite3_talker/talker.db3": 20,
    "rosbag2/rosbag2_py_mcap_reindex_test_bags/multiple_files": 3177,
    "rosbag2/rosbag2_py_sqlite3_reindex_test_bags/multiple_files": 3177,
    "rosbag2/rosbag2_tests_sqlite3_cdr_test": 7,
}
REFUSED = {
    "foxglove_rosbag/empty-file.bag": r"is empty \(0 bytes\)",
    "foxglove_rosbag/no-messages.bag": "holds no messages",
    "foxglove_rosbag": r"several recordings \(empty-file\.bag, ",
    "segbot_arm/damaged/home_to_grasp_real.bag": "is damaged at byte",
    "segbot_arm/damaged/nenu.bag": "is damaged at byte",
    "segbot_arm/damaged/positions_drop.bag": "is damaged at byte",
    "rosbag2/ros2bag_empty_bag": "holds no messages",
    "rosbag2/rosbag2_tests_mcap_wrong_rmw_test": "serialized as 'wrong_format'",
    "rosbag2/rosbag2_tests_mcap_wrong_rmw_test/wrong_rmw_test_0.mcap": "'wrong_format'",
    "rosbag2/rosbag2_py_mcap_reindex_test_bags": "is not a bag",
}
QOS = """
- {history: 3, depth: 7, reliability: 1, durability: 2, deadline: {sec: 0, nsec: 0},
   lifespan: {sec: 0, nsec: 0}, liveliness: 1, liveliness_lease_duration: {sec: 0, nsec: 0},
   avoid_ros_namespace_conventions: false}
"""


@pytest.mark.parametrize("name", READABLE)
def test_odd_bags_are_read_completely(shared_data: Path, name: str) -> None:
    with open_recording(shared_data / "odd_bags" / name) as recording:
        counts = Counter(message.topic for message in recording.messages())
        assert sum(counts.values()) == READABLE[name]
        for topic, info in recording.topics.items():
            assert info.promised in (None, counts[topic])
        assert recording.warnings == ()


@pytest.mark.parametrize("name", REFUSED)
def test_odd_bags_are_refused_in_one_sentence(shared_data: Path, name: str) -> None:
    with pytest.raises(BagError, match=REFUSED[name]) as refusal:
        open_recording(shared_data / "odd_bags" / name)
    assert refusal.value.code is ErrorCode.BAG_UNREADABLE
    assert "\n" not in str(refusal.value)


def raw_by_rosbags(path: Path) -> list[tuple[str, int, bytes]]:
    with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
        return sorted(
            (connection.topic, stamp, bytes(data)) for connection, stamp, data in reader.messages()
        )


@pytest.mark.parametrize(
    "name",
    [
        "odd_bags/foxglove_rosbag/example-lz4.bag",
        "odd_bags/plotjuggler/rosbag2_test",
        "odd_bags/plotjuggler/fake_joint_state.bag",
        "odd_bags/rosbag2/rosbag2_tests_sqlite3_cdr_test",
        "odd_bags/rosbag2/rosbag2_py_mcap_talker/talker.mcap",
        "double_pendulum/bags/trajectory_00",
        "servo/bags/097_drop",
    ],
)
def test_messages_are_those_of_rosbags(shared_data: Path, name: str) -> None:
    with open_recording(shared_data / name) as recording:
        ours = sorted((m.topic, m.log_ns, m.data) for m in recording.messages())
    assert ours == raw_by_rosbags(shared_data / name)


@pytest.mark.parametrize("form", ["mcap", "sqlite3", "rosbag1"])
def test_every_format_is_read_back(arm, write_bag, joint_state, multi_array, ros1, form) -> None:
    entries = arm
    if form == "rosbag1":
        header = arm[0].message.header.stamp
        assert header is not None
        entries = [
            type(entry)(entry.topic, entry.log_ns, _as_ros1(entry.message, ros1)) for entry in arm
        ]
    path = write_bag(entries, form=form)
    with open_recording(path) as recording:
        assert recording.format == form
        assert recording.topics["/joint_states"].msgtype == "sensor_msgs/msg/JointState"
        assert [(m.topic, m.log_ns) for m in recording.messages()] == [
            (entry.topic, entry.log_ns) for entry in entries
        ]
        only = Counter(m.topic for m in recording.messages(["/command"]))
        assert only == {"/command": 50}


def _as_ros1(message, store):
    """Copy a ROS 2 message into ROS 1's classes, whose header has a sequence number."""
    kind = store.types[message.__msgtype__]
    if message.__msgtype__.endswith("JointState"):
        stamp = store.types["builtin_interfaces/msg/Time"](
            message.header.stamp.sec, message.header.stamp.nanosec
        )
        header = store.types["std_msgs/msg/Header"](7, stamp, message.header.frame_id)
        return kind(header, message.name, message.position, message.velocity, message.effort)
    return kind(store.types["std_msgs/msg/MultiArrayLayout"]([], 0), message.data)


@pytest.mark.parametrize("form", ["mcap", "sqlite3"])
@pytest.mark.parametrize("mode", [CompressionMode.FILE, CompressionMode.MESSAGE])
def test_compressed_bags(arm, write_bag, form, mode) -> None:
    plain = write_bag(arm, "plain", form=form)
    packed = write_bag(arm, "packed", form=form, compression=mode)
    with open_recording(plain) as one, open_recording(packed) as other:
        assert list(one.messages()) == list(other.messages())


@pytest.mark.parametrize(
    "mode", [Rosbag1Writer.CompressionFormat.BZ2, Rosbag1Writer.CompressionFormat.LZ4]
)
def test_compressed_ros1_bags(arm, write_bag, ros1, mode) -> None:
    entries = [type(e)(e.topic, e.log_ns, _as_ros1(e.message, ros1)) for e in arm]
    with open_recording(write_bag(entries, form="rosbag1", compression=mode)) as recording:
        assert sum(1 for _ in recording.messages()) == len(entries)


def test_a_folder_without_metadata(arm, write_bag) -> None:
    path = write_bag(arm)
    (path / "metadata.yaml").unlink()
    with open_recording(path) as recording:
        assert sum(1 for _ in recording.messages()) == len(arm)


def test_split_files_without_metadata_come_in_natural_order(arm, write_bag, tmp_path) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    for number in range(11):
        part = write_bag(arm[number * 10 : number * 10 + 10], f"part_{number}")
        shutil.copy(part / f"part_{number}.mcap", folder / f"bag_{number}.mcap")
    with open_recording(folder) as recording:
        stamps = [message.log_ns for message in recording.messages()]
    assert stamps == [entry.log_ns for entry in arm[:110]]


def test_qos_text_that_differs_between_metadata_and_storage(arm, write_bag) -> None:
    path = write_bag(arm, form="sqlite3")
    with sqlite3.connect(path / "bag.db3") as database:
        database.execute("UPDATE topics SET offered_qos_profiles = ?", (QOS,))
    database.close()
    assert raw_by_rosbags(path) == [], "rosbags loses them in silence"
    with open_recording(path) as recording:
        assert sum(1 for _ in recording.messages()) == len(arm)


def test_a_missing_path_names_what_is_beside_it(tmp_path) -> None:
    (tmp_path / "run_1").mkdir()
    with pytest.raises(BagError, match=r"run_2 does not exist; .* has: run_1"):
        open_recording(tmp_path / "run_2")
    with pytest.raises(BagError, match="nor does its folder"):
        open_recording(tmp_path / "nowhere" / "run_2")
    (tmp_path / "run_3").symlink_to("gone")
    with pytest.raises(BagError, match=r"run_3 \(a link to gone\) does not exist: the link"):
        open_recording(tmp_path / "run_3")


def test_what_is_not_a_bag(tmp_path) -> None:
    text = tmp_path / "notes.mcap"
    text.write_text("no bag")
    with pytest.raises(BagError, match="no MCAP, SQLite or ROS 1 bag"):
        open_recording(text)
    empty = tmp_path / "folder"
    empty.mkdir()
    with pytest.raises(BagError, match="holds neither metadata"):
        open_recording(empty)
    database = tmp_path / "other.db3"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE something (id)")
    connection.close()
    with pytest.raises(BagError, match="is a database but not a bag"):
        open_recording(database)


def test_unreadable_files(arm, write_bag, monkeypatch) -> None:
    path = write_bag(arm) / "bag.mcap"

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(storage_formats, "open_regular", refuse)
    with pytest.raises(BagError, match=r"cannot be read: .*Permission denied"):
        open_recording(path)


def test_metadata_that_names_a_missing_file(arm, write_bag) -> None:
    path = write_bag(arm)
    (path / "bag.mcap").unlink()
    with pytest.raises(BagError, match=r"incomplete: metadata.yaml names bag.mcap, not there"):
        open_recording(path)
    (path / "bag.mcap").symlink_to("/gone")
    with pytest.raises(BagError, match=r"names bag.mcap \(a link to /gone\), not there"):
        open_recording(path)


def test_files_that_metadata_does_not_name_are_left_out_and_said(arm, write_bag) -> None:
    path = write_bag(arm)
    with open_recording(path) as recording:
        count, warnings = len(list(recording.messages())), recording.warnings
    (path / "part_2.mcap").write_bytes((path / "bag.mcap").read_bytes())
    with open_recording(path) as recording:
        assert len(list(recording.messages())) == count
        said = f"{path.name} holds part_2.mcap, left out: metadata.yaml names others."
        assert set(recording.warnings) == {*warnings, said}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "cannot be read"),
        ("a: b", "not a rosbag2 description"),
        ("", "not a rosbag2 description"),
        ("rosbag2_bagfile_information: {relative_file_paths: 3}", "not a rosbag2 description"),
        (
            "rosbag2_bagfile_information: {relative_file_paths: [], topics_with_message_count: []}",
            "names no storage file",
        ),
    ],
)
def test_malformed_metadata(arm, write_bag, text, complaint) -> None:
    path = write_bag(arm)
    (path / "metadata.yaml").write_text(text)
    with pytest.raises(BagError, match=complaint):
        open_recording(path)


def test_no_messages_although_metadata_promises_some(arm, write_bag) -> None:
    path = write_bag(arm, form="sqlite3")
    with sqlite3.connect(path / "bag.db3") as database:
        database.execute("DELETE FROM messages")
    database.close()
    with pytest.raises(BagError, match="holds no messages although its metadata promises 150"):
        open_recording(path)


def test_topics_that_are_absent_or_ambiguous(arm, write_bag, multi_array) -> None:
    path = write_bag(arm, form="sqlite3")
    with open_recording(path) as recording:
        with pytest.raises(BagError, match=r"unknown topic '/comand'; nearest: '/command'"):
            recording.topic("/comand")
        with pytest.raises(BagError, match="unknown topic"):
            next(recording.messages(["/comand"]))
    with sqlite3.connect(path / "bag.db3") as database:
        database.execute("UPDATE topics SET name = '/joint_states'")
    database.close()
    (path / "metadata.yaml").unlink()
    with open_recording(path) as recording:
        expected = "several types, sensor_msgs/msg/JointState | std_msgs/msg/Float64MultiArray"
        with pytest.raises(BagError, match=re.escape(expected)):
            recording.topic("/joint_states")


def test_the_hash_is_of_the_contents(arm, write_bag) -> None:
    path = write_bag(arm, "one")
    with (
        open_recording(path) as one,
        open_recording(shutil.copytree(path, path.with_name("same"))) as same,
        open_recording(write_bag(arm[1:], "other")) as other,
    ):
        assert one.sha256() == same.sha256() != other.sha256()
