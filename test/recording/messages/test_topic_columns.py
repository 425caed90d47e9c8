# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Columns equal what rosbags decodes message by message, whatever the messages look like."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rosbags.highlevel import AnyReader
from rosbags.typesys import get_types_from_msg

from sysid_ros.errors import BagError, DataError
from sysid_ros.recording.bags import open_recording, read_columns
from sysid_ros.recording.messages import FieldReader, RawMessage, TopicDecoder, parse_field
from sysid_ros.recording.messages.message_layout import stack_messages

JOINTS = ["a", "bb", "left/wrist"]
numbers = st.floats(allow_nan=True, allow_infinity=True)


def read(path, topic, *fields):
    with open_recording(path) as recording:
        return read_columns(recording, {topic: [parse_field(field) for field in fields]})[topic]


def test_real_joint_states_equal_rosbags(shared_data) -> None:
    path = shared_data / "double_pendulum" / "bags" / "trajectory_05"
    columns = read(path, "/joint_states", "position[elbow]", "velocity[shoulder]", "effort[elbow]")
    expected, stamps, log = [], [], []
    with AnyReader([path]) as reader:
        wanted = [c for c in reader.connections if c.topic == "/joint_states"]
        for connection, stamp, data in reader.messages(wanted):
            message = reader.deserialize(data, connection.msgtype)
            elbow, shoulder = message.name.index("elbow"), message.name.index("shoulder")
            expected.append(
                (message.position[elbow], message.velocity[shoulder], message.effort[elbow])
            )
            stamps.append(message.header.stamp.sec * 10**9 + message.header.stamp.nanosec)
            log.append(stamp)
    np.testing.assert_array_equal(columns.values, expected)
    np.testing.assert_array_equal(columns.header_ns, stamps)
    np.testing.assert_array_equal(columns.log_ns, log)
    assert columns.present.all()


@pytest.mark.parametrize(
    ("name", "topic", "field"),
    [
        ("plotjuggler/fake_joint_state.bag", "/fake_joints_state", "position[hola]"),
        ("imu_tools/phidgets_imu_upside_down.bag", "/imu/data_raw", "linear_acceleration.z"),
        ("foxglove_rosbag/example-lz4.bag", "/turtle1/pose", "theta"),
        ("plotjuggler/rosbag2_test", "/imu", "angular_velocity.x"),
        ("rosbag2/rosbag2_tests_sqlite3_cdr_test", "/array_topic", "float32_values[1]"),
    ],
)
def test_odd_bags_equal_rosbags(shared_data, name, topic, field) -> None:
    from rosbags.typesys import Stores, get_typestore

    path = shared_data / "odd_bags" / name
    with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
        wanted = [c for c in reader.connections if c.topic == topic]
        messages = [reader.deserialize(data, c.msgtype) for c, _, data in reader.messages(wanted)]
    if field == "position[hola]":
        field = f"position[{messages[0].name[2]}]"
        expected = [message.position[2] for message in messages]
    elif field == "float32_values[1]":
        expected = [message.float32_values[1] for message in messages]
    else:
        expected = []
        for value in messages:
            for part in field.split("."):
                value = getattr(value, part)
            expected.append(value)
    np.testing.assert_array_equal(read(path, topic, field).values[:, 0], expected)


@st.composite
def joint_state_fields(draw):
    names = draw(st.lists(st.sampled_from(JOINTS), unique=True, max_size=3))
    row = st.lists(numbers, min_size=len(names), max_size=len(names))
    some = st.one_of(row, st.lists(numbers, max_size=2))
    stamp = draw(st.integers(0, (1 << 31) * 10**9 - 1))
    frame = draw(st.sampled_from(["", "base", "map"]))
    return stamp, names, draw(row), draw(some), draw(some), frame


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(fields=st.lists(joint_state_fields(), min_size=1, max_size=40), form=st.booleans())
def test_any_mixture_of_joint_states(joint_state, ros1, ros2, fields, form) -> None:
    """Names in any order and number, arrays empty or short, frames of any length."""
    store = ros1 if form else ros2
    messages = [
        joint_state(stamp, names, *arrays, frame=frame, store=store)
        for stamp, names, *arrays, frame in fields
    ]
    kind = "sensor_msgs/msg/JointState"
    serialize = store.serialize_ros1 if form else store.serialize_cdr
    data = [bytes(serialize(message, kind)) for message in messages]
    paths = [
        f"{array}[{joint}]" for array in ("position", "velocity", "effort") for joint in JOINTS
    ]
    types = {name: definition for name, (_, definition) in store.fielddefs.items()}
    reader = FieldReader.of_type(
        kind, "ros1" if form else "cdr", types, tuple(parse_field(path) for path in paths)
    )
    columns = decode(reader, data)
    for row, message in enumerate(messages):
        stamp = message.header.stamp
        assert columns.header_ns[row] == stamp.sec * 10**9 + stamp.nanosec
        for column, (array, joint) in enumerate(
            (array, joint) for array in ("position", "velocity", "effort") for joint in JOINTS
        ):
            values = getattr(message, array)
            index = message.name.index(joint) if joint in message.name else len(values)
            if index < len(values):
                assert columns.present[row, column]
                np.testing.assert_equal(columns.values[row, column], values[index])
            else:
                assert not columns.present[row, column]
                assert math.isnan(columns.values[row, column])


