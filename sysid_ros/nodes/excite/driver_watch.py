# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The publishers of joint states, of which a new one is a driver that was started anew."""

from __future__ import annotations

from rclpy.node import Node


class DriverWatch:
    """Notices when the driver was started anew: it then holds no command that it was told before.

    One process publishes joint states and holds the robot, such as a controller manager. That it
    was started anew cannot be told from who hears commands, as recorders come and go there.
    """

    def __init__(self, node: Node, topic: str) -> None:
        """Prepare; ``topic`` is that of joint states, with its namespace."""
        self._node = node
        self._topic = topic
        self._known: set[bytes] = set()  # every publisher there ever was

    def is_anew(self) -> bool:
        """Return whether somebody publishes who did not at any look before."""
        publishers = self._node.get_publishers_info_by_topic(self._topic)
        there = {bytes(one.endpoint_gid) for one in publishers}
        new = there - self._known
        self._known |= new
        return bool(new)
