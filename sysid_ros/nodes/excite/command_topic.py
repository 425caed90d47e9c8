# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The topic that a robot obeys: who else is on it, and what is published there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.excitation import REPEATED, CommandedCurve, FloatArray
from sysid_ros.nodes.excite.settings import ExcitationSettings
from sysid_ros.nodes.sending import send

_UNKNOWN = "_NODE_NAME_UNKNOWN_"  # rmw: a publisher is heard of before the node that it belongs to


def named(endpoints: Iterable[Any]) -> set[str]:
    """The full names of the nodes that publish or subscribe, as far as they are known."""
    return {name for endpoint in endpoints if (name := _name(endpoint))}


def _name(endpoint: Any) -> str:
    """The full name of a node; empty where it is not known yet."""
    known = endpoint.node_name != _UNKNOWN
    return f"{endpoint.node_namespace.rstrip('/')}/{endpoint.node_name}" if known else ""


class CommandTopic:
    """Publishes commands to ``command``, and knows whether it is alone there."""

    def __init__(self, node: Node, settings: ExcitationSettings) -> None:
        """Create the publisher."""
        self._node = node
        self._settings = settings
        self._publisher = node.create_publisher(settings.command_type, "command", 100)

    @property
    def heard(self) -> bool:
        """True if anybody subscribes."""
        return bool(self._publisher.get_subscription_count() > 0)

    @property
    def name(self) -> str:
        """Its full name."""
        return str(self._publisher.topic_name)

    def listeners(self) -> set[str]:
        """The names of the nodes that subscribe, as far as they are known."""
        found = self._node.get_subscriptions_info_by_topic(self._publisher.topic_name)
        return named(found)

    def rivals(self) -> str:
        """Name others that publish commands, in a sentence; empty if nobody does."""
        topic = self._publisher.topic_name
        found = self._node.get_publishers_info_by_topic(topic)
        names = [_name(info) or "a node whose name is not known yet" for info in found]
        own = self._node.get_fully_qualified_name()
        if own in names:
            names.remove(own)  # once: another node may have the same name
        if not names:
            return ""
        told = sorted(f"another node {name}" if name == own else name for name in names)
        return f"{', '.join(told)} publishes commands to {topic}, too"

    def problem(self) -> str:
        """Return the reason why a motion must not begin here; empty if it may."""
        topic, kind = self._publisher.topic_name, self._settings.command_type.__name__
        if not self.heard and self._node.count_subscribers(topic):
            return (
                f"nobody who subscribes to {topic} hears a {kind} that is not latched: set "
                "command_type to what the controller takes, or its quality of service to volatile"
            )
        if not self.heard:
            return (
                f"nobody subscribes to {topic}: start the controller, or remap command to its topic"
            )
        return self.rivals()

    def publish(self, command: FloatArray) -> bool:
        """Publish a command (n,) that counts at once; returns whether it went out."""
        message = self._settings.command_type(data=command.tolist())
        return send(self._node, self._publisher, message)

    def publish_curve(self, curve: CommandedCurve, zero: float) -> bool:
        """Publish a curve of which the controller is to be on from now on.

        It names instants, so that a controller that gets it late is where it would have been.

        Args:
          curve: Begins in the past, ``REPEATED`` seconds before its zero, and ends at rest.
          zero: ROS time at the curve's zero, s.

        Returns:
          Whether it went out.
        """
        # A simulation may not have as much past; a stamp of zero would mean that it begins now.
        stamp = max(zero - REPEATED, 0.5 * zero)
        told = curve.since(stamp - zero)
        message = JointTrajectory(joint_names=list(self._settings.joints))
        message.header.stamp = Time(nanoseconds=round(1e9 * stamp)).to_msg()
        for time, position, velocity in zip(
            zero - stamp + told.times, told.positions, told.velocities, strict=True
        ):
            point = JointTrajectoryPoint(positions=position.tolist(), velocities=velocity.tolist())
            point.time_from_start = Duration(nanoseconds=round(1e9 * time)).to_msg()
            message.points.append(point)
        return send(self._node, self._publisher, message)
