# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The last look at what is published: whatever goes wrong before, no message is a step."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.limits import CommandLimits
from sysid_ros.excitation.steps import StepLimits


class CommandGuard:
    """Bounds the differences of published commands.

    It remembers what the receiver was told and knows nothing of how that came about. Where it has
    to act, something before it is wrong, and the motion must end by :meth:`slowed`.
    """

    def __init__(self, limits: CommandLimits, period: float, rest: FloatArray) -> None:
        """Begin with a receiver at rest.

        Args:
          limits: Of the commands of ``n`` joints.
          period: Seconds between messages.
          rest: Command (n,) that the receiver obeys already.
        """
        self._limits = limits
        self._steps = StepLimits.at(period, limits)
        self._before = rest
        self._told = rest[None, :]
        self.acted = False

    @property
    def last(self) -> FloatArray:
        """The command (n,) that was published last."""
        return np.array(self._told[0])

    @property
    def before(self) -> FloatArray:
        """The command (n,) that the receiver had one period before the last."""
        return self._before

    def passed(self, commands: FloatArray) -> FloatArray:
        """Return the commands to publish instead of a command and its announcement.

        Args:
          commands: The command and what is announced to follow it, (m, n).

        Returns:
          The same, or the nearest single command (1, n) where one of them may not be published.
        """
        whole = np.concatenate([[self._before, self.last], commands])
        within = self._steps.allow(commands, whole[1:-1], whole[:-2])
        if not within.all() or not self._in_range(commands[0]):
            self.acted = True
            commands = self._nearest(commands[0])
        self._go_on(commands)
        return commands

    def slowed(self, goal: FloatArray | None = None) -> FloatArray:
        """The next command (1, n) of a stop within the limits, towards ``goal`` or just to rest."""
        commands = self._nearest(self.last if goal is None else goal)
        self._go_on(commands)
        return commands

    @property
    def at_rest(self) -> bool:
        """True if the last two commands were the same."""
        return bool(np.all(self.last == self._before))

    def left_alone(self, periods: int) -> None:
        """Go on for so many periods as the receiver does: as it was told, then holding the last."""
        told = np.concatenate([[self._before], self._told])
        last = min(periods + 1, len(told) - 1)
        self._before = told[last - 1] if periods + 1 == last else told[last]
        self._told = told[last][None, :]

    def _go_on(self, commands: FloatArray) -> None:
        self._before, self._told = self.last, commands

    def _in_range(self, command: FloatArray) -> bool:
        room = 1e-5  # more than the plan's check forgives
        low, high = self._limits.lower - room, self._limits.upper + room
        return bool(np.all((command >= low) & (command <= high)))

    def _nearest(self, command: FloatArray) -> FloatArray:
        within = np.clip(command, self._limits.lower, self._limits.upper)
        return self._steps.nearest(within, self.last, self._before)[None, :]