def decode(reader, data):
    decoder = TopicDecoder("/topic", reader)
    for start in range(0, len(data), 16):
        batch = data[start : start + 16]
        decoder.add([RawMessage("/topic", start + k, None, one) for k, one in enumerate(batch)])
    return decoder.columns()


def test_garbage_between_strings_does_not_matter(joint_state, ros2) -> None:
    """CDR leaves padding undefined; recorders write what was in memory."""
    kind = "sensor_msgs/msg/JointState"
    plain = bytes(ros2.serialize_cdr(joint_state(1, ["a", "bb"], [1.0, 2.0]), kind))
    start = plain.index(b"a\0") + 2
    assert plain[start : start + 2] == b"\0\0"
    odd = plain[:start] + b"\x5a\xa5" + plain[start + 2 :]
    types = {name: definition for name, (_, definition) in ros2.fielddefs.items()}
    reader = FieldReader.of_type(kind, "cdr", types, (parse_field("position[bb]"),))
    layout = reader.layout(plain)
    assert layout.matches(stack_messages([plain, odd])).all()
    np.testing.assert_array_equal(decode(reader, [plain, odd]).values, [[2.0], [2.0]])


def test_big_endian_messages(joint_state, ros2) -> None:
    kind = "sensor_msgs/msg/JointState"
    message = joint_state(3_000_000_004, ["a", "b"], [1.5, -2.5])
    data = [bytes(ros2.serialize_cdr(message, kind, little_endian=order)) for order in (1, 0, 1)]
    types = {name: definition for name, (_, definition) in ros2.fielddefs.items()}
    reader = FieldReader.of_type(kind, "cdr", types, (parse_field("position[b]"),))
    columns = decode(reader, data)
    np.testing.assert_array_equal(columns.values, [[-2.5]] * 3)
    np.testing.assert_array_equal(columns.header_ns, [3_000_000_004] * 3)


@pytest.mark.parametrize(("text", "stamped"), [
    ("builtin_interfaces/Time stamp\nfloat64 angle\n", True),
    ("builtin_interfaces/Time time_stamp\nfloat64 angle\n", True),
    ("builtin_interfaces/Time started\nfloat64 angle\n", False),
    ("builtin_interfaces/Time stamp\nbuiltin_interfaces/Time time\nfloat64 angle\n", False),
])  # fmt: skip
def test_a_stamp_of_a_type_s_own_dates_its_messages(ros2, text: str, stamped: bool) -> None:
    """As of drivers of servos, whose states have a stamp and no header."""
    kind = f"servo_msgs/msg/States{len(text)}"
    ros2.register(get_types_from_msg(text, kind))
    time = ros2.types["builtin_interfaces/msg/Time"](3, 4)
    times = [time] * text.count("Time ")
    data = [bytes(ros2.serialize_cdr(ros2.types[kind](*times, 0.5), kind))] * 2
    types = {name: definition for name, (_, definition) in ros2.fielddefs.items()}
    columns = decode(FieldReader.of_type(kind, "cdr", types, (parse_field("angle"),)), data)
    assert columns.values.tolist() == [[0.5], [0.5]]
    told = None if columns.header_ns is None else columns.header_ns.tolist()
    assert told == ([3_000_000_004] * 2 if stamped else None)


