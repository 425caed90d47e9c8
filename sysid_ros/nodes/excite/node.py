# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``excite``: moves a robot such that its parameters show, within limits, and only if armed.

It waits for ``~/arm`` (or the parameter ``armed``), starts softly from where the robot stands,
plays a multisine or a trajectory file to the topic ``command``, and ends softly. It stops when
joint states stop or leave their limits. ``~/state`` tells where it is: ``waiting``, ``ready``,
``running``, ``done``, ``stopped: <why>``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import SysidError
from sysid_ros.excitation import ExcitationError, Playback, check_limits
from sysid_ros.joint_monitor import JointMonitor
from sysid_ros.nodes import parameters
from sysid_ros.nodes.clocks import motion_clock
from sysid_ros.nodes.excite.settings import ExcitationSettings, declare_excitation
from sysid_ros.nodes.process import run_node


class Excite(Node):
    """Plays one motion at a time."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__("excite", **node_options)
        self._settings: ExcitationSettings = declare_excitation(self)
        self._monitor = JointMonitor(
            self._settings.joints, self._settings.limits, timeout=self._settings.timeout
        )
        self._position: FloatArray | None = None
        self._playback: Playback | None = None
        clock, self._now = motion_clock(self)
        self._started = 0.0
        self._armed = parameters.flag(
            self, "armed", False, "whether to move as soon as joint states arrive, unasked"
        )
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._states = self.create_publisher(String, "~/state", latched)
        self._commands = self.create_publisher(self._settings.command_type, "command", 100)
        self._state = ""
        self._tell("waiting")
        self.create_subscription(JointState, "joint_states", self._on_joint_states, 10)
        self.create_service(SetBool, "~/arm", self._on_arm)
        self.create_timer(1.0 / self._settings.rate, self._tick, clock=clock)

    def _on_joint_states(self, message: JointState) -> None:
        order = {name: index for index, name in enumerate(message.name)}
        if not all(joint in order for joint in self._settings.joints):
            return  # joint states may come in parts
        indices = [order[joint] for joint in self._settings.joints]
        position = _picked(message.position, indices)
        self._position = position
        if self._playback is None:
            self._monitor.clear()  # at rest only the latest measurement counts
        self._monitor.observe(
            self._now(),
            position,
            _picked(message.velocity, indices),
            _picked(message.effort, indices),
        )
        if self._state == "waiting":
            self._tell("ready")
            if self._armed:
                self._begin()

    def _on_arm(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        if request.data:
            response.message = self._begin()
        elif self._playback is None:
            response.message = "nothing is moving"
        else:
            self._stop(self._playback, "disarmed")
        response.success = not response.message
        return response

    def _begin(self) -> str:
        """Start the motion.

        Returns:
          Why not, or an empty text.
        """
        now = self._now()
        if self._playback is not None:
            return "a motion is running"
        try:
            self._playback = self._plan(now)
        except SysidError as error:
            self.get_logger().error(f"not moving: {error}")
            return str(error)
        self._started = self._now()
        self._tell("running")
        return ""

    def _plan(self, now: float) -> Playback:
        settings = self._settings
        fault = self._monitor.fault(now)
        if self._position is None or fault is not None:
            raise ExcitationError(fault or "no joint states have arrived")
        lower, upper, rate_limit = settings.command_limits()
        playback = Playback(
            settings.reference,
            np.zeros(len(settings.joints)) if settings.is_effort else self._position,
            ramp=settings.ramp,
            stop_time=settings.stop_time,
            release=settings.is_effort,
        )
        check_limits(playback, lower, upper, rate_limit)
        return playback

    def _tick(self) -> None:
        if self._playback is None:
            return
        now = self._now()
        elapsed = now - self._started
        fault = self._monitor.fault(now)
        if fault is not None and not self._state.startswith("stopped"):
            self._stop(self._playback, fault)
        self._publish(self._playback.command(elapsed))
        if self._playback.finished(elapsed):
            self._playback = None
            if self._state == "running":
                self._tell("done")

    def _stop(self, playback: Playback, reason: str) -> None:
        playback.stop(self._now() - self._started)
        self._tell(f"stopped: {reason}")

    def come_to_rest(self) -> bool:
        """Begin a soft stop if something moves.

        Returns:
          Whether nothing moves any more.
        """
        if self._playback is not None and self._state == "running":
            self._stop(self._playback, "the node is ending")
        return self._playback is None

    def _publish(self, command: FloatArray) -> None:
        settings = self._settings
        message = settings.command_type()
        if isinstance(message, JointTrajectory):
            point = JointTrajectoryPoint()
            if settings.is_effort:
                point.effort = command.tolist()
            else:
                point.positions = command.tolist()
            seconds, nanoseconds = divmod(round(1e9 / settings.rate), 1_000_000_000)
            point.time_from_start.sec, point.time_from_start.nanosec = seconds, nanoseconds
            message.joint_names = list(settings.joints)
            message.points = [point]
        else:
            message.data = command.tolist()
        self._commands.publish(message)

    def _tell(self, state: str) -> None:
        self._state = state
        self._states.publish(String(data=state))
        self.get_logger().info(state)


def _picked(values: Sequence[float], indices: Sequence[int]) -> FloatArray:
    """Some of a message's values; NaN where the message has none of this kind."""
    array = np.asarray(values, dtype=np.float64)
    return array[list(indices)] if array.size > max(indices) else np.full(len(indices), np.nan)


def main(args: Sequence[str] | None = None) -> int:
    """Run the node.

    Returns:
      The exit status.
    """
    return run_node(Excite, args, ready_to_end=Excite.come_to_rest)
