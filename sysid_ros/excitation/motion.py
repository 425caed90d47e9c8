# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One motion from its start to its end: played, and looked at once more before it is published."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.guard import CommandGuard
from sysid_ros.excitation.playback import Playback, missed_messages

_MANY = 50  # messages in a row that were late
_TRIES = 3  # to make a message before what it was made for has passed


@dataclass(frozen=True)
class TimelyMessage:
    """A message to publish at an instant, and the motion once that is published."""

    motion: Motion
    commands: FloatArray  # (m, n), the command and what it announces
    instant: float  # s


def too_slow(late: int, gap: float, period: float) -> str | None:
    """The reason to stop after so many late messages in a row, the last ``gap`` s apart, if any."""
    if late < _MANY:
        return None
    return (
        f"commands go out {gap:.3g} s apart where {period:.3g} s are asked for: lower the rate, or "
        "free the processor"
    )


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

    def __copy__(self) -> Motion:
        """Return a motion at the same place that goes on by itself."""
        twin = object.__new__(Motion)
        twin.__dict__.update(self.__dict__)
        twin._playback, twin._guard = copy(self._playback), copy(self._guard)
        return twin

    def message(self, sent: float, now: Callable[[], float]) -> TimelyMessage | None:
        """Make the next message for the instant at which it is ready; the motion stays as it is.

        One that was held up while it was made is for a receiver that has stopped meanwhile: it is
        made anew. One that is ready less than half a period after the last is none.

        Args:
          sent: When the last message was ready, in s.
          now: Tells the time in s.
        """
        instant = now()
        for _ in range(_TRIES):
            begun, following = instant, copy(self)
            gap = begun - sent
            commands = following.advance(gap)
            instant = now()
            missed = missed_messages(gap, self._period)
            if missed == missed_messages(instant - sent, self._period):
                break
        if 0.0 <= instant - sent < 0.5 * self._period:
            return None  # after a late message the next one comes at once: nobody needs both
        return TimelyMessage(following, commands, instant)

    def advance(self, gap: float) -> FloatArray:
        """The next command and what it announces, (m, n), ``gap`` seconds after the last."""
        missed = missed_messages(gap, self._period)
        if alone := self._playback.alone(gap):
            self._guard.left_alone(alone)
        self._late, self._gap = (self._late + 1 if missed else 0), gap
        if self._guard.acted:
            return self._guard.slowed(self._released)
        return self._guard.passed(self._playback.advance(gap))

    def fault(self, gap: float) -> str | None:
        """The reason to stop ``gap`` seconds after the last message; ``None`` without one."""
        for without in (gap, self._gap):  # it may have been held up as it made the last message
            if without < 0.0:
                return f"the clock was set back by {-without:.2f} s"
            if without > self._timeout:
                return f"no command went out for {without:.2f} s"
        if said := too_slow(self._late, self._gap, self._period):
            return said
        if self._guard.acted:
            return "a command beyond the limits was held back: this is a mistake in sysid_ros"
        return None