def test_all_number_types(ros2) -> None:
    message = ros2.types["sensor_msgs/msg/BatteryState"]
    kind = "sensor_msgs/msg/BatteryState"
    values = dict.fromkeys(("voltage", "temperature", "current", "charge", "capacity"), 0.0)
    header = ros2.types["std_msgs/msg/Header"](ros2.types["builtin_interfaces/msg/Time"](1, 2), "x")
    one = message(
        header=header,
        **values,
        design_capacity=4.5,
        percentage=0.25,
        power_supply_status=3,
        power_supply_health=4,
        power_supply_technology=5,
        present=True,
        cell_voltage=np.array([1.25, 2.5], np.float32),
        cell_temperature=np.empty(0, np.float32),
        location="here",
        serial_number="7",
    )
    types = {name: definition for name, (_, definition) in ros2.fielddefs.items()}
    fields = ["power_supply_technology", "present", "cell_voltage[1]", "design_capacity"]
    reader = FieldReader.of_type(kind, "cdr", types, tuple(map(parse_field, fields)))
    row = decode(reader, [bytes(ros2.serialize_cdr(one, kind))]).values[0]
    np.testing.assert_array_equal(row, [5.0, 1.0, 2.5, 4.5])


def test_what_fast_dds_leaves_behind_empty_sequences_is_no_field(ros2) -> None:
    """A JointState as rclpy serializes it: its 92 bytes end in 8 that were never written."""
    written = bytes.fromhex(
        "00010000 00000000 00000000 01000000 00205f68 02000000 09000000 73686f75 6c646572 007f0000"
        "06000000 656c626f 77005f68 02000000 b09dde68 9a999999 9999b93f 9a999999 9999c93f 00000000"
        "00000000 667f0000 20354d6d"
    )
    types = {name: definition for name, (_, definition) in ros2.fielddefs.items()}
    path = (parse_field("position[elbow]"),)
    reader = FieldReader.of_type("sensor_msgs/msg/JointState", "cdr", types, path)
    np.testing.assert_array_equal(decode(reader, [written, written]).values, [[0.2], [0.2]])
    with pytest.raises(BagError, match="108 bytes does not fit the definition"):
        decode(reader, [written + bytes(16)])


def test_messages_that_do_not_fit_their_type(ros2) -> None:
    types = {name: definition for name, (_, definition) in ros2.fielddefs.items()}
    path = (parse_field("data[0]"),)
    reader = FieldReader.of_type("std_msgs/msg/Float64MultiArray", "cdr", types, path)
    with pytest.raises(BagError, match=r"/topic: .*bytes does not fit the definition"):
        decode(reader, [b"\0\1\0\0" + struct.pack("<III", 0, 0, 1000)])
    with pytest.raises(BagError, match="starts with nothing, which is not plain CDR"):
        decode(reader, [b"", b""])
    with pytest.raises(BagError, match="starts with 09010000, which is not plain CDR"):
        decode(reader, [b"\x09\1\0\0"])
    unknown = FieldReader.of_type(
        "std_msgs/msg/Float64MultiArray", "cdr", types, (parse_field("dat[0]"),)
    )
    with pytest.raises(DataError, match=r"topic /topic: field 'dat\[0\]'.*nearest: 'data'"):
        decode(unknown, [b"\0\1\0\0" + struct.pack("<III", 0, 0, 0)])


def test_messages_written_out_of_order_come_in_the_order_of_receipt(arm, write_bag) -> None:
    states = [entry for entry in arm if entry.topic == "/joint_states"]
    shuffled = states[50:] + states[:50]
    columns = read(write_bag(shuffled), "/joint_states", "effort[shoulder]")
    np.testing.assert_array_equal(columns.log_ns, [entry.log_ns for entry in states])
    np.testing.assert_allclose(columns.values[:, 0], 0.01 * np.arange(100))


def test_messages_behind_a_damaged_one_are_read(joint_state, ros2) -> None:
    """As a live estimator does, which hears on."""
    kind = "sensor_msgs/msg/JointState"
    plain = bytes(ros2.serialize_cdr(joint_state(1, ["a"], [1.0]), kind))
    types = {name: definition for name, (_, definition) in ros2.fielddefs.items()}
    reader = FieldReader.of_type(kind, "cdr", types, (parse_field("position[a]"),))
    decoder = TopicDecoder("/topic", reader)
    decoder.add([RawMessage("/topic", 1, 1, plain)])
    with pytest.raises(BagError, match="/topic"):
        decoder.add([RawMessage("/topic", 2, 2, plain), RawMessage("/topic", 3, 3, plain[:30])])
    decoder.add([RawMessage("/topic", 4, 4, plain)])
    assert decoder.columns().log_ns.tolist() == [1, 4]
