# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Limits from the description of the robot that ``robot_state_publisher`` keeps on a topic."""

from __future__ import annotations

import time

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from sysid_ros.excitation import ExcitationError, FileLimits, urdf_limits
from sysid_ros.nodes.latched import LATCHED

_PATIENCE = 10.0  # s


def described_limits(node: Node, topic: str) -> FileLimits:
    """Wait for a robot's description and return its limits.

    Args:
      node: Subscribes; no executor spins it yet.
      topic: A latched ``std_msgs/String`` that holds a URDF.

    Raises:
      ExcitationError: Nothing came, or it is no URDF.
    """
    received: list[str] = []
    subscription = node.create_subscription(
        String, topic, lambda message: received.append(message.data), LATCHED
    )
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    deadline = time.monotonic() + _PATIENCE
    try:
        while not received and time.monotonic() < deadline:
            executor.spin_once(timeout_sec=0.1)
    finally:
        executor.remove_node(node)
        executor.shutdown()
        node.destroy_subscription(subscription)
    name = node.resolve_topic_name(topic)
    if not received:
        raise ExcitationError(
            f"limits were to come from {name}, and nothing came there for {_PATIENCE:g} s"
        )
    return urdf_limits(received[-1], name)
