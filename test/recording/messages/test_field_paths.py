# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Field paths: what is one, and where it leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rosbags.typesys import get_types_from_msg

from sysid_ros.errors import DataError
from sysid_ros.recording.messages import Number, locate, parse_field
from sysid_ros.recording.messages.field_paths import Absent, Step, resolve

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True)
elements = st.one_of(
    st.none(),
    st.integers(-99, 99),
    st.text(st.characters(exclude_characters="]'\"", categories=("L", "N", "P", "S")), min_size=1),
)


@given(st.lists(st.tuples(names, elements), min_size=1, max_size=4))
def test_paths_are_parsed_as_written(steps) -> None:
    def quoted(element):
        if element is None:
            return ""
        return f"[{element}]" if isinstance(element, int) else f"['{element}']"

    text = ".".join(name + quoted(element) for name, element in steps)
    path = parse_field(text)
    assert path.steps == tuple(Step(*step) for step in steps)
    assert str(path) == text


def test_joint_names_need_quotes_only_where_they_look_like_numbers() -> None:
    assert parse_field("position[left/arm.1 a]").steps == (Step("position", "left/arm.1 a"),)
    assert parse_field("position[1]").steps == (Step("position", 1),)
    assert parse_field('position["1"]').steps == (Step("position", "1"),)
    assert parse_field(" data [ -1 ] ").steps == (Step("data", -1),)


@pytest.mark.parametrize(
    "text", ["", ".", "a.", ".a", "a..b", "a[", "a[]", "a[ ]", "a]b", "a[b][c]", "1a", "a b", "a-b"]
)
def test_what_is_not_a_path(text) -> None:
    with pytest.raises(DataError, match="is not a field path"):
        parse_field(text)


@pytest.fixture
def tree(ros2):
    def make(message):
        kind = message.__msgtype__
        types = {name: fields for name, (_, fields) in ros2.fielddefs.items()}
        data = bytes(ros2.serialize_cdr(message, kind))
        return data, locate(data, kind, types, serialization="cdr").root

    return make


def number_at(data, place):
    import numpy as np

    assert isinstance(place, Number)
    return np.frombuffer(data, place.dtype, 1, place.offset)[0]


def test_elements_by_name_and_number(tree, joint_state) -> None:
    data, root = tree(joint_state(5_000_000_007, ["b", "a"], [1.5, 2.5], [], [3.5]))
    assert number_at(data, resolve(parse_field("position[a]"), root)) == 2.5
    assert number_at(data, resolve(parse_field("position[-2]"), root)) == 1.5
    assert number_at(data, resolve(parse_field("header.stamp.nanosec"), root)) == 7
    empty = resolve(parse_field("velocity[a]"), root)
    assert empty == Absent("velocity is empty although 'a' is named", empty=True)
    short = resolve(parse_field("effort[a]"), root)
    assert short == Absent("effort has only 1 element although 'a' is named", empty=True)
    absent = resolve(parse_field("position[elbo]"), root)
    assert absent == Absent("unknown element 'elbo'; valid: 'a', 'b'", empty=False)
    assert resolve(parse_field("position[2]"), root) == Absent(
        "position has only 2 elements", empty=False
    )


def test_names_of_the_enclosing_message(tree, ros2) -> None:
    import numpy as np

    point = ros2.types["trajectory_msgs/msg/JointTrajectoryPoint"]
    duration = ros2.types["builtin_interfaces/msg/Duration"]
    none = np.empty(0)
    points = [point(np.array([t, 10.0 * t]), none, none, none, duration(t, 0)) for t in (1, 2, 3)]
    header = ros2.types["std_msgs/msg/Header"](ros2.types["builtin_interfaces/msg/Time"](1, 2), "")
    message = ros2.types["trajectory_msgs/msg/JointTrajectory"](header, ["x", "y"], points)
    data, root = tree(message)
    assert number_at(data, resolve(parse_field("points[-1].positions[y]"), root)) == 30.0
    assert number_at(data, resolve(parse_field("points[0].time_from_start.sec"), root)) == 1
    assert resolve(parse_field("points[3].positions[y]"), root) == Absent(
        "points has only 3 elements", empty=False
    )


