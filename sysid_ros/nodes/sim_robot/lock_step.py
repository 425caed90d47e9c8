# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated robot in lock-step with who moves it: load changes the pace, never the motion.

Its own time, on ``/clock``, goes forward by one period at a time. While ``excite`` plays, the next
period begins once the command of the present one is there: one that was published after the
period's ``/clock``. A command acts from the last ``/clock`` before it was published, which is also
how a bag dates messages without a header, so that both agree whatever the machine has to do.

A motion that comes as one goal has no commands to wait for: it goes on at the wall clock's pace,
but on the robot's own time, so that it is the same whoever is held up.

Before the first motion the robot stands at its first instant, which it shows until ``excite`` has
seen it, so that every recording of that motion is the same; afterwards it runs on in real time.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ErrorCode, SysidError
from sysid_ros.nodes.clocks import steady_clock
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.sim_robot.simulated_robot import RobotState, SimulatedRobot

# Of the robot's time. Zero would mean that it has not begun; little, as a node that hears of a
# joint state before the first /clock takes it for that old.
START_NS = 10_000_000
_STANDING = 0.05  # s of the wall clock until the robot shows itself again where it stands
_REMINDER = 1.0  # s after which a /clock that was not answered is sent again
_PAST = 1000  # periods that are remembered, for commands that come late
_UNSEEN = ("", "waiting")  # of excite's states, those in which it has not seen the robot


class NoCommandError(SysidError):
    """Report that whoever moves the robot says so and sends nothing."""

    code = ErrorCode.DATA_UNUSABLE


class LockStep:
    """Moves the simulation on, period by period."""

    def __init__(
        self,
        node: Node,
        robot: SimulatedRobot,
        publish: Callable[[RobotState, int], None],
        *,
        rate: float,
        patience: float,
        excite: str,
        waits: bool = True,
    ) -> None:
        """Stand at the first instant.

        Args:
          node: Owns publisher, subscription and timer.
          robot: Is simulated.
          publish: Called with every state and its stamp in nanoseconds.
          rate: Commands per second that the motion has.
          patience: Seconds of the wall clock to wait for a command while a motion plays.
          excite: Name of the node that plays it.
          waits: Whether a motion comes command by command, each of which is waited for.
        """
        self._robot = robot
        self._publish = publish
        self._period = 1.0 / rate
        self._patience = patience
        self._excite = excite
        self._waits = waits
        self._ticks = 0
        # When each of the last periods was announced: the wall clock's ns, and the robot's s.
        self._announced: deque[tuple[int, float]] = deque(maxlen=_PAST)
        self._reminded = self._moved_on = time.monotonic()
        self._motion = ""
        self._stands = True
        self._first = robot.measure()
        self._clock = node.create_publisher(Clock, "/clock", QoSProfile(depth=_PAST))
        node.create_subscription(String, f"{excite}/state", self._on_motion, LATCHED)
        node.create_timer(self._period, self._look, clock=steady_clock())

    def obey(self, values: FloatArray, published_ns: int) -> None:
        """Take a command, (n_actuators,), that was published at a time of the system's clock."""
        self._robot.command(self._in_force(published_ns), values)
        self.heard(published_ns)

    def heard(self, published_ns: int) -> None:
        """Go on, as what this period waits for was published at a time of the system's clock."""
        self._stands = False
        if self._plays and self._announced and published_ns >= self._announced[-1][0]:
            self._move_on()

    def begin(self) -> None:
        """Stand no longer; time goes on."""
        self._stands = False

    @property
    def _plays(self) -> bool:
        return self._waits and self._motion == "running"

    def _on_motion(self, message: String) -> None:
        self._motion = message.data
        if self._plays:
            # The present period may have passed before the motion began; the next one has not.
            self._stands = False
            self._move_on()

    def _look(self) -> None:
        """Called once per period of the wall clock."""
        now = time.monotonic()
        if self._stands:
            if self._motion in _UNSEEN and now - self._reminded >= _STANDING:
                self._tell_time()
                self._publish(self._first, START_NS)
        elif not self._plays:
            self._move_on()
        elif now - self._moved_on > self._patience:
            raise NoCommandError(
                f"{self._excite} is running a motion, and no command has come for "
                f"{self._patience:g} s of the wall clock; the robot waits for each of them"
            )
        elif now - self._reminded > _REMINDER:
            self._tell_time()

    def _move_on(self) -> None:
        """Simulate one period and announce the next one."""
        self._ticks += 1
        for state in self._robot.advance(self._now):
            self._publish(state, START_NS + round(1e9 * state.time))
        self._announced.append((time.time_ns(), self._now))
        self._tell_time()
        self._moved_on = time.monotonic()

    def _tell_time(self) -> None:
        message = Clock()
        stamp = START_NS + round(1e9 * self._now)
        message.clock.sec, message.clock.nanosec = divmod(stamp, 1_000_000_000)
        self._clock.publish(message)
        self._reminded = time.monotonic()

    @property
    def _now(self) -> float:
        return self._ticks * self._period

    def _in_force(self, published_ns: int) -> float:
        """The robot's time when something was published, s."""
        after = bisect_right(self._announced, published_ns, key=lambda entry: entry[0])
        return self._announced[after - 1][1] if after else 0.0
