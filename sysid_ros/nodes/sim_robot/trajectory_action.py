# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The action of a joint_trajectory_controller, for the simulated robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ExperimentError
from sysid_ros.excitation import TimedTrajectory
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.sim_robot.simulated_robot import RobotState
from sysid_ros.nodes.sim_robot.trajectory_follower import (
    Demand,
    Ending,
    FollowError,
    TrajectoryFollower,
)

_FEEDBACK = 0.05  # s of the robot's time
_STATE = 0.01  # s of the robot's time
_ROUNDING = 1e-6  # s
_REPLACED = Ending(FollowError.INVALID_GOAL, "replaced by a new goal")


class TrajectoryAction:
    """Offers ``follow_joint_trajectory`` and publishes ``controller_state``."""

    def __init__(
        self, node: Node, joints: tuple[str, ...], position: FloatArray, begin: Callable[[], None]
    ) -> None:
        """Hold the n joints where they are, (n,); ``begin`` is called with every goal.

        Raises:
          ExperimentError: The package control_msgs is not installed.
        """
        try:
            from control_msgs.action import FollowJointTrajectory
            from control_msgs.msg import JointTrajectoryControllerState
        except ImportError:
            raise ExperimentError(
                "command_type: follow_joint_trajectory of sim_robot needs the package "
                "control_msgs, which is not installed here"
            ) from None
        self._node = node
        self._joints = joints
        self._begin = begin
        self._action = FollowJointTrajectory
        self._state_type = JointTrajectoryControllerState
        self._follower = TrajectoryFollower(joints, position)
        self._goal: Any = None
        self._offset_ns = 0  # of the stamps from the robot's time
        self._now_ns = 0  # the latest stamp
        self._measured = position
        self._told, self._published = -1.0, -1.0
        self._states = node.create_publisher(
            JointTrajectoryControllerState, "controller_state", 100
        )
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            "follow_joint_trajectory",
            execute_callback=_nothing,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )

    def control(self, state: RobotState, stamp_ns: int) -> FloatArray:
        """Go on to a state of the robot; returns the command (n,) that counts from there."""
        self._offset_ns, self._now_ns = stamp_ns - round(1e9 * state.time), stamp_ns
        self._measured = state.position
        ending = self._follower.update(state.time, np.array([state.position, state.velocity]))
        if ending is not None:
            self._end(ending)
        if self._goal is not None and state.time >= self._told + _FEEDBACK - _ROUNDING:
            self._told = state.time
            self._goal.publish_feedback(self._filled(self._action.Feedback(), state, "desired"))
        if state.time >= self._published + _STATE - _ROUNDING:
            self._published = state.time
            self._states.publish(self._filled(self._state_type(), state, "reference"))
        return np.array(self._follower.reference[0])

    def close(self) -> None:
        """End the action."""
        self._server.destroy()

    def _filled(self, message: Any, state: RobotState, reference: str) -> Any:
        stamp = self._offset_ns + round(1e9 * state.time)
        message.header.stamp = Time(nanoseconds=stamp).to_msg()
        message.joint_names = list(self._joints)
        commanded = self._follower.reference
        measured = (state.position, state.velocity)
        setattr(message, reference, _point(*commanded))
        actual = "actual" if reference == "desired" else "feedback"
        setattr(message, actual, _point(*measured))
        message.error = _point(*(commanded[:2] - np.array(measured)))
        return message

    def _on_goal(self, goal: Any) -> GoalResponse:
        problem = _problem(goal.trajectory, self._joints, self._now_ns)
        if problem:
            log_of(self._node).warning(f"goal rejected: {problem}")
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _on_accepted(self, handle: Any) -> None:
        if self._goal is not None:
            self._end(_REPLACED)
        self._goal = handle
        self._follower.follow(self._demand(handle.request))
        self._begin()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        if handle is self._goal:
            self._follower.hold(self._measured)  # as abruptly as some controllers do
            self._end(Ending(FollowError.SUCCESSFUL, "cancelled"))
        return CancelResponse.ACCEPT

    def _end(self, ending: Ending) -> None:
        """Say how the goal ended."""
        handle, self._goal = self._goal, None
        result = self._action.Result(error_code=int(ending.code), error_string=ending.text)

        def say(handle: Any) -> Any:
            if handle.is_cancel_requested:
                handle.canceled()
            elif ending.code is FollowError.SUCCESSFUL:
                handle.succeed()
            else:
                handle.abort()
            return result

        handle.execute(say)

    def _demand(self, goal: Any) -> Demand:
        """A goal's contents in the order of the robot's joints."""
        stamp = goal.trajectory.header.stamp
        stamp_ns = stamp.sec * 10**9 + stamp.nanosec
        seconds = goal.goal_time_tolerance
        return Demand(
            _trajectory(goal.trajectory, self._joints),
            1e-9 * (stamp_ns - self._offset_ns) if stamp_ns else None,
            self._tolerances(goal.path_tolerance),
            self._tolerances(goal.goal_tolerance),
            seconds.sec + 1e-9 * seconds.nanosec,
        )

    def _tolerances(self, tolerances: Sequence[Any]) -> FloatArray:
        by_name = {tolerance.name: tolerance.position for tolerance in tolerances}
        return np.array([by_name.get(joint, 0.0) for joint in self._joints])


def _nothing(handle: Any) -> None:
    """Stand for the execution that every goal brings along at its end."""


def _point(position: FloatArray, velocity: FloatArray, *rest: FloatArray) -> JointTrajectoryPoint:
    point = JointTrajectoryPoint(positions=position.tolist(), velocities=velocity.tolist())
    point.accelerations = [value for part in rest for value in part.tolist()]
    return point


def _problem(message: JointTrajectory, joints: tuple[str, ...], now_ns: int) -> str:
    """Say what keeps a trajectory from being followed at a stamp; empty if nothing does."""
    if sorted(message.joint_names) != sorted(joints):
        return f"it is for {', '.join(message.joint_names)}; the joints are {', '.join(joints)}"
    lists = ("positions", "velocities", "accelerations")
    sizes = {len(getattr(point, name)) for point in message.points for name in lists}
    if sizes != {len(joints)}:
        return "every point needs a position, a velocity and an acceleration for each joint"
    if not all(np.all(np.isfinite(getattr(one, name))) for one in message.points for name in lists):
        return "not all of its numbers are finite"
    if np.any(np.diff([_seconds(point.time_from_start) for point in message.points]) <= 0.0):
        return "time_from_start does not increase"
    if np.any(message.points[-1].velocities):
        return "its last point moves"
    stamp, end = message.header.stamp, message.points[-1].time_from_start
    begun, seconds = stamp.sec * 10**9 + stamp.nanosec, end.sec * 10**9 + end.nanosec
    return "it ends in the past" if begun and begun + seconds < now_ns else ""


def _trajectory(message: JointTrajectory, joints: tuple[str, ...]) -> TimedTrajectory:
    order = [message.joint_names.index(joint) for joint in joints]
    times = [_seconds(point.time_from_start) for point in message.points]
    tables = [
        np.array([list(getattr(point, name)) for point in message.points])[:, order]
        for name in ("positions", "velocities", "accelerations")
    ]
    return TimedTrajectory(joints, np.array(times), tables[0], tables[1], tables[2])


def _seconds(duration: Any) -> float:
    return float(duration.sec + 1e-9 * duration.nanosec)
