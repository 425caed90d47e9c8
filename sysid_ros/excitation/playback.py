# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Moves along a path, one message at a time, such that each may follow the one before."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.limits import CommandLimits
from sysid_ros.excitation.path import Way, smooth_step
from sysid_ros.excitation.reference import ExcitationError
from sysid_ros.excitation.steps import StepLimits

# Shares of the wanted change of speed that are tried, the largest that the limits allow is taken.
_SHARES = np.append(0.8 ** np.arange(40), 0.0)
_END = 1e-9  # s
_LONGEST_STOP = 1000  # messages


@dataclass(frozen=True)
class _State:
    """The place of a message on the path."""

    place: float  # path time in s
    speed: float  # of path time, 0 to 1
    fade: float  # 0 to 1, how much of the way back to rest a released command has gone
    command: FloatArray  # (n,)
    before: FloatArray  # (n,) the command before it


def _share(value: float) -> float:
    """A number bounded to 0 to 1."""
    return min(max(value, 0.0), 1.0)


def missed_messages(gap: float, period: float) -> int:
    """Count messages that a receiver lacks ``gap`` seconds after the last; lateness is forgiven."""
    return 0 if 0.0 <= gap <= 2.0 * period else max(1, round(abs(gap) / period) - 1)


class Playback:
    """A path that is played by counting messages, not by the clock.

    Path time goes on by the speed (1 unless it starts again or stops) times one nominal period per
    message, however late that is. Its speed changes by at most ``period / stop_time`` per message,
    and by less where the difference of two commands, or of two steps, would exceed its limit. At
    a constant speed below 1 a path within its limits keeps within them, so that there is always a
    way on, and stopping takes longer than ``stop_time`` where the limits demand it.

    After a gap the receiver is where it got to by itself. One that holds its last command stands,
    so the speed starts again from zero. One that is told with every message how to stop
    (``announces``) gets to its command a period later, goes on for another, and brakes from there.
    Wherever it is when the next message counts, it is met there.
    """

    def __init__(
        self,
        path: Way,
        limits: CommandLimits,
        *,
        period: float,
        stop_time: float = 0.3,
        release: bool = False,
        announces: bool = False,
    ) -> None:
        """Stand at the path's beginning.

        Args:
          path: What to play, within its limits (:func:`~sysid_ros.excitation.check_limits`).
          limits: Of the commands.
          period: Seconds between messages.
          stop_time: Least length of a soft stop in seconds.
          release: Whether a stop also fades the command to the path's rest.
          announces: Whether each message tells the receiver how to stop if none follows.

        Raises:
          ExcitationError: A time is not positive.
        """
        if period <= 0 or stop_time <= 0:
            raise ExcitationError(
                f"a period of {period} s and a stop of {stop_time} s must both be positive"
            )
        self._path = path
        self._limits = StepLimits.at(period, limits)
        self._period = period
        self._change = min(1.0, period / stop_time)
        self._release = release
        self._announces = announces
        self._stopping = False
        self._told = False
        self._state = _State(0.0, 1.0, 0.0, path.rest, path.rest)
        self._coming: list[_State] = []  # what the receiver was told to do after it

    @property
    def finished(self) -> bool:
        """True if the command no longer changes."""
        ended = self._state.place >= self._path.duration - _END
        return ended or (self._stopping and self._stands(self._state))

    def stop(self) -> None:
        """Begin a soft stop; later calls change nothing."""
        self._stopping = True

    def advance(self, gap: float) -> FloatArray:
        """Go on to the next message.

        Args:
          gap: Seconds since the last message; more than two periods count as an interruption.

        Returns:
          The command, and after it, (m, n) in all, what is announced for the following periods.
        """
        alone = self.alone(gap)
        if self._announces and self._told:  # before the first message nothing was announced
            self._state = self._received(alone + 1)
        else:
            held = replace(self._state, speed=0.0, before=self._state.command)
            former = held if alone and self._told else self._state
            self._state = self._next(former, braking=self._stopping)
        self._told = True
        self._coming = self._announced()
        return np.array([self._state.command, *(state.command for state in self._coming)])

    def alone(self, gap: float) -> int:
        """Periods in which the receiver went on by itself, ``gap`` seconds after the last message.

        Who announces sends whole periods apart.
        """
        if not self._announces:
            return missed_messages(gap, self._period)
        return max(0, round(abs(gap) / self._period) - 1)

    def stop_from(self, place: float) -> FloatArray:
        """The commands (m, n) of a stop, one period apart, from a place reached at full speed."""
        before, here = self._path.commands(np.array([place - self._period, place]))
        states = self._braked(_State(place, 1.0, 0.0, here, before))
        return np.array([here, *(state.command for state in states)])

    def _next(self, state: _State, *, braking: bool) -> _State:
        """The state one message later."""
        direction = -1.0 if braking else 1.0
        speed = _share(state.speed + direction * self._change)
        fade = _share(state.fade - direction * self._change) if self._release else 0.0
        for shares in (_SHARES[:1], _SHARES):  # nearly always the first will do
            speeds = state.speed + shares * (speed - state.speed)
            fades = state.fade + shares * (fade - state.fade)
            places = np.minimum(state.place + speeds * self._period, self._path.duration)
            commands = self._faded(self._path.commands(places), fades)
            allowed = self._limits.allow(commands, state.command, state.before)
            best = int(allowed.argmax()) if allowed.any() else -1
            if allowed[best]:
                break
        return _State(
            float(places[best]),
            float(speeds[best]),
            float(fades[best]),
            commands[best],
            state.command,
        )

    def _faded(self, commands: FloatArray, fades: FloatArray) -> FloatArray:
        if not self._release:
            return commands
        rest = self._path.rest
        result: FloatArray = rest + (1.0 - smooth_step(fades))[:, None] * (commands - rest)
        return result

    def _stands(self, state: _State) -> bool:
        return state.speed == 0.0 and (not self._release or state.fade == 1.0)

    def _braked(self, state: _State) -> list[_State]:
        """The states of a stop."""
        states: list[_State] = []
        while len(states) < _LONGEST_STOP and not self._stands(state):
            states += self._braked_at_once(state) or [self._next(state, braking=True)]
            state = states[-1]
        return states[:_LONGEST_STOP]

    def _braked_at_once(self, state: _State) -> list[_State]:
        """The states of a stop in ``stop_time``, as far as the limits allow each of them."""
        left = max(state.speed, 1.0 - state.fade if self._release else 0.0)
        changes = self._change * np.arange(1, math.ceil(left / self._change) + 1)
        speeds = np.maximum(state.speed - changes, 0.0)
        fades = np.minimum(state.fade + changes, 1.0) if self._release else np.zeros(len(changes))
        places = np.minimum(state.place + self._period * speeds.cumsum(), self._path.duration)
        commands = self._faded(self._path.commands(places), fades)
        whole = np.concatenate([[state.before, state.command], commands])
        allowed = self._limits.allow(commands, whole[1:-1], whole[:-2])
        count = len(allowed) if allowed.all() else int(allowed.argmin())
        rows = zip(places, speeds, fades, commands, whole[1:], strict=False)
        return [
            _State(float(place), float(speed), float(fade), command, before)
            for place, speed, fade, command, before in islice(rows, count)
        ]

    def _received(self, periods: int) -> _State:
        """The place that a receiver comes to by itself, so many periods after the last command."""
        states = [self._state, *self._coming]
        if periods < len(states):
            return states[periods]
        return replace(states[-1], before=states[-1].command)  # it rests there

    def _announced(self) -> list[_State]:
        """The states that follow the last message if no other comes.

        The first of these is the command of the next message, whatever happens, as the receiver
        passes the last one so fast that it gets there: where it was to brake there already, each
        message would jerk it back to speed.
        """
        if not self._announces:
            return []
        onward = self._next(self._state, braking=self._stopping)
        return [onward, *self._braked(onward)]
