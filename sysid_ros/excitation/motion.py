# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One motion from its start to its end: played, and looked at once more before it is published."""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.guard import CommandGuard
from sysid_ros.excitation.playback import Playback, missed_messages

_MANY = 50  # messages in a row that were late


class Motion:
    """A playback behind its guard, and what can go wrong with sending its messages."""

    def __init__(
        self,
        playback: Playback,
        guard: CommandGuard,
        *,
        period: float,
        timeout: float,
        released: FloatArray | None = None,
    ) -> None:
        """Stand at the beginning.

        Args:
          playback: What is played.
          guard: What bounds it; begins at the same command.
          period: Nominal seconds between messages.
          timeout: Seconds between two messages after which the motion must stop.
          released: Command (n,) to end at if the guard has to act; where the robot is if None.
        """
        self._playback = playback
        self._guard = guard
        self._period = period
        self._timeout = timeout
        self._released = released
        self._late, self._gap = 0, 0.0  # messages in a row, and s before the last of them

    @property
    def finished(self) -> bool:
        """True if the command no longer changes."""
        return self._guard.at_rest if self._guard.acted else self._playback.finished

    @property
    def last(self) -> FloatArray:
        """The command (n,) that was given out last."""
        return self._guard.last

    @property
    def before(self) -> FloatArray:
        """The command (n,) that the receiver had one period before the last."""
        return self._guard.before

    def stop(self) -> None:
        """Begin a soft stop."""
        self._playback.stop()

    def advance(self, gap: float) -> FloatArray:
        """The next command and what it announces, (m, n), ``gap`` seconds after the last."""
        if missed := missed_messages(gap, self._period):
            self._guard.left_alone(missed)
        self._late, self._gap = (self._late + 1 if missed else 0), gap
        if self._guard.acted:
            return self._guard.slowed(self._released)
        return self._guard.passed(self._playback.advance(gap))

    def fault(self, gap: float) -> str | None:
        """The reason to stop ``gap`` seconds after the last message; ``None`` without one."""
        if gap < 0.0:
            return f"the clock was set back by {-gap:.2f} s"
        if gap > self._timeout:
            return f"no command went out for {gap:.2f} s"
        if self._late >= _MANY:
            return (
                f"commands go out {self._gap:.3g} s apart where {self._period:.3g} s are asked "
                "for: lower the rate, or free the processor"
            )
        if self._guard.acted:
            return "a command beyond the limits was held back: this is a mistake in sysid_ros"
        return None
