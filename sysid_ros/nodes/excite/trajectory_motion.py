# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion that ``excite`` tells a joint_trajectory_controller a little ahead, on its clock."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import REPEATED, LookaheadMotion, Motion
from sysid_ros.nodes.excite.followed_goals import FollowedGoals
from sysid_ros.nodes.excite.held_reference import HeldReference
from sysid_ros.nodes.excite.settings import ExcitationSettings
from sysid_ros.nodes.excite.streamed_motion import StreamedMotion

_SET = 0.02  # s between two looks by which the clock that dates messages must be set to count
# s that the clock of the robot may be. Farther behind, each message begins in the future of its
# controller; farther ahead, the controller gets to the stop that each announces.
_AHEAD, _BEHIND = 0.05, REPEATED - 0.02
_LOOKS = 5  # at both clocks, of which the quickest counts


class TrajectoryMotion(StreamedMotion):
    """Plays one motion at a time as trajectories, each of which says when it is to be where.

    They are dated by ROS time, as the controller's clock is. Once that was set, nothing more is
    said: the controller rests at the end of what it was told.
    """

    _motion: LookaheadMotion | None
    _apart = 0.0  # s from the motion's clock to ROS time
    _set_by = 0.0  # s, since the motion began
    _rests = 0.0  # s, when the controller rests that was told nothing more since then

    def __init__(self, node: Node, settings: ExcitationSettings, now: Callable[[], float]) -> None:
        """Create publisher and subscriptions; nothing moves."""
        super().__init__(node, settings, now)
        self._controller = HeldReference(node, settings.joints, now)
        # joint_trajectory_controller has both beside each other.
        self._action = f"{self._topic.name.rpartition('/')[0]}/follow_joint_trajectory"
        self._followed = FollowedGoals(node, self._action)

    def obstacle(self) -> str:
        """Return the reason why a motion must not begin; empty if it may."""
        return super().obstacle() or self._goal() or self._controller.problem()

    def rivals(self) -> str:
        """Name others that move the robot, in a sentence; empty if nobody does."""
        self._followed.look()
        return super().rivals() or self._goal()

    def _goal(self) -> str:
        if not self._followed.beside(()):
            return ""
        return f"the controller follows a goal that {self._action} was sent"

    def _held_at(self, position: FloatArray) -> FloatArray:
        told = self._controller.position
        return super()._held_at(position) if told is None else told

    def misdated(self, offset: float | None) -> str:
        """Say that the robot's clock is another; empty if it is not.

        Args:
          offset: From the stamps of joint states to the motion's clock, s; ``None`` without stamps.
        """
        ahead = 0.0 if offset is None else -offset - self._clocks_apart()
        if -_BEHIND <= ahead <= _AHEAD:
            return ""
        return (
            f"joint states are dated {abs(ahead):.3g} s {'ahead of' if ahead > 0.0 else 'behind'} "
            "ROS time here, and command_type: joint_trajectory tells the controller instants: "
            "synchronise the clocks of both computers, set use_sim_time where a simulation runs, "
            "or take follow_joint_trajectory, which goes by the controller's clock"
        )

    def _planned(self, motion: Motion) -> LookaheadMotion:
        self._apart, self._set_by = self._clocks_apart(), 0.0
        now = self._now() + self._apart
        return LookaheadMotion(motion, period=self._settings.period, now=now)

    def _clocks_apart(self) -> float:
        looks = [self._clocks() for _ in range(_LOOKS)]
        low, high = min(looks, key=lambda look: look[1] - look[0])
        return 0.5 * (low + high)

    def _clocks(self) -> tuple[float, float]:
        """Least and most of the time from the motion's clock to ROS time, s."""
        before = self._now()
        now = 1e-9 * float(self._node.get_clock().now().nanoseconds)
        return now - self._now(), now - before

    def fault(self, now: float) -> str | None:
        """The reason to stop at ``now``, s; ``None`` without one."""
        if self._motion is None:
            return None
        low, high = self._clocks()
        apart = min(max(self._apart, low), high)  # it may have been held up between two looks
        back = min(now - self._sent + self._settings.period, 0.0)  # of simulated time
        if not self._set_by and max(abs(apart - self._apart), -back) > _SET:
            self._set_by = back or apart - self._apart
            self._rests = now + float(self._motion.message.times[-1])
        self._apart = apart
        if self._set_by:
            return f"the clock that dates commands was set by {self._set_by:.2f} s"
        return super().fault(now)

    def reached(self, now: float) -> FloatArray | None:
        """The command (n,) that the controller should be at."""
        return self._motion.due(now + self._apart) if self._motion is not None else None

    def go_on(self, now: float) -> FloatArray | None:
        """Publish what is due at ``now``; :meth:`reached` says where the controller is by then."""
        if self._motion is None or self._set_by:
            return None
        motion = self._motion.following(now + self._apart)
        if motion is not None and self._topic.publish_curve(motion.message, motion.planned):
            self._motion, self._sent = motion, now
        return None

    def ended(self) -> bool:
        """Return whether the motion is over now, and forget it then."""
        if self._motion is not None and self._set_by:
            if self._now() < self._rests:
                return False
            self._held = self._motion = None
            return True
        return super().ended()
