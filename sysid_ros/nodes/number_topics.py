# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A plain topic per parameter, which every plotting tool of ROS reads."""

from __future__ import annotations

import re
from collections.abc import Container

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64

from sysid_ros.files import untaken

# rclpy's executors look at every publisher's event handlers whenever they wake up. Of dozens of
# publishers that took more of a core than all else that a node did, for a warning that somebody
# asked for another quality of service.
_SILENT = PublisherEventCallbacks(use_default_callbacks=False)


class NumberTopics:
    """Publishes ``std_msgs/Float64``, a topic per parameter, created with its first number."""

    def __init__(self, node: Node, prefix: str, qos: QoSProfile | int = 10) -> None:
        """Begin without topics.

        Args:
          node: Owns them.
          prefix: What their names begin with, such as ``~/value``.
          qos: Quality of service, or the depth of a queue.
        """
        self._node, self._prefix, self._qos = node, prefix, qos
        self._publishers: dict[str, Publisher[Float64]] = {}
        self._parts: set[str] = set()

    def publish(self, name: str, value: float) -> None:
        """Publish a parameter's number."""
        publisher = self._publishers.get(name)
        if publisher is None:
            part = topic_part(name, self._parts)
            self._parts.add(part)
            publisher = self._publishers[name] = self._node.create_publisher(
                Float64, f"{self._prefix}/{part}", self._qos, event_callbacks=_SILENT
            )
        publisher.publish(Float64(data=value))


def topic_part(parameter: str, taken: Container[str]) -> str:
    """A parameter's name as part of a topic's: ``link_inertia[3]`` becomes ``link_inertia_3``.

    One that would get the same as another is numbered.
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", parameter).strip("_") or "parameter"
    return untaken(f"p_{plain}" if plain[0].isdigit() else plain, taken)
