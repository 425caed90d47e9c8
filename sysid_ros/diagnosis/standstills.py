# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured signals that stand still while what goes along with them moves to and fro.

A sensor that has stopped tells the same value again and again, exactly. So does one of a joint
that rests, of one on its stop, and of a hand that holds something. What such a joint is told goes
to one side only of where it stands, and it leaves without a jump. So another signal of the joint
must go to either side of where it was, and as far as it does elsewhere, unless the one that stood
jumps to where it is by then. A torque may do that at a joint that friction holds; it tells only of
a signal that stands nowhere else as long, and where the motion of other joints does not explain it.
A velocity that stands while its joint moves slower than the next value that it ever tells has steps
or a dead band.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    Finding,
    FindingKind,
    Recorded,
    Samples,
    Stretch,
    filtered,
    moves,
    to_and_fro,
    whole_motion,
)
from sysid_ros.diagnosis.fits import body_torques, left_by_any
from sysid_ros.errors import listed
from sysid_ros.time_intervals import level_starts

_FEWEST = 10  # equal samples
_SHORTEST = 0.2  # s; in less a message or two were lost on a bus
_SIDE, _SWING = 0.1, 0.5  # of a course's span, that it goes to either side at least, and in all
_JUMP = 5.0  # times the speed from sample to sample that one in a hundred exceeds
_TIMES = 4  # that a torque goes from one side of its middle to the other
_TRUST = 8.0  # times the model's, that a load may be
_UNEXPLAINED = 0.7  # of a torque, that no load bears
_LITTLE = 0.1  # of what a signal spans in all recordings, that its joint moves by where it does
_PARTS = 20  # of a standstill, over each of which a torque is averaged
_NOWHERE_ELSE = 0.25  # of a standstill, that a signal stands elsewhere, beside torque
_AT_END = 0.01  # of an effort's span: a limit that it was at
_SAME = 0.1  # of a standstill, by which those of other signals begin and end elsewhere


@dataclass(frozen=True)
class Standstill(Stretch):
    """A stretch in which a signal stands still and another one of its joint does not."""

    label: str
    witness: str  # the label of the other
    value: float  # of the signal

    def is_with(self, other: Standstill) -> bool:
        """Return whether both stand in much the same stretch."""
        apart = max(abs(self.begin - other.begin), abs(self.end - other.end))
        return self.recording == other.recording and apart < _SAME * (self.end - self.begin)


@dataclass(frozen=True)
class _Run:
    """Samples of a signal from ``first`` until ``behind`` that are equal."""

    own: Samples
    first: int
    behind: int

    @property
    def value(self) -> float:
        """That all of them have."""
        return float(self.own.values[self.first])

    @property
    def begin(self) -> float:
        """The first one's time, s."""
        return float(self.own.times[self.first])

    @property
    def end(self) -> float:
        """The last one's time, s."""
        return float(self.own.times[self.behind - 1])

    @property
    def is_last(self) -> bool:
        """True if no other sample follows."""
        return self.behind == len(self.own.times)

    def of(self, course: FloatArray) -> FloatArray:
        """The part of a course that has a value for each sample of the signal."""
        return course[self.first : self.behind]


def standstill_findings(recorded: Recorded) -> list[Finding]:
    """One finding for all signals that stand in the same stretches."""
    alike: list[list[Standstill]] = []
    for one in standstills(recorded):
        group = next((group for group in alike if group[0].is_with(one)), None)
        if group is None:
            alike.append([one])
        else:
            group.append(one)
    found: dict[tuple[str, ...], list[list[Standstill]]] = {}
    for group in alike:
        found.setdefault(tuple(dict.fromkeys(one.label for one in group)), []).append(group)
    several = len(recorded.recordings) > 1
    return [_finding(labels, groups, several=several) for labels, groups in found.items()]


