# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Where message definitions come from, and what happens without one."""

from __future__ import annotations

import json
import sqlite3
import struct
import sys
from pathlib import Path

import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from sysid_ros.cli import main
from sysid_ros.errors import BagError, ErrorCode
from sysid_ros.recording.bags import open_recording, read_columns
from sysid_ros.recording.messages import Definition, Definitions, parse_field
from sysid_ros.recording.messages.definitions import type_digest

CUSTOM = "std_msgs/Header header\nGripper[2] fingers\nfloat32 load\n"
GRIPPER = "float64 width\nstring name\n"
HAND_IDL = """// generated from rosidl_adapter/resource/msg.idl.em
#include "hand_msgs/msg/Gripper.idl"
#include "std_msgs/msg/Header.idl"

module hand_msgs {
  module msg {
    typedef hand_msgs::msg::Gripper hand_msgs__msg__Gripper;
    typedef hand_msgs__msg__Gripper hand_msgs__msg__Gripper__2[2];
    module Hand_Constants {
      @verbatim (language="comment", text="Open; (all " "\\n" "the way)")
      const string OPEN = "open // wide";
    };
    @verbatim (language="comment", text=
      "A hand, (with two fingers)." "\\n"
      "It's one.")
    struct Hand {
      std_msgs::msg::Header header;

      hand_msgs__msg__Gripper__2 fingers;

      @verbatim (language="comment", text="N")
      @unit (value="N")
      float load;
    };
  };
};
"""
GRIPPER_IDL = """module hand_msgs { module msg { struct Gripper {
  @default (value=1.0) double width; /* m */ string name; }; }; };"""


@pytest.fixture
def custom_bag(tmp_path):
    """A bag with messages of a type that no ROS package defines."""
    store = get_typestore(Stores.LATEST)
    store.register(get_types_from_msg(GRIPPER, "hand_msgs/msg/Gripper"))
    store.register(get_types_from_msg(CUSTOM.replace("Gripper", "hand_msgs/Gripper"), TYPE))
    gripper = store.types["hand_msgs/msg/Gripper"]
    path = tmp_path / "custom"
    with Writer(path, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        connection = writer.add_connection("/hand", TYPE, typestore=store)
        for number in range(3):
            header = store.types["std_msgs/msg/Header"](
                store.types["builtin_interfaces/msg/Time"](number, 0), "x" * number
            )
            fingers = [gripper(0.5 * number, "left"), gripper(2.0 * number, "right")]
            message = store.types[TYPE](header, fingers, 1.5)
            writer.write(connection, number, store.serialize_cdr(message, TYPE))
    return path


TYPE = "hand_msgs/msg/Hand"


def widths(path, **options):
    with open_recording(path, **options) as recording:
        fields = [parse_field("fingers[right].width"), parse_field("load")]
        return read_columns(recording, {"/hand": fields})["/hand"].values.tolist()


def without_definitions(path, *, digest=True):
    with sqlite3.connect(path / "custom.db3") as database:
        database.execute("UPDATE message_definitions SET encoded_message_definition = ''")
        if not digest:
            database.execute("UPDATE topics SET type_description_hash = ''")
    database.close()


EXPECTED = [[0.0, 1.5], [2.0, 1.5], [4.0, 1.5]]


def test_the_bag_s_own_definition(custom_bag) -> None:
    assert widths(custom_bag) == EXPECTED


def test_a_type_without_definition_says_how_to_give_one(custom_bag) -> None:
    without_definitions(custom_bag)
    with pytest.raises(
        BagError, match=r"topic /hand: type hand_msgs/msg/Hand has no definition: .*--msg-path"
    ):
        widths(custom_bag)
    with open_recording(custom_bag) as recording:
        assert sum(1 for _ in recording.messages()) == 3, "other topics can still be read"


def test_definitions_from_files(custom_bag, tmp_path) -> None:
    without_definitions(custom_bag)
    folder = tmp_path / "src" / "hand_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Hand.msg").write_text(CUSTOM)
    with pytest.raises(BagError, match=r"type hand_msgs/msg/Gripper \(used by hand_msgs/msg/Hand"):
        widths(custom_bag, msg_paths=[folder / "Hand.msg"])
    (folder / "Gripper.msg").write_text(GRIPPER)
    assert widths(custom_bag, msg_paths=[tmp_path / "src"]) == EXPECTED


