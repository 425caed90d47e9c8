# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Message definitions: complete, and such that their RIHS01 hash is ROS's own."""

from __future__ import annotations

import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from sysid_ros.errors import BagError
from sysid_ros.nodes.recorder.message_definitions import (
    definition,
    has_header,
    message_class,
    text_from_fields,
)

SEPARATOR = "=" * 80 + "\n"


def digest(msgtype: str) -> str:
    """The hash that a reader computes from our definition alone."""
    main, *others = definition(msgtype).split(SEPARATOR)
    types = get_types_from_msg(main, msgtype)
    for text in others:
        name, _, body = text.partition("\n")
        package, kind = name.removeprefix("MSG: ").split("/")
        types.update(get_types_from_msg(body, f"{package}/msg/{kind}"))
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    return store.hash_rihs01(msgtype)


@pytest.mark.parametrize(
    "msgtype",
    [
        "sensor_msgs/msg/JointState",
        "sensor_msgs/msg/Imu",
        "trajectory_msgs/msg/JointTrajectory",
        "std_msgs/msg/Float64MultiArray",
        "nav_msgs/msg/Odometry",
        "diagnostic_msgs/msg/DiagnosticArray",
        "rcl_interfaces/msg/Log",
    ],
)
def test_definition_has_the_types_own_hash(msgtype: str):
    assert digest(msgtype) == get_typestore(Stores.ROS2_KILTED).hash_rihs01(msgtype)


@pytest.mark.parametrize(
    ("msgtype", "lines"),
    [
        ("sensor_msgs/msg/JointState", ["std_msgs/Header header", "float64[] effort"]),
        ("sensor_msgs/msg/Imu", ["float64[9] orientation_covariance"]),
        ("shape_msgs/msg/SolidPrimitive", ["float64[<=3] dimensions"]),
        ("std_msgs/msg/Float32", ["float32 data"]),
    ],
)
def test_fields_of_a_class_give_the_same_types_as_its_file(msgtype: str, lines: list[str]):
    if msgtype.startswith("shape_msgs"):
        pytest.importorskip("shape_msgs", reason="shape_msgs is not installed")
    text = text_from_fields(message_class(msgtype))
    assert set(lines) <= set(text.splitlines())
    from_file = get_types_from_msg(definition(msgtype).split(SEPARATOR)[0], msgtype)
    assert get_types_from_msg(text, msgtype)[msgtype][1] == from_file[msgtype][1]


def test_header_is_recognised():
    assert has_header("sensor_msgs/msg/JointState")
    assert not has_header("std_msgs/msg/Float64MultiArray")


@pytest.mark.parametrize("msgtype", ["nowhere_msgs/msg/Thing", "std_msgs/msg/Thing", "nonsense"])
def test_type_that_is_not_installed_is_named(msgtype: str):
    with pytest.raises(BagError, match=msgtype):
        message_class(msgtype)


def test_parts_of_actions_and_services_are_no_messages():
    kind = "control_msgs/action/FollowJointTrajectory_FeedbackMessage"
    with pytest.raises(BagError, match=f"{kind} belongs to an action; only messages can be"):
        message_class(kind)