def test_names_inside_the_elements(tree, ros2) -> None:
    types = ros2.types
    vector = types["geometry_msgs/msg/Vector3"]
    quaternion = types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)

    def frame(child, x):
        header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](1, 2), "world")
        transform = types["geometry_msgs/msg/Transform"](vector(x, 0.0, 0.0), quaternion)
        return types["geometry_msgs/msg/TransformStamped"](header, child, transform)

    message = types["tf2_msgs/msg/TFMessage"]([frame("hand", 1.0), frame("tool", 2.0)])
    data, root = tree(message)
    path = parse_field("transforms[tool].transform.translation.x")
    assert number_at(data, resolve(path, root)) == 2.0


def test_names_inside_parts_of_the_elements(ros2) -> None:
    """As of actuators' readings, each with a state that has its name; headers name frames."""
    kinds = {
        "se_msgs/msg/State": "std_msgs/Header header\nstring name\nfloat64 position\n",
        "se_msgs/msg/Reading": "string frame\nse_msgs/State state\n",
        "se_msgs/msg/Readings": "se_msgs/Reading[] readings\n",
    }
    for kind, text in kinds.items():
        if kind not in ros2.types:
            ros2.register(get_types_from_msg(text, kind))
    state, reading, readings = (ros2.types[kind] for kind in kinds)
    time = ros2.types["builtin_interfaces/msg/Time"](1, 2)
    parts = [
        reading(frame, state(ros2.types["std_msgs/msg/Header"](time, "elbow"), name, at))
        for frame, name, at in (("hand", "knee", 1.0), ("knee", "hand", 2.0), ("", "elbow", 3.0))
    ]
    types = {name: fields for name, (_, fields) in ros2.fielddefs.items()}
    data = bytes(ros2.serialize_cdr(readings(parts), "se_msgs/msg/Readings"))
    root = locate(data, "se_msgs/msg/Readings", types, serialization="cdr").root
    for name, at in (("elbow", 3.0), ("hand", 1.0), ("knee", 2.0)):  # its own string comes first
        path = parse_field(f"readings[{name}].state.position")
        assert number_at(data, resolve(path, root)) == at


def test_numbers_of_one_motor_by_its_id(ros2) -> None:
    kind = "id_msgs/msg/Feedback"
    if kind not in ros2.types:
        ros2.register(get_types_from_msg("uint8 id\nfloat32 position\n", kind))
    types = {name: fields for name, (_, fields) in ros2.fielddefs.items()}
    data = bytes(ros2.serialize_cdr(ros2.types[kind](3, 0.5), kind))
    root = locate(data, kind, types, serialization="cdr").root
    assert number_at(data, resolve(parse_field("position[id=3]"), root, data)) == 0.5
    other = resolve(parse_field("position[id=2]"), root, data)
    assert other == Absent("id is 3, not 2", empty=False)
    with pytest.raises(DataError, match="whole number of id_msgs/msg/Feedback beside it 'i'"):
        resolve(parse_field("position[i=2]"), root, data)
    assert parse_field("position['id=2']").steps == (Step("position", "id=2"),)


def test_a_name_that_stands_twice_is_not_guessed(tree, joint_state) -> None:
    _, root = tree(joint_state(0, ["a", "b", "b"], [1.0, 2.0, 3.0]))
    twice = resolve(parse_field("position[b]"), root)
    assert twice == Absent(
        "'b' is named 2 times; choose one by its number, such as position[1]",
        empty=False,
        ambiguous=True,
    )
    assert isinstance(resolve(parse_field("position[a]"), root), Number)


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        (
            "positon[a]",
            r"unknown field of sensor_msgs/msg/JointState 'positon'; nearest: 'position'",
        ),
        ("header", r"is a std_msgs/msg/Header; its fields: stamp, frame_id"),
        ("header.frame_id", "frame_id is text, not a number"),
        ("name[0]", "name is text, not numbers"),
        ("name", "name is text, not numbers"),
        ("position", r"position is an array; name one element, such as position\[a\]"),
        ("position[a].x", "position is a number and has no fields"),
        ("header[0].stamp", "header is not an array"),
        ("header.stamp.sec[0]", "sec is not an array"),
    ],
)
def test_paths_that_lead_nowhere(tree, joint_state, field, complaint) -> None:
    _, root = tree(joint_state(0, ["a"], [1.0]))
    with pytest.raises(DataError, match=complaint):
        resolve(parse_field(field), root)