def standstills(recorded: Recorded) -> list[Standstill]:
    """Stretches in which a position, a velocity or a measured effort of a joint stands still."""
    found: list[Standstill] = []
    for joint, position in recorded.positions.items():
        if not moves(recorded, joint):
            continue  # what is left of others is noise
        told, speeds, efforts = _of_joint(recorded, joint)
        beside = [(one, "place") for one in told] + [(one, "rate") for one in speeds]
        found += _of_signal(recorded, position, [*beside, *((one, "torque") for one in efforts)])
        if joint in recorded.velocities:
            found += _of_signal(recorded, recorded.velocities[joint], [(position, "speed")])
        for effort in efforts:
            if not any(part.held for part in recorded.pooled(effort)):
                found += _of_signal(recorded, effort, [(position, "turns")])
    return sorted(found, key=lambda one: (one.recording, one.begin))


def _of_joint(recorded: Recorded, joint: int) -> tuple[list[str], list[str], list[str]]:
    """Labels of the commanded positions, of velocities, and of efforts of a joint."""
    told = [one for a, one in recorded.servos.items() if {*recorded.arms(a)} == {joint}]
    speeds = [one for a, one in recorded.others.items() if {*recorded.arms(a)} == {joint}]
    speeds += [recorded.velocities[joint]] if joint in recorded.velocities else []
    efforts = [one for a, one in recorded.efforts.items() if {*recorded.arms(a)} == {joint}]
    return told, speeds, efforts


def _of_signal(
    recorded: Recorded, label: str, others: Sequence[tuple[str, str]]
) -> Iterator[Standstill]:
    """The standstills of a signal beside others, each with how it tells of the joint's motion."""
    if all(np.ptp(part.values) == 0.0 for part in recorded.pooled(label)):
        return  # it stands by nature
    idle = _idle(recorded, label) if label in recorded.efforts.values() else np.zeros(0)
    least = {one: _LITTLE * _span(recorded, one) for one, _ in others}
    for number, signals in enumerate(recorded.recordings):
        runs = _runs(signals[label]) if label in signals else []
        if not runs:
            continue
        own = signals[label]
        courses = [
            _Course.of(signals[one], one, kind, own, least[one])
            for one, kind in others
            if one in signals
        ]
        *_, second, longest = sorted([0.0, *(run.end - run.begin for run in runs)])
        for run in runs:
            if len(idle) and (run.value == 0.0 or not idle[0] <= run.value <= idle[1]):
                continue  # nothing drives it, or it is at its limit
            length = run.end - run.begin
            elsewhere = (second if length == longest else longest) > _NOWHERE_ELSE * length
            for course in courses:
                by_torque = course.kind == "torque"
                if (by_torque and elsewhere) or not course.moves(run):
                    continue
                if not by_torque or not _is_load(recorded, number, label, course.label, run):
                    when = number, run.begin, run.end, run.is_last
                    yield Standstill(*when, label, course.label, run.value)
                    break


def _idle(recorded: Recorded, effort: str) -> FloatArray:
    """The least and the largest effort that is not at a limit, where it may stay, (2,)."""
    values = np.concatenate([part.values for part in recorded.pooled(effort)])
    margin = _AT_END * float(np.ptp(values))
    return np.array([values.min() + margin, values.max() - margin])


def _span(recorded: Recorded, label: str) -> float:
    """The range of nearly all of a signal, over all recordings."""
    values = np.concatenate([part.values for part in recorded.pooled(label)])
    return float(np.ptp(np.percentile(values, [1.0, 99.0])))


def _runs(own: Samples) -> list[_Run]:
    """Stretches of equal samples, which may be a whole recording of several."""
    ends = np.append(level_starts(own.values), len(own.values))
    long = np.flatnonzero(np.diff(ends) >= _FEWEST).tolist()
    runs = (_Run(own, int(ends[k]), int(ends[k + 1])) for k in long)
    return [one for one in runs if one.end - one.begin >= _SHORTEST]