def test_bad_message_paths(custom_bag, tmp_path) -> None:
    with pytest.raises(BagError, match=r"message path .* does not exist"):
        widths(custom_bag, msg_paths=[tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(BagError, match=r"holds no \.msg or \.idl files"):
        widths(custom_bag, msg_paths=[tmp_path / "empty"])
    with pytest.raises(BagError, match=r"neither a folder nor a \.msg or \.idl file"):
        widths(custom_bag, msg_paths=[custom_bag / "metadata.yaml"])
    without_definitions(custom_bag)
    package = tmp_path / "hand_msgs" / "msg"
    package.mkdir(parents=True)
    (package / "Broken.msg").write_text("!!")
    with pytest.raises(BagError, match=r"--msg-path; those given define hand_msgs/msg/Broken$"):
        widths(custom_bag, msg_paths=[package])
    (package / "Hand.msg").write_text("!!")
    with pytest.raises(BagError, match=r"definition of hand_msgs/msg/Hand in .* is malformed"):
        widths(custom_bag, msg_paths=[package])


def test_a_package_is_called_by_its_manifest(custom_bag, tmp_path) -> None:
    without_definitions(custom_bag)
    write_package(tmp_path / "ws" / "src" / "checkout-main")
    (tmp_path / "ws/src/checkout-main/package.xml").write_text(
        "<package><name>hand_msgs</name></package>"
    )
    (tmp_path / "ws/src/checkout-main/msg/Broken.msg").write_text("!!")  # that nothing uses
    assert widths(custom_bag, msg_paths=[tmp_path / "ws"]) == EXPECTED


def write_package(folder) -> None:
    (folder / "msg").mkdir(parents=True)
    (folder / "msg" / "Hand.msg").write_text(CUSTOM)
    (folder / "msg" / "Gripper.msg").write_text(GRIPPER)


def test_loose_files_define_the_type_of_their_name(custom_bag, tmp_path) -> None:
    without_definitions(custom_bag)
    loose = tmp_path / "definitions"
    loose.mkdir()
    (loose / "Hand.msg").write_text(CUSTOM)
    (loose / "Gripper.msg").write_text(GRIPPER)
    assert widths(custom_bag, msg_paths=[loose]) == EXPECTED
    assert widths(custom_bag, msg_paths=[loose / "Hand.msg", loose / "Gripper.msg"]) == EXPECTED
    (loose / "old").mkdir()
    (loose / "old" / "Gripper.msg").write_text("float32 width\n")
    with pytest.raises(BagError, match="could be any of"):
        widths(custom_bag, msg_paths=[loose])


def test_definitions_from_idl_files_as_installed(custom_bag, tmp_path) -> None:
    without_definitions(custom_bag)
    folder = tmp_path / "share" / "hand_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Hand.idl").write_text(HAND_IDL)
    (folder / "Gripper.idl").write_text(GRIPPER_IDL)
    assert widths(custom_bag, msg_paths=[tmp_path / "share"]) == EXPECTED


@pytest.mark.parametrize("change", ["float64 more\n", ""])
def test_a_definition_of_another_version_is_refused(custom_bag, tmp_path, change) -> None:
    without_definitions(custom_bag, digest=False)
    write_package(tmp_path / "hand_msgs")
    text = CUSTOM + change if change else CUSTOM.replace("Gripper[2]", "Gripper[1]")
    (tmp_path / "hand_msgs" / "msg" / "Hand.msg").write_text(text)
    with pytest.raises(BagError, match="does not fit the definition of hand_msgs/msg/Hand"):
        widths(custom_bag, msg_paths=[tmp_path / "hand_msgs"])


def test_fields_that_changed_places_are_noticed_by_the_hash(custom_bag, tmp_path) -> None:
    without_definitions(custom_bag)
    write_package(tmp_path / "hand_msgs")
    (tmp_path / "hand_msgs" / "msg" / "Gripper.msg").write_text("float64 force\nstring name\n")
    with pytest.raises(BagError, match=r"Hand in .*Hand\.msg, .* is not of the version"):
        widths(custom_bag, msg_paths=[tmp_path / "hand_msgs"])


@pytest.mark.parametrize("kind", ["std_msgs/msg/Char", "sensor_msgs/msg/Imu", "std_msgs/msg/Empty"])
def test_hashes_are_those_of_ros(kind) -> None:
    share = Path(sys.prefix) / "share" / Path(kind).with_suffix(".json")
    if not share.is_file():
        pytest.skip("ROS is not installed in this environment")
    described = json.loads(share.read_text())["type_hashes"]
    expected = next(one["hash_string"] for one in described if one["type_name"] == kind)
    types = Definitions().types(kind, Definition())
    assert type_digest(kind, types) == expected


def test_every_command_takes_a_message_path(custom_bag, tmp_path, capsys) -> None:
    without_definitions(custom_bag)
    write_package(tmp_path / "hand_msgs")
    assert main(["info", str(custom_bag)]) == 0
    assert "has no definition" in capsys.readouterr().out
    assert main(["info", str(custom_bag), "--msg-path", str(tmp_path / "hand_msgs")]) == 0
    assert "has no definition" not in capsys.readouterr().out
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody>'
        '<sensor><jointpos name="s" joint="j"/></sensor></mujoco>'
    )
    file = tmp_path / "experiment.yaml"
    file.write_text(
        "model: arm.xml\nsequences: [custom]\nparameters: [{joint: j, damping: }]\nsignals:\n"
        '  - {sensor: s, topic: /hand, field: "fingers[right].width", clock: receive}\n'
    )
    table = tmp_path / "table.csv"
    export = ["export", str(file), "--bag", "custom", "--output", str(table)]
    for command in (["fit", str(file)], ["check", str(file)], export):
        assert main(command) == ErrorCode.BAG_UNREADABLE
        assert "--msg-path" in capsys.readouterr().err
    assert main([*export, "--msg-path", str(tmp_path / "hand_msgs")]) == 0
    file.write_text(file.read_text() + "msg_path: hand_msgs\n")
    assert main([*export[:-1], str(tmp_path / "again.csv")]) == 0
    assert (tmp_path / "again.csv").read_text() == table.read_text()


