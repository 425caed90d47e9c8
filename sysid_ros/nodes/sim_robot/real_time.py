# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated robot by the wall clock, exact as long as the machine keeps up.

Like a robot whose controller keeps its own time, states carry the instant they describe, and a
command takes effect a fixed delay after the instant it was published. To make that possible the
simulation runs ``latency`` seconds behind the wall clock, so that a command that was held up
still arrives before its effect is due.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

from sysid_ros.arrays import FloatArray
from sysid_ros.nodes.clocks import steady_clock
from sysid_ros.nodes.sim_robot.simulated_robot import RobotState, SimulatedRobot


class RealTime:
    """Simulates what has become due, ``rate`` times per second."""

    def __init__(
        self,
        node: Node,
        robot: SimulatedRobot,
        publish: Callable[[RobotState, int], None],
        *,
        rate: float,
        latency: float,
    ) -> None:
        """Begin now.

        Args:
          node: Owns the timer.
          robot: Is simulated.
          publish: Called with every state and its stamp in nanoseconds.
          rate: How often to catch up, Hz.
          latency: Seconds by which the simulation runs behind the wall clock.
        """
        self._robot = robot
        self._publish = publish
        self._latency = latency
        # The monotonic clock drives the simulation; the system's clock only dates its start.
        self._start_ns = time.time_ns()
        self._monotonic_ns = time.monotonic_ns()
        node.create_timer(1.0 / rate, self._catch_up, clock=steady_clock())

    def obey(self, values: FloatArray, published_ns: int) -> None:
        """Take a command, (n_actuators,), that was published at a time of the system's clock."""
        self._robot.command(1e-9 * (published_ns - self._start_ns), values)

    def heard(self, published_ns: int) -> None:
        """Do nothing: time goes on anyway, whatever was published."""

    def begin(self) -> None:
        """Return at once: time goes on anyway."""

    def _catch_up(self) -> None:
        now = 1e-9 * (time.monotonic_ns() - self._monotonic_ns)
        for state in self._robot.advance(now - self._latency):
            self._publish(state, self._start_ns + round(1e9 * state.time))