@dataclass(frozen=True)
class _Course:
    """A signal (n,) at the samples of one that may stand, with how it tells of the joint's motion.

    Nearly all of it lies between ``low`` and ``high``. Where these are closer than ``least``, its
    joint rests in this recording, and what is left is noise.
    """

    label: str
    kind: str
    values: FloatArray
    low: float
    high: float
    least: float

    @classmethod
    def of(cls, other: Samples, label: str, kind: str, own: Samples, least: float) -> _Course:
        """That of a signal, of a velocity its integral."""
        values = other.at(own.times)
        if kind == "rate":
            speed = values - values.mean()
            values = np.concatenate([[0.0], np.cumsum(speed[:-1] * np.diff(own.times))])
            least = 0.0
        low, high = map(float, np.percentile(values, [1.0, 99.0]))
        return cls(label, kind, values, low, high, least)

    def moves(self, run: _Run) -> bool:
        """Return whether it goes to and fro in a run as it does in all the recording."""
        span, inside = max(self.high - self.low, self.least, 1e-300), run.of(self.values)
        if self.kind == "torque":
            away = (_averaged(inside) - 0.5 * (self.low + self.high)) / span
            sides = np.sign(away[np.abs(away) > 0.5 * _SWING])
            return int(np.count_nonzero(np.diff(sides))) >= _TIMES
        if self.kind in {"turns", "speed"}:
            enough = to_and_fro(inside) > 0.5 * _SWING * span
            return enough and not (self.kind == "speed" and _is_slow(inside, run))
        up, down = (inside.max() - inside[0]) / span, (inside[0] - inside.min()) / span
        if max(up, down) > _SIDE and _jumps(run):
            return True
        return bool(min(up, down) > _SIDE and up + down > _SWING)


def _is_slow(places: FloatArray, run: _Run) -> bool:
    """Return whether a motion is slower than the value nearest to that which a velocity keeps."""
    told, times = run.own.values, run.of(run.own.times)
    if run.behind - run.first == len(told):
        return False  # it tells no other
    nearest = float(np.abs(told[told != run.value] - run.value).min())
    low, high = int(np.argmin(places)), int(np.argmax(places))
    return float(places[high] - places[low]) < nearest * abs(float(times[high] - times[low]))


def _jumps(run: _Run) -> bool:
    """Return whether a signal leaves where it stood faster than it ever moves."""
    if run.is_last:
        return False
    steps = np.abs(np.diff(run.own.values)) / np.diff(run.own.times)
    usual = np.percentile(steps[steps > 0.0], 99.0)
    return bool(steps[run.behind - 1] > _JUMP * usual)


def _is_load(recorded: Recorded, number: int, label: str, torque: str, run: _Run) -> bool:
    """Return whether other joints that move may be what the torque on a joint at rest bears.

    Whatever explains it is taken out, in either direction, as if loads could pull anywhere.
    """
    part = recorded.during(number, run.begin, run.end)
    data = filtered(part, [*recorded.all_positions, torque], _FEWEST)
    if data is None or not recorded.all_positions:
        return True  # nobody knows
    joint = next(joint for joint, own in recorded.positions.items() if own == label)
    loads = body_torques(recorded.model, *whole_motion(part, data))
    own = loads[:, int(recorded.model.jnt_dofadr[joint])]
    return left_by_any(_TRUST * own, data.value[torque]) < _UNEXPLAINED


def _averaged(values: FloatArray) -> FloatArray:
    """Values without most of their noise, which goes to and fro as well."""
    count = max(1, len(values) // _PARTS)
    return np.convolve(values, np.full(count, 1.0 / count), "valid")


def _finding(
    labels: tuple[str, ...], groups: Sequence[Sequence[Standstill]], *, several: bool
) -> Finding:
    """The finding of the stretches in which the same signals stand."""
    first, one = groups[0][0], len(labels) == 1
    it, whose = ("it", "its sensor") if one else ("them", "their sensors")
    stands = f"stands still at {first.value:.4g}" if one else "stand still"
    when = listed((group[0].words(several=several) for group in groups), last=" and ")
    moving = dict.fromkeys(repr(one.witness) for group in groups for one in group)
    return Finding(
        FindingKind.STANDSTILL,
        labels,
        {"begin": first.begin, "end": first.end, "value": first.value},
        f"{listed(map(repr, labels))} {stands} {when}, while {listed(moving)} "
        f"{'goes' if len(moving) == 1 else 'go'} to and fro: {whose} or what publishes {it} had "
        "stopped, or the joint was held. No parameter explains that; leave the stretch out, with "
        "start and end of a sequence, or the signal.",
    )
