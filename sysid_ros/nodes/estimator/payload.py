# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The load that a robot holds: two topics, and a service in the words of controllers."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from geometry_msgs.msg import Inertia, InertiaStamped
from rclpy.node import Node

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import BodyInertia, full_inertia
from sysid_ros.engine.estimation import BodyFinding
from sysid_ros.engine.inverse_dynamics import PAYLOAD
from sysid_ros.engine.moving_horizon import HorizonEstimate
from sysid_ros.nodes.estimator.messages import silence
from sysid_ros.nodes.latched import LATCHED
from sysid_ros_interfaces.msg import PayloadEstimate
from sysid_ros_interfaces.srv import GetPayload

_NONE = "nothing is known of a load: the experiment needs the key payload, and the robot to move"


class PayloadTopics:
    """``~/payload_estimate``, ``~/payload`` (the inertia alone) and ``~/get_payload``."""

    def __init__(self, node: Node) -> None:
        """Offer them."""
        self._latest: PayloadEstimate | None = None
        self._published = math.nan  # time.monotonic() of it
        self._estimates = node.create_publisher(PayloadEstimate, "~/payload_estimate", LATCHED)
        self._inertias = node.create_publisher(InertiaStamped, "~/payload", LATCHED)
        node.create_service(GetPayload, "~/get_payload", self._answer)

    def publish(self, estimate: HorizonEstimate, frame: str, stamp_ns: int) -> None:
        """Publish what an estimate says about the load, if it says anything.

        Args:
          estimate: The estimate.
          frame: The body that holds it.
          stamp_ns: Instant of the latest sample, nanoseconds since the epoch.
        """
        for body, spread in zip(estimate.bodies, estimate.spreads, strict=True):
            if body.body == PAYLOAD:
                self._latest = payload_estimate(estimate, body, spread, frame, stamp_ns)
                self._published = time.monotonic()
                self._estimates.publish(self._latest)
                alone = InertiaStamped(header=self._latest.header, inertia=self._latest.inertia)
                self._inertias.publish(alone)

    def _answer(self, request: Any, response: GetPayload.Response) -> GetPayload.Response:
        latest = self._latest
        if latest is None:
            response.message = _NONE
            return response
        silent = silence(time.monotonic() - self._published)  # another load may be held by now
        response.message = "; ".join([*latest.flags, *([silent] if silent else [])])
        response.success = not response.message
        response.frame_id, response.mass = latest.header.frame_id, latest.inertia.m
        response.center_of_gravity = latest.inertia.com
        response.center_of_mass = [latest.inertia.com.x, latest.inertia.com.y, latest.inertia.com.z]
        response.load_inertia = _tensor(latest.inertia).ravel(order="F").tolist()
        return response


def payload_estimate(
    estimate: HorizonEstimate, body: BodyFinding, spread: FloatArray, frame: str, stamp_ns: int
) -> PayloadEstimate:
    """A load with its covariance and flags.

    Args:
      estimate: The estimate.
      body: The load.
      spread: Covariance of its mass, centre of mass and inertia, (10, 10).
      frame: The body that holds it.
      stamp_ns: Instant of the latest sample, nanoseconds since the epoch.
    """
    flags = [*estimate.unexplained, *estimate.wrong]
    if not estimate.settled:
        flags.append("too few seconds of motion yet")
    if body.on_edge:
        flags.append("on the edge of what a body can be")
    message = PayloadEstimate(inertia=inertia(body), covariance=spread.ravel(), flags=flags)
    message.header.frame_id = frame
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp_ns, 10**9)
    if estimate.changed is not None:
        since_ns = stamp_ns - round(1e9 * (estimate.time - estimate.changed))
        message.changed.sec, message.changed.nanosec = divmod(since_ns, 10**9)
    return message


def inertia(body: BodyFinding) -> Inertia:
    """The inertia of a body, about its centre of mass, along the axes of its frame."""
    tensor = full_inertia(BodyInertia(body.mass, body.centre, body.axes, body.moments))
    message = Inertia(m=body.mass)
    message.com.x, message.com.y, message.com.z = body.centre.tolist()
    for name, row, column in (
        ("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2),
    ):  # fmt: skip
        setattr(message, name, float(tensor[row, column]))
    return message


def _tensor(one: Inertia) -> FloatArray:
    return np.array(
        [[one.ixx, one.ixy, one.ixz], [one.ixy, one.iyy, one.iyz], [one.ixz, one.iyz, one.izz]]
    )
