# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The numbers of a running fit as plain topics, which every plotting tool of ROS reads."""

from __future__ import annotations

import re

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Float64

from sysid_ros.engine.least_squares import Iteration

# Who subscribes in the middle of a fit and asks for it (transient local) gets its course so far.
_QOS = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class FitTopics:
    """Publishes a ``std_msgs/Float64`` for the cost, the share of work done and each parameter.

    ``~/progress/cost``, ``~/progress/share`` and ``~/progress/values/<parameter>``, the latter
    created when a fit reports the parameter for the first time.
    """

    def __init__(self, node: Node) -> None:
        """Create what does not depend on the fit."""
        self._node = node
        self._cost = node.create_publisher(Float64, "~/progress/cost", _QOS)
        self._share = node.create_publisher(Float64, "~/progress/share", _QOS)
        self._values: dict[str, Publisher[Float64]] = {}

    def publish(self, step: Iteration, share: float) -> None:
        """Tell one step of the optimizer."""
        self._cost.publish(Float64(data=float(step.cost)))
        self._share.publish(Float64(data=float(share)))
        for name, value in zip(topic_names(step.names), step.values.tolist(), strict=True):
            if name not in self._values:
                self._values[name] = self._node.create_publisher(
                    Float64, f"~/progress/values/{name}", _QOS
                )
            self._values[name].publish(Float64(data=value))


def topic_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Parameters' names as parts of topics: ``link_inertia[3]`` becomes ``link_inertia_3``.

    Two that would get the same name are numbered.
    """
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "parameter"
        base = f"p_{plain}" if plain[0].isdigit() else plain
        candidate, number = base, 1
        while candidate in found:
            number += 1
            candidate = f"{base}_{number}"
        found.append(candidate)
    return tuple(found)
