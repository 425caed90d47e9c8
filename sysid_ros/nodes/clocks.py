# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The clock of a node: jumps of the system's clock must not move a robot or stop a timer."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.clock import Clock, JumpThreshold, TimeJump
from rclpy.clock_type import ClockType
from rclpy.duration import Duration
from rclpy.node import Node

from sysid_ros.recording.mapping import CLOCK_TOPIC


def uses_simulated_time(node: Node) -> bool:
    """Return whether the node's time comes from the topic ``/clock``."""
    return bool(node.get_parameter("use_sim_time").value)


def steady_clock() -> Clock:
    """For timers that go on whatever happens to the system's or the simulation's time."""
    return Clock(clock_type=ClockType.STEADY_TIME)


_JUMP = 0.1  # s by which the system's clock must be set for it to be called a jump
_SIMULATED_JUMP = 1.0  # s; a simulation's clock goes forward in steps


class ClockWatch:
    """Notices when the clock that dates messages has not begun yet, or jumps."""

    def __init__(self, node: Node) -> None:
        """Watch a node's clock.

        Args:
          node: Its parameter ``use_sim_time`` says which clock that is, and may be set meanwhile.
        """
        self._node = node
        self._clock = node.get_clock()
        self._offset = self._system_offset()
        self._jump: float | None = None  # s, of the simulation's clock since the last look
        self._looked = time.monotonic()
        self.jumps = 0
        self._handle = self._clock.create_jump_callback(
            JumpThreshold(
                min_forward=Duration(seconds=_SIMULATED_JUMP),
                min_backward=Duration(nanoseconds=-1),
                on_clock_change=False,
            ),
            post_callback=self._on_jump,
        )

    @property
    def _simulated(self) -> bool:
        return uses_simulated_time(self._node)

    @property
    def waiting(self) -> bool:
        """True if time is to come from ``/clock`` and nothing has come from there yet."""
        return self._simulated and self._clock.now().nanoseconds == 0

    def look(self) -> str:
        """Say whether the clock jumped since the last look, empty if it did not."""
        jump, self._jump = self._jump, None
        held_up, self._looked = time.monotonic() - self._looked, time.monotonic()
        if jump is not None and 0.0 < jump < held_up:  # as while a bag is completed: all came late
            jump = None
        if not self._simulated:
            before, self._offset = self._offset, self._system_offset()
            moved = self._offset - before
            jump = moved if abs(moved) > _JUMP else None
        if jump is None:
            return ""
        self.jumps += 1
        direction = "forward" if jump > 0.0 else "back"
        said = f"the clock jumped {direction} by {abs(jump):.3g} s"
        nodes = self._node.count_publishers(CLOCK_TOPIC) if self._simulated else 1
        return f"{said}; {nodes} nodes publish {CLOCK_TOPIC}" if nodes > 1 else said

    def _on_jump(self, jump: TimeJump) -> None:
        if self._clock.now().nanoseconds != jump.delta.nanoseconds:  # from zero time only begins
            self._jump = 1e-9 * float(jump.delta.nanoseconds)

    @staticmethod
    def _system_offset() -> float:
        return time.time() - time.monotonic()


def motion_clock(node: Node) -> tuple[Clock, Callable[[], float]]:
    """Return the clock of a robot's motion: its simulation's time, or else a steady clock.

    Returns:
      A clock for timers, and a function that gives its time in seconds.
    """
    if uses_simulated_time(node):
        clock = node.get_clock()
        return clock, lambda: 1e-9 * float(clock.now().nanoseconds)
    return steady_clock(), time.monotonic
