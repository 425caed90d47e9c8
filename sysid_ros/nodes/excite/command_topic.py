# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The topic that a robot obeys: who else is on it, and what is published there."""

from __future__ import annotations

from rclpy.duration import Duration
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.excitation import FloatArray, announced_stop
from sysid_ros.nodes.excite.settings import ExcitationSettings
from sysid_ros.nodes.sending import send

_UNKNOWN = "_NODE_NAME_UNKNOWN_"  # rmw: a publisher is heard of before the node that it belongs to


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

    def rivals(self) -> str:
        """Name others that publish commands, in a sentence; empty if nobody does."""
        topic = self._publisher.topic_name
        found = self._node.get_publishers_info_by_topic(topic)
        names = [
            f"{info.node_namespace.rstrip('/')}/{info.node_name}"
            if info.node_name != _UNKNOWN
            else "a node whose name is not known yet"
            for info in found
        ]
        own = self._node.get_fully_qualified_name()
        if own in names:
            names.remove(own)  # once: another node may have the same name
        if not names:
            return ""
        return f"{', '.join(sorted(names))} publishes commands to {topic}, too"

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

    def publish(self, commands: FloatArray, before: FloatArray) -> bool:
        """Publish one message.

        Args:
          commands: The command, and the stop that it announces where messages can, (m, n).
          before: The command (n,) before it.

        Returns:
          Whether it went out.
        """
        if self._settings.announces:
            return send(self._node, self._publisher, self._trajectory(commands, before))
        message = self._settings.command_type(data=commands[0].tolist())
        return send(self._node, self._publisher, message)

    def _trajectory(self, commands: FloatArray, before: FloatArray) -> JointTrajectory:
        """A trajectory to the command within one period, and on to rest."""
        # at rest at its end: a controller that accepts no other hears no more then
        stop = announced_stop(commands, before, self._settings.period)
        message = JointTrajectory(joint_names=list(self._settings.joints))
        for time, position, velocity in zip(
            stop.times, stop.positions, stop.velocities, strict=True
        ):
            point = JointTrajectoryPoint()
            if self._settings.is_effort:
                point.effort = position.tolist()
            else:
                point.positions = position.tolist()
                point.velocities = velocity.tolist()
            point.time_from_start = Duration(seconds=float(time)).to_msg()
            message.points.append(point)
        return message
