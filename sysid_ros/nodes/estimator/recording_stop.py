# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The end of a recording that says enough."""

from __future__ import annotations

from typing import Any

from rclpy.node import Node

from sysid_ros.engine.moving_horizon import HorizonEstimate
from sysid_ros.live_estimation import PRECISION, sufficiency_of
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros_interfaces.srv import Stop


class RecordingStop:
    """Has a recorder stopped once everything is determined."""

    def __init__(self, node: Node, recorder: str, precision: float) -> None:
        """Look for the recorder; ``precision`` is the relative standard error that is enough."""
        self._node, self._precision = node, precision
        self._client: Any = node.create_client(Stop, f"{recorder}/stop")
        self._asked: Any = None  # the answer to the latest call

    @classmethod
    def declared(cls, node: Node) -> RecordingStop | None:
        """The one that a node's parameters ask for, if they do."""
        given = NodeParameters(node)
        precision = given.positive(
            "precision", PRECISION, "standard error over magnitude that counts as enough"
        )
        recorder = given.text(
            "stop_recorder", "", "name of a recorder that is stopped once precision is reached"
        )
        return cls(node, recorder, precision) if recorder else None

    def begin_anew(self) -> None:
        """Stop another recording."""
        self._asked = None

    def consider(self, estimate: HorizonEstimate) -> None:
        """Stop the recording if an estimate is precise enough, and none was stopped so far."""
        asked = self._asked
        if asked is not None and (not asked.done() or asked.result().success):
            return
        judged = sufficiency_of(estimate, self._precision)
        if judged.sufficient and self._client.service_is_ready():
            if asked is None:
                log_of(self._node).info(f"{judged}: stopping the recording")
            self._asked = self._client.call_async(Stop.Request())
