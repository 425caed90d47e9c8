"""Which clock a node goes by: jumps of the system's clock must not move a robot or stop a timer."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node


def uses_simulated_time(node: Node) -> bool:
    """Whether the node's time comes from the topic ``/clock``."""
    return bool(node.get_parameter("use_sim_time").value)


def steady_clock() -> Clock:
    """For timers that go on whatever happens to the system's or the simulation's time."""
    return Clock(clock_type=ClockType.STEADY_TIME)


def motion_clock(node: Node) -> tuple[Clock, Callable[[], float]]:
    """What the motion of a robot goes by: its simulation's time, or else a steady clock.

    Returns:
      A clock for timers, and a function that gives its time in seconds.
    """
    if uses_simulated_time(node):
        clock = node.get_clock()
        return clock, lambda: 1e-9 * float(clock.now().nanoseconds)
    return steady_clock(), time.monotonic
