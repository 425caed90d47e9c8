# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that joints do not follow for a while, though they do elsewhere.

A brake holds the joint, somebody pressed the emergency stop, or the drive is off, while the
controller goes on. A servo that is too weak, or whose joint is on its stop or at an object, is
asked to one side of where the joint is; here the command goes to either side of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.diagnosis.evidence import (
    SERVO_LAGS,
    Finding,
    FindingKind,
    Recorded,
    Stretch,
    to_and_fro,
)
from sysid_ros.diagnosis.tracking import command_per_unit
from sysid_ros.errors import listed

_SHORTEST = 3.0  # s
_PIECE = 1.0  # s, over which a servo's error is averaged
_FOLLOWED = 0.2  # of a command's spread, that a joint is off by at most for most of the time
_OFF = 5.0  # times its usual error, that one that does not follow is off by
_ASIDE = 0.25  # of a command's spread, likewise, and that it goes to either side by
_SWING = 1.0  # of the same, that the command goes to and fro by
_MOVED = 0.5  # of the command's way, that a joint moves by that does not follow
_ANSWERS = 0.5  # correlation with the command, however late, from which on a joint obeys it
_LATEST = 0.5  # s, that an answer comes late by
_NAMED = 4  # servos that a sentence names


@dataclass(frozen=True)
class _Unfollowed(Stretch):
    """A stretch in which a servo's joint does not follow its command."""

    label: str
    error: float  # root mean square
    usual: float  # the same elsewhere, by the median

    def is_with(self, other: _Unfollowed) -> bool:
        """Return whether both are in much the same stretch."""
        both = min(self.end, other.end) - max(self.begin, other.begin)
        shortest = min(self.end - self.begin, other.end - other.begin)
        return self.recording == other.recording and both > 0.5 * shortest


def unfollowed_command_findings(
    recorded: Recorded, held_out: Recorded | None = None
) -> list[Finding]:
    """One finding for all position servos whose joints do not follow in the same stretch.

    Args:
      recorded: What was recorded.
      held_out: Recordings beside it that a fit is judged by; then only theirs are told.
    """
    first = 0
    if held_out is not None:
        first = len(recorded.recordings)
        recorded = replace(recorded, recordings=(*recorded.recordings, *held_out.recordings))
    alike: list[list[_Unfollowed]] = []
    for servo in recorded.servos:
        for one in _of_servo(recorded, servo):
            group = next((group for group in alike if group[0].is_with(one)), None)
            if group is None:
                alike.append([one])
            else:
                group.append(one)
    return [_finding(recorded, group, first) for group in alike if group[0].recording >= first]


