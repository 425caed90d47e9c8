# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion that the controller times: a goal of its action ``FollowJointTrajectory``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.action import ActionClient
from rclpy.node import Node

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import (
    LONGEST_LEAD,
    ControlledMotion,
    ExcitationError,
    Reference,
    TimedTrajectory,
    lead_after,
)
from sysid_ros.nodes.excite.followed_goals import FollowedGoals
from sysid_ros.nodes.excite.held_reference import HeldReference
from sysid_ros.nodes.excite.settings import ExcitationSettings
from sysid_ros.nodes.excite.trajectory_goal import TrajectoryGoal
from sysid_ros.nodes.printable_log import log_of

_TRIPS = 8  # of goals that tell how long the next may take
_STOPS = 2  # trajectories that brake, by motion
_SILENCE = 1.0  # s without a word of the controller, in which this node was not held up itself
# Looks, 4 s, after which whose goal a controller follows is known: it tells once it is found, and
# what is missed then Fast DDS sends with its next heartbeat, up to 3 s later.
_LOOKS = 8
_UNSURE = 0.1  # s that it may be ahead of what it last told
_MISSING = (
    "command_type: follow_joint_trajectory of excite needs the package control_msgs, which is not "
    "installed here: install it with ROS 2's packages, or by `make setup` in a clone; "
    "joint_trajectory and float64_multi_array do without"
)


