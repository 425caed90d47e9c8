# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The numbers of a running fit as plain topics, which every plotting tool of ROS reads."""

from __future__ import annotations

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Float64

from sysid_ros.engine.least_squares import Iteration
from sysid_ros.nodes.number_topics import NumberTopics

# Who subscribes in the middle of a fit and asks for it (transient local) gets its course so far.
_QOS = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class FitTopics:
    """Publishes a ``std_msgs/Float64`` for the cost, the share of work done and each parameter.

    ``~/progress/cost``, ``~/progress/share`` and ``~/progress/values/<parameter>``, the latter
    created when a fit reports the parameter for the first time.
    """

    def __init__(self, node: Node) -> None:
        """Create what does not depend on the fit."""
        self._cost = node.create_publisher(Float64, "~/progress/cost", _QOS)
        self._share = node.create_publisher(Float64, "~/progress/share", _QOS)
        self._values = NumberTopics(node, "~/progress/values", _QOS)

    def publish(self, step: Iteration, share: float) -> None:
        """Tell one step of the optimizer."""
        self._cost.publish(Float64(data=float(step.cost)))
        self._share.publish(Float64(data=float(share)))
        for name, value in zip(step.names, step.values.tolist(), strict=True):
            self._values.publish(name, value)

    def end(self) -> None:
        """Tell that nothing more is done: most fits end long before their last iteration."""
        self._share.publish(Float64(data=1.0))
