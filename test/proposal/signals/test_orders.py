# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recording states orders of joints in controllers' messages and in the robot description."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.proposal.signals.orders import Order, stated_orders

URDF = """<robot name="arm"><link name="base"/><ros2_control name="s" type="system">
  <joint name="elbow"><command_interface name="position"/></joint>
  <joint name="mirror"><state_interface name="position"/></joint>
  <joint name="shoulder"><command_interface name="position"/></joint>
</ros2_control></robot>"""


def test_messages_and_ros2_control_tags_state_orders_but_joint_states_do_not(
    tmp_path: Path,
) -> None:
    store = get_typestore(Stores.ROS2_KILTED)
    types = store.types
    time = types["builtin_interfaces/msg/Time"](0, 0)
    header = types["std_msgs/msg/Header"](time, "")
    none = np.empty(0)
    messages = {
        "/joint_states": types["sensor_msgs/msg/JointState"](
            header, ["b", "a"], np.zeros(2), none, none
        ),
        "/arm/joint_trajectory": types["trajectory_msgs/msg/JointTrajectory"](
            header, ["shoulder", "wrist"], []
        ),
        "/robot_description": types["std_msgs/msg/String"](URDF),
        "/chatter": types["std_msgs/msg/String"]("hello"),
    }
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, message in messages.items():
            connection = writer.add_connection(topic, message.__msgtype__, typestore=store)
            writer.write(connection, 1, store.serialize_cdr(message, message.__msgtype__))
    assert set(stated_orders(tmp_path / "bag")) == {
        Order(("shoulder", "wrist"), "/arm/joint_trajectory"),
        Order(("elbow", "shoulder"), "the ros2_control tags of /robot_description"),
    }
