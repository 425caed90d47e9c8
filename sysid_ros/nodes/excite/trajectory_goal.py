# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One goal of the action ``FollowJointTrajectory``: sent, followed by its feedback, and its end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from rclpy.duration import Duration
from rclpy.time import Time
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.excitation import TimedTrajectory, TrajectoryProgress
from sysid_ros.nodes.excite.settings import ExcitationSettings

_LATEST = 0.05  # s from now of the first point, where the controller's time is not known
_ERRORS = (
    "INVALID_GOAL",
    "INVALID_JOINTS",
    "OLD_HEADER_TIMESTAMP",
    "PATH_TOLERANCE_VIOLATED",
    "GOAL_TOLERANCE_VIOLATED",
)
_REPLACED = "the controller's goal was cancelled or replaced by somebody else"


class TrajectoryGoal:
    """A trajectory that a controller was asked to follow, and what it has said since."""

    def __init__(
        self,
        client: Any,
        settings: ExcitationSettings,
        trajectory: TimedTrajectory,
        now: Callable[[], float],
        *,
        answered: Callable[[], None],
        asked: float | None = None,
        begun: float | None = None,
        place: float | None = None,
    ) -> None:
        """Send it.

        Args:
          client: An ``ActionClient`` of the action.
          settings: Joints and tolerances.
          trajectory: The points.
          now: Our time, s.
          answered: Called when the controller has accepted or refused it.
          asked: Our time of ``place``, before the trajectory was planned; ``None``: now.
          begun: The controller's time at the trajectory's zero; ``None``: where it is at
            ``place`` when the goal arrives.
          place: Time on the trajectory, s, where the controller was then; ``None``: at rest, at its
            beginning.
        """
        self._now = now
        self._joints = settings.joints
        self._answered = answered
        self._handle: Any = None
        self._unwanted = self._canceled = False
        self.sent = now() if asked is None else asked
        self._sent_at = time.monotonic()
        # s from planning to the controller's answer, by the motion's clock or by the machine's,
        # whichever went on more: /clock may stand, or be heard late
        self.round_trip: float | None = None
        self.words = 0  # answers and feedback so far
        self.over = False
        self.failure = ""
        ahead = 0.0 if place is None else place - float(trajectory.times[0])
        self.progress = TrajectoryProgress(trajectory, self.sent - ahead, begun)
        from control_msgs.action import FollowJointTrajectory

        message = FollowJointTrajectory.Goal()
        message.trajectory = _message(trajectory, begun, place)
        message.path_tolerance = _tolerances(settings, trajectory)
        message.goal_tolerance = message.path_tolerance
        message.goal_time_tolerance = Duration(seconds=settings.following_delay).to_msg()
        answer = client.send_goal_async(message, feedback_callback=self._on_feedback)
        answer.add_done_callback(self._on_answer)

    @property
    def accepted(self) -> bool:
        """True if the controller has agreed to it."""
        return self._handle is not None

    @property
    def identity(self) -> bytes:
        """The goal's number; empty before the controller has agreed to it."""
        return bytes(self._handle.goal_id.uuid) if self.accepted else b""

    @property
    def called_off(self) -> bool:
        """True if it is over, or the controller has answered that it heard of its cancelling."""
        return self.over or self._canceled

    def cancel(self) -> None:
        """Ask for its end, also where the controller has not answered yet."""
        self._unwanted = True
        if self._handle is not None and not self.over:
            self._handle.cancel_goal_async().add_done_callback(self._on_canceled)

    def _on_canceled(self, future: Any) -> None:
        self._canceled = future.exception() is None

    def _on_answer(self, future: Any) -> None:
        self.words += 1
        self.round_trip = max(self._now() - self.sent, time.monotonic() - self._sent_at)
        if future.exception() is not None or not future.result().accepted:
            self.over = True
            self.failure = (
                "the controller refuses the goal; it must be active, and parameter joints must "
                "name all of its joints"
            )
        else:
            self._handle = future.result()
            self._handle.get_result_async().add_done_callback(self._on_result)
            if self._unwanted:
                self.cancel()
        self._answered()

    def _on_feedback(self, message: Any) -> None:
        self.words += 1
        feedback = message.feedback
        names, desired = list(feedback.joint_names), feedback.desired
        if set(self._joints) <= set(names) and len(desired.positions) == len(names):
            told = _told(len(names), desired.velocities, desired.accelerations)
            known = [desired.positions, *told]
            reference = np.array([[row[names.index(one)] for one in self._joints] for row in known])
            stamp = feedback.header.stamp.sec + 1e-9 * feedback.header.stamp.nanosec
            self.progress.observe(self._now(), stamp, reference)

    def _on_result(self, future: Any) -> None:
        self.words += 1
        self.over = True
        if future.exception() is not None:
            self.failure = "the controller has lost the goal"
            return
        answer = future.result()
        done = answer.status == GoalStatus.STATUS_SUCCEEDED
        if done and answer.result.error_code == answer.result.SUCCESSFUL:
            return
        if answer.status == GoalStatus.STATUS_CANCELED:
            self.failure = _REPLACED
            return
        name = _error_name(answer.result)
        words = f": {answer.result.error_string}" if answer.result.error_string else ""
        self.failure = f"the controller gave up, {name}{words}"


def _message(
    trajectory: TimedTrajectory, begun: float | None, place: float | None
) -> JointTrajectory:
    """The points; those that are over by now only where the controller can tell so by the stamp.

    A whole motion begins with its first point: to one that is still to come a controller leaves
    from where the robot is measured, which is a step where that sags below what it is told.
    """
    message = JointTrajectory(joint_names=list(trajectory.joints))
    if begun is None and place is not None:
        zero = place
        rows = np.flatnonzero(trajectory.times >= place + _LATEST)
    else:
        zero = float(trajectory.times[0])
        rows = np.arange(len(trajectory.times))
        if begun is not None:
            message.header.stamp = Time(nanoseconds=round(1e9 * (begun + zero))).to_msg()
    for row in rows:
        point = JointTrajectoryPoint()
        point.positions = trajectory.positions[row].tolist()
        point.velocities = trajectory.velocities[row].tolist()
        point.accelerations = trajectory.accelerations[row].tolist()
        point.time_from_start = Duration(seconds=float(trajectory.times[row] - zero)).to_msg()
        message.points.append(point)
    return message


def _told(joints: int, *derivatives: Sequence[float]) -> Iterator[Sequence[float]]:
    """Derivatives of the positions up to the first that a controller leaves out or at zero."""

    def is_told(row: Sequence[float]) -> bool:
        return len(row) == joints and bool(np.any(row) and np.all(np.isfinite(row)))

    return takewhile(is_told, derivatives)


def _tolerances(settings: ExcitationSettings, trajectory: TimedTrajectory) -> list[Any]:
    """Tolerances of the joints that no motion breaks that this node would not stop softly before.

    The node compares a joint with all commands of the last moments, the controller with the one of
    the present instant, from which a joint that follows late is farther away.
    """
    from control_msgs.msg import JointTolerance

    speeds = np.abs(trajectory.velocities).max(axis=0)
    distances = settings.tolerance + settings.following_delay * speeds
    return [
        JointTolerance(name=joint, position=float(distance))
        for joint, distance in zip(settings.joints, distances, strict=True)
    ]


def _error_name(result: Any) -> str:
    """The name of the error code of a result, such as PATH_TOLERANCE_VIOLATED."""
    found = [name for name in _ERRORS if getattr(result, name) == result.error_code]
    return found[0] if found else f"error {result.error_code}"
