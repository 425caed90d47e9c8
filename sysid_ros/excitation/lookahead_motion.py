# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion of which a controller is told so far ahead that late messages change nothing."""

from __future__ import annotations

from copy import copy

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.announced_stop import announced_stop
from sysid_ros.excitation.commanded_curve import CommandedCurve
from sysid_ros.excitation.motion import Motion, too_slow

_LEAD = 0.1  # s from the plan to the robot, at least
_ON_THE_WAY = 0.05  # s of the lead, that messages may take; the rest makes up for late ones
_SAME = 1e-6  # s between two instants that are one
_ROUNDING = 1e-3  # periods
# s of the past with which each message begins, rest before a motion too. A controller whose clock
# is farther behind than that has all of the message ahead, and leaves for it from where its robot
# is measured, behind or below what it was told: each message would be a step of that.
REPEATED = 0.12


class LookaheadMotion:
    """One curve on the controller's clock, of which every message repeats the part that counts.

    A message adds what is ``lead`` seconds ahead, and the stop from there in case no other comes.
    Before that it says the same as the one before, so that wherever the controller is when it
    arrives, it goes on along the same curve, unless that is more than ``lead`` later. Messages that
    were due while their sender was held up are made up for as long as 0.05 s are left to send them;
    after that the controller has gone on along its stop, and is met there.
    """

    def __init__(self, motion: Motion, *, period: float, now: float) -> None:
        """Rest at the beginning of a motion that announces its stops, at ``now``, s."""
        self._motion = motion
        self._period = period
        self.lead = max(_LEAD, 2.0 * period + _ON_THE_WAY)  # made at worst two periods late
        self.planned = now  # when the last message should have been made, s
        # Its times are those of the plan: the robot is there ``lead`` seconds later.
        self._curve = CommandedCurve.resting(now - self.lead - 2.0 * REPEATED, motion.last)
        self._late, self._gap = 0, 0.0  # looks in a row that missed messages; s before the last
        self._rested = 0.0  # s for which the plan has been at its end

    @property
    def finished(self) -> bool:
        """True if the controller, which is told late, is at rest, too."""
        return self._rested > self.lead + 0.5 * self._period

    @property
    def last(self) -> FloatArray:
        """The command (n,) that was planned last."""
        return self._motion.last

    def stop(self) -> None:
        """Begin a soft stop, which the robot does ``lead`` seconds later."""
        self._motion.stop()

    def fault(self, gap: float) -> str | None:
        """The reason to stop ``gap`` seconds after the last message; ``None`` without one."""
        return too_slow(self._late, self._gap, self._period) or self._motion.fault(gap)

    def due(self, now: float) -> FloatArray:
        """The positions (n,) that the controller should command at ``now``, s."""
        return np.asarray(self._curve.at(now - self.lead)[0])

    @property
    def message(self) -> CommandedCurve:
        """The curve to tell the controller, its times in s after ``planned``."""
        begin = self.planned - self.lead - REPEATED
        told = self._curve.since(begin)
        return CommandedCurve(
            told.times + self.lead - self.planned, told.positions, told.velocities
        )

    def following(self, now: float) -> LookaheadMotion | None:
        """The motion with all messages that are due at ``now``, s; ``None`` where none is."""
        due = int((now - self.planned) / self._period + _ROUNDING)
        if due < 1:
            return None
        missed = self._missed(now, due)
        result = copy(self)
        result._motion = copy(self._motion)
        result._late, result._gap = (self._late + 1 if missed else 0), now - self.planned
        if missed:
            result._go_on(missed * self._period)
        for _ in range(due - missed):
            result._go_on(self._period)
        return result

    def _missed(self, now: float, due: int) -> int:
        """Of the messages that are due at ``now``, s, those that are not made up for.

        Between its knots an announced stop is a little beside the plan, so it is left at a knot,
        which may be one that is still to come.
        """
        late = (now - self.planned - self.lead + _ON_THE_WAY) / self._period
        least = int(np.ceil(late - _ROUNDING))
        if least <= 0:
            return 0
        last = int(np.ceil((self._curve.times[-1] - self.planned) / self._period))
        instants = self.planned + self._period * np.arange(least, max(due, least, last) + 1)
        rests = instants >= self._curve.times[-1]
        away = np.abs(instants[:, None] - self._curve.times).min(axis=1)
        return least + int(np.argmax(rests | (away < _SAME)))

    def _go_on(self, gap: float) -> None:
        """Plan one message more, ``gap`` seconds after the last."""
        commands = self._motion.advance(gap)
        stop = announced_stop(commands, self._motion.before, self._period)
        self.planned += gap
        kept = self._curve.since(self.planned - self.lead - 2.0 * REPEATED)
        self._curve = kept.continued(self.planned, stop)
        self._rested = self._rested + gap if self._motion.finished else 0.0