@dataclass(frozen=True)
class _Course:
    """One recording of a servo: what it is asked for and what its joint does, in one unit."""

    recording: int
    times: FloatArray  # (n,) s
    command: FloatArray  # (n,)
    moved: FloatArray  # (n,)

    @property
    def errors(self) -> FloatArray:
        """Root mean square of what the joint is off by, piece by piece, (p,)."""
        piece = ((self.times - self.times[0]) / _PIECE).astype(np.intp)
        counts = np.maximum(np.bincount(piece), 1)
        return np.asarray(np.sqrt(np.bincount(piece, (self.command - self.moved) ** 2) / counts))

    def unfollowed(self, label: str, spread: float, usual: float) -> _Unfollowed | None:
        """The longest stretch in which the joint does not follow a command of such a spread."""
        behind = last = longest = 0
        off_by_much = self.errors > max(_OFF * usual, _ASIDE * spread)
        for place, off in enumerate(off_by_much, start=1):
            longest = longest + 1 if off else 0
            if longest > last:
                behind, last = place, longest
        begin = float(self.times[0]) + _PIECE * (behind - last)
        is_last = behind == len(off_by_much)
        end = float(self.times[-1]) if is_last else float(self.times[0]) + _PIECE * behind
        if end - begin < _SHORTEST:
            return None
        inside = (self.times >= begin) & (self.times <= end)
        off, way = (self.command - self.moved)[inside], to_and_fro(self.command[inside])
        aside = min(float(off.max()), -float(off.min()))
        if aside < _ASIDE * spread or way < _SWING * spread:
            return None
        if to_and_fro(self.moved[inside]) > _MOVED * way or self._is_answered(inside):
            return None
        error = float(np.sqrt(np.mean(off**2)))
        return _Unfollowed(self.recording, begin, end, is_last, label, error, usual)

    def _is_answered(self, inside: BoolArray) -> bool:
        """Return whether a joint moves as it is told, though less, as one of a slow servo.

        Where commands jump to and fro faster than a servo turns round, only its speed is as told,
        and before its place is.
        """
        told, done = self.command[inside], self.moved[inside]
        times = self.times[inside] - self.times[inside][0]
        late = min(int(np.searchsorted(times, _LATEST)), len(told) // 2)
        speed = np.gradient(done, times)
        ways = ((told, done), (told, speed), (speed, told))
        return any(_correlated(first, second, late) for first, second in ways)


def _correlated(first: FloatArray, second: FloatArray, late: int) -> bool:
    """Return whether the second goes as the first did, at most some samples before."""
    for lag in range(late + 1):
        one, other = first[: len(first) - lag], second[lag:]
        one, other = one - one.mean(), other - other.mean()
        if abs(float(one @ other)) > _ANSWERS * math.sqrt(float(one @ one) * (other @ other)):
            return True
    return False


def _of_servo(recorded: Recorded, servo: int) -> Iterator[_Unfollowed]:
    """The longest stretch of each recording in which a servo's joint does not follow."""
    late = [courses for lag in SERVO_LAGS if (courses := list(_courses(recorded, servo, lag)))]
    if not late:
        return
    usual, courses = min(((_usual(courses), courses) for courses in late), key=lambda one: one[0])
    spread = float(np.std(np.concatenate([one.command for one in courses])))
    for one in courses if usual < _FOLLOWED * spread else ():
        found = one.unfollowed(recorded.servos[servo], spread, usual)
        if found is not None:
            yield found


def _usual(courses: Sequence[_Course]) -> float:
    return float(np.median(np.concatenate([one.errors for one in courses])))


def _courses(recorded: Recorded, servo: int, lag: float) -> Iterator[_Course]:
    """A servo's recordings with a lag [s], its encoder's zero where the servo's is."""
    label, arms = recorded.servos[servo], recorded.arms(servo)
    joint = recorded.joint_of(servo)
    if len(arms) > 1 or joint not in recorded.positions:
        return
    position, asked = recorded.positions[joint], command_per_unit(recorded.model, servo)
    parts = [
        (number, signals[position], signals[label])
        for number, signals in enumerate(recorded.recordings)
        if label in signals and position in signals
    ]
    commands = [command.at(own.times - lag) for _, own, command in parts]
    moved = [asked * arms[joint] * own.values for _, own, _ in parts]
    if not parts:
        return
    zero = np.median(np.concatenate(commands) - np.concatenate(moved))
    for (number, own, _), told, done in zip(parts, commands, moved, strict=True):
        if len(own.times) > 1:
            yield _Course(number, own.times, told, done + zero)


def _finding(recorded: Recorded, group: list[_Unfollowed], first: int) -> Finding:
    labels = tuple(one.label for one in group)
    longest = max(group, key=lambda one: one.end - one.begin)
    one = replace(longest, recording=longest.recording - first)
    when = one.words(several=len(recorded.recordings) > first + 1)
    ask = "ask" if len(group) > 1 else "asks"
    apart = " of what is held out" if first else ""
    return Finding(
        FindingKind.NO_CONTROL,
        labels,
        {"begin": one.begin, "end": one.end, "error": one.error, "usual": one.usual},
        f"What {listed(map(repr, labels), _NAMED)} {ask} for is not "
        f"done {when}{apart}: a joint is off by {one.error:.3g}, to either "
        f"side, and by {one.usual:.3g} usually. A brake held the robot, an emergency stop was "
        "pressed, or its drives were off: leave that out.",
    )