def test_a_malformed_definition_in_the_bag(custom_bag) -> None:
    with sqlite3.connect(custom_bag / "custom.db3") as database:
        database.execute("UPDATE message_definitions SET encoded_message_definition = '!!'")
    database.close()
    with pytest.raises(BagError, match=r"definition of hand_msgs/msg/Hand in the bag is malformed"):
        widths(custom_bag)


def test_a_definition_in_idl(tmp_path) -> None:
    from mcap.writer import Writer as McapWriter

    idl = (
        f'{"=" * 80}\nIDL: pkg/msg/Pair\n// of two\n#include "pkg/msg/None.idl"\n'
        "module pkg { module msg { struct Pair { double left; float right; }; }; };"
    )
    path = tmp_path / "bag.mcap"
    with path.open("wb") as stream:
        writer = McapWriter(stream)
        writer.start()
        schema = writer.register_schema("pkg/msg/Pair", "ros2idl", idl.encode())
        channel = writer.register_channel("/pair", "cdr", schema)
        writer.add_message(channel, 5, b"\0\1\0\0" + struct.pack("<df", 1.5, 2.5), 4)
        writer.finish()
    with open_recording(path) as recording:
        columns = read_columns(recording, {"/pair": [parse_field("right"), parse_field("left")]})
    assert columns["/pair"].values.tolist() == [[2.5, 1.5]]


def test_ros1_messages_in_mcap(tmp_path, joint_state, ros1) -> None:
    from mcap.writer import Writer as McapWriter

    kind = "sensor_msgs/msg/JointState"
    text, _ = ros1.generate_msgdef(kind)
    path = tmp_path / "bag.mcap"
    with path.open("wb") as stream:
        writer = McapWriter(stream)
        writer.start(profile="ros1")
        schema = writer.register_schema("sensor_msgs/JointState", "ros1msg", text.encode())
        channel = writer.register_channel("/joint_states", "ros1", schema)
        message = joint_state(7_000_000_001, ["a"], [1.25], store=ros1)
        writer.add_message(channel, 5, bytes(ros1.serialize_ros1(message, kind)), 4)
        writer.finish()
    with open_recording(path) as recording:
        columns = read_columns(recording, {"/joint_states": [parse_field("position[a]")]})
    assert columns["/joint_states"].values.tolist() == [[1.25]]
    assert columns["/joint_states"].header_ns.tolist() == [7_000_000_001]
