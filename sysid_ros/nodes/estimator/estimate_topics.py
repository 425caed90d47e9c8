# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The topics that carry estimates."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from sysid_ros.engine.moving_horizon import HorizonEstimate
from sysid_ros.experiment import Experiment
from sysid_ros.nodes.estimator.messages import identified, numbers
from sysid_ros.nodes.estimator.payload import PayloadTopics
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.number_topics import NumberTopics
from sysid_ros_interfaces.msg import IdentifiedParameters


class EstimateTopics:
    """``~/estimate``, ``~/numbers``, a plain topic for each value, and those of a payload."""

    def __init__(self, node: Node) -> None:
        """Offer them."""
        self._estimate = node.create_publisher(IdentifiedParameters, "~/estimate", LATCHED)
        self._numbers = node.create_publisher(Float64MultiArray, "~/numbers", 10)
        self._values = NumberTopics(node, "~/value")
        self._payload = PayloadTopics(node)

    def publish(self, estimate: HorizonEstimate, experiment: Experiment, stamp_ns: int) -> None:
        """Publish an estimate; the stamp is that of the latest sample, ns since the epoch."""
        model = experiment.model or experiment.model_topic or ""
        self._estimate.publish(identified(estimate, model, stamp_ns))
        self._numbers.publish(numbers(estimate.parameters))
        if experiment.payload is not None:
            self._payload.publish(estimate, experiment.payload.body, stamp_ns)
        for one in estimate.parameters:
            self._values.publish(one.name, one.value)