class ControllerMotion:
    """Plays one motion at a time as a goal, and ends it early by others along the same path.

    The first of these brakes so late that it cannot come too late. What its answer took says how
    soon the second may brake. Cancelling is the last resort, as controllers may stop abruptly then.
    """

    def __init__(self, node: Node, settings: ExcitationSettings, now: Callable[[], float]) -> None:
        """Create the action's client; nothing moves.

        Args:
          node: Owns client and subscription.
          settings: What to play.
          now: Time in s, by which everything is waited for.

        Raises:
          ExcitationError: The package control_msgs is not installed.
        """
        import scipy.interpolate  # noqa: F401, a second, which no motion must begin with

        try:
            from control_msgs.action import FollowJointTrajectory
        except ImportError:
            raise ExcitationError(_MISSING) from None
        self._node = node
        self._settings = settings
        self._now = now
        self._action = node.resolve_topic_name(settings.action)
        self._client: Any = ActionClient(node, FollowJointTrajectory, self._action)
        self._held = HeldReference(node, settings.joints, now)
        self._followed = FollowedGoals(node, self._action)
        self._looks = 0  # at who is there, since the controllers were found
        self._motion: ControlledMotion | None = None
        self._goals: list[TrajectoryGoal] = []  # of this motion, the last of which counts
        self._former: set[bytes] = set()  # goals of motions before
        self._round_trips: list[float] = []  # s, of the last goals of motions before
        self._stopping = self._canceled = False
        self._words, self._silent = 0, 0.0  # of the controller, and s since the last
        self._waited = 0.0  # s since the last goal was sent
        self._overdue = 0.0  # s that the last goal is at its end and not over
        self._patience = settings.following_delay + LONGEST_LEAD + _SILENCE  # s of that

    @property
    def heard(self) -> bool:
        """True if anybody would obey, and it is known whose goal is followed."""
        return self._found and self._looks >= _LOOKS

    @property
    def settles(self) -> bool:
        """True if somebody would obey, and it is not known yet whose goal is followed."""
        return self._found and not self.heard

    @property
    def _found(self) -> bool:
        return bool(self._client.server_is_ready())

    @property
    def moves(self) -> bool:
        """True if a motion has begun and not ended."""
        return self._motion is not None

    @property
    def left_alone(self) -> bool:
        """True if a controller that is there may follow a goal and was not heard to know its end.

        It would play that goal to its end once this node is gone, as what is on its way goes, too.
        """
        if not self._goals or not self._found:
            return False
        if self._canceled:
            return not all(goal.called_off for goal in self._goals)
        brakes = any(goal.accepted for goal in self._goals[1:])
        return not (brakes or self._goals[-1].over)

    def obstacle(self) -> str:
        """Return the reason why a motion must not begin; empty if it may."""
        if self.heard:
            return self._others_goal() or self._held.problem()
        if self._found:
            return f"{self._action} was found just now: whether it follows a goal comes within 4 s"
        return (
            f"nobody offers the action {self._action}: start the controller, or name its action "
            "with the parameter action"
        )

    def _others_goal(self) -> str:
        """Say that the controller follows a goal of somebody else; empty if it does not.

        It plays that of an ``excite`` that was killed to its end. Replacing it would be a step.
        """
        own = self._former | {goal.identity for goal in self._goals}
        if not self._followed.beside(own):
            return ""
        return (
            "the controller still follows a goal that this node did not send; wait for its end, "
            f"or cancel it: ros2 service call {self._action}/_action/cancel_goal "
            "action_msgs/srv/CancelGoal; that of a controller that was killed is forgotten within "
            "half a minute"
        )

    def listeners(self) -> set[str]:
        """The names of the nodes that offer the action."""
        return self._followed.tellers()

    def rivals(self) -> str:
        """Return nothing: who else sends a goal or trajectory ends ours, which is noticed."""
        same = self._followed.look()
        self._looks = self._looks + 1 if self._found and same else 0
        return ""

    def forget(self) -> None:
        """Keep what is known: the controller itself tells where it holds the robot."""

    def begin(self, reference: Reference, position: FloatArray, speed: float) -> FloatArray:
        """Begin a motion where the controller holds the robot, which stands at ``position``, (n,).

        It goes at a share ``speed`` of the motion's speed.

        Returns:
          The command (n,) that counts from now on.

        Raises:
          ExcitationError: The motion would leave the limits.
        """
        held = self._held.position
        position = position if held is None else held
        self._motion = self._settings.controlled(reference, position, speed)
        self._round_trips = self._trips()[-_TRIPS:]
        self._stopping = self._canceled = False
        self._words, self._silent, self._waited, self._overdue = 0, 0.0, 0.0, 0.0
        self._former |= {goal.identity for goal in self._goals}
        self._goals = [self._goal(self._motion.trajectory)]
        return position

    def fault(self, now: float) -> str | None:
        """The reason to stop, whatever ``now`` is; ``None`` without one."""
        if self._motion is None:
            return None
        goal = self._goals[-1]
        if goal.failure or goal.over:
            return goal.failure or None
        if self._silent > _SILENCE:
            return f"{self._action} has said nothing for {_SILENCE:g} s"
        if self._overdue > self._patience:
            return f"{self._action} does not say that its goal is over, {self._overdue:.1f} s later"
        away = goal.progress.away
        for joint in np.flatnonzero(away > self._settings.tolerance)[:1]:
            return (
                f"the controller moves joint {self._settings.joints[joint]!r} otherwise than it "
                f"was told: {away[joint]:.4g} away from the trajectory"
            )
        return None

    def stop(self) -> None:
        """Send trajectories that brake along the path; where that cannot be, cancel."""
        if self._motion is not None and not self._stopping:
            self._stopping, self._waited = True, 0.0
            self._go_on_stopping()

    def reached(self, now: float) -> FloatArray | None:
        """Return the command (n,) that the controller may have reached by now, by itself."""
        return self._goals[-1].progress.command(now + _UNSURE) if self.moves else None

    def go_on(self, now: float) -> FloatArray | None:
        """Look after the goal, whatever ``now`` is; commands are the controller's matter."""
        words = sum(goal.words for goal in self._goals)
        self._silent = 0.0 if words > self._words else self._silent + self._settings.period
        self._words = words
        self._waited += self._settings.period
        goal = self._goals[-1]
        resting = goal.progress.at_end and not goal.over
        self._overdue = self._overdue + self._settings.period if resting else 0.0
        self._go_on_stopping()
        return None

    def ended(self) -> bool:
        """Return whether the motion is over now, and forget it then."""
        if self._motion is None:
            return False
        if self._canceled:
            waited = self._silent > _SILENCE or self._overdue > 2.0 * self._patience
            over = waited or all(goal.over for goal in self._goals)
        else:
            over = self._goals[-1].over
        if over:
            self._motion = None
        return over

    def _go_on_stopping(self) -> None:
        """Send the next trajectory that brakes once the last goal was answered."""
        motion = self._motion
        if motion is None or not self._stopping or self._canceled:
            return
        goal, braking = self._goals[-1], len(self._goals) - 1
        standing = motion.stands_until if goal.accepted else 0.0  # s in which it cannot tell
        if self._overdue > self._patience:  # at rest, where nothing is abrupt
            self._cancel(f"{self._action} does not say that it is over")
        elif braking and goal.over and not goal.accepted:
            if braking < _STOPS:
                self._cancel(goal.failure)
            else:  # the one before it brakes
                self._goals.append(self._goals.pop(-2))
        elif goal.over:
            return
        elif braking and self._silent > LONGEST_LEAD + _SILENCE:  # nobody brakes any more
            self._cancel(f"{self._action} has said nothing while it was to brake")
        elif braking == _STOPS:
            return
        elif goal.accepted and goal.progress.located:
            self._send_stop(motion, goal)
        elif goal.accepted and self._stands(motion, goal):
            self._cancel("the robot does not move yet")
        elif max(self._waited - standing, self._silent) > LONGEST_LEAD + _SILENCE:
            what = "told where it is" if goal.accepted else "answered"
            self._cancel(f"{self._action} has not {what}")

    def _stands(self, motion: ControlledMotion, goal: TrajectoryGoal) -> bool:
        """Return whether the motion begins only when the controller has heard of its end."""
        heard = goal.progress.place(self._now()) + lead_after(self._trips())
        return heard < motion.stands_until

    def _send_stop(self, motion: ControlledMotion, goal: TrajectoryGoal) -> None:
        now, begun, first = self._now(), goal.progress.begun, len(self._goals) == 1
        # Where the controller's time is not known, a trajectory begins when it arrives: one only.
        lead = LONGEST_LEAD if first and begun is not None else lead_after(self._trips())
        if not first and (begun is None or now - goal.sent + lead > LONGEST_LEAD):
            return
        place, planned = goal.progress.place(now), time.monotonic()
        try:
            trajectory = motion.stop_at(place, lead, goal.progress.told)
        except ExcitationError as error:
            self._cancel(str(error))
            return
        # While it was planned this node heard no /clock.
        took = max(self._now() - now, time.monotonic() - planned)
        if trajectory is None or (not first and took > 0.5 * lead):
            return  # one that took so long to plan might come too late; that before it brakes
        self._waited = 0.0
        self._goals.append(self._goal(trajectory, asked=now, begun=begun, place=place))

    def _goal(self, trajectory: TimedTrajectory, **dates: Any) -> TrajectoryGoal:
        return TrajectoryGoal(
            self._client,
            self._settings,
            trajectory,
            self._now,
            answered=self._go_on_stopping,
            **dates,
        )

    def _trips(self) -> list[float]:
        """The round trips of the last goals, s."""
        new = [goal.round_trip for goal in self._goals if goal.round_trip is not None]
        return [*self._round_trips, *new]

    def _cancel(self, reason: str) -> None:
        log_of(self._node).warning(f"cancelling the goal, which may be abrupt: {reason}")
        self._canceled, self._silent = True, 0.0
        for goal in self._goals:
            goal.cancel()
