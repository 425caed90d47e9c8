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

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    Finding,
    FindingKind,
    Recorded,
    Samples,
    filtered,
    moves,
    whole_motion,
)
from sysid_ros.diagnosis.fits import body_torques, bounded_fit
from sysid_ros.errors import listed

_FEWEST = 10  # equal samples
_SHORTEST = 0.2  # s; in less a message or two were lost on a bus
_SIDE, _SWING = 0.1, 0.5  # of a course's span, that it goes to either side at least, and in all
_JUMP = 5.0  # times the speed from sample to sample that one in a hundred exceeds
_TIMES = 4  # that a torque goes from one side of its middle to the other
_TRUST = 8.0  # times the model's, that a load may be
_UNEXPLAINED = 0.7  # of a torque, that no load bears
_PARTS = 20  # of a standstill, over each of which a torque is averaged
_NOWHERE_ELSE = 0.25  # of a standstill, that a signal stands elsewhere, beside torque
_AT_END = 0.01  # of an effort's span: a limit that it was at
_SAME = 0.1  # of a standstill, by which those of other signals begin and end elsewhere


@dataclass(frozen=True)
class Standstill:
    """A stretch in which a signal stands still and another one of its joint does not."""

    label: str
    witness: str  # the label of the other
    recording: int  # its number
    begin: float  # s on the recording's axis
    end: float  # likewise
    value: float  # of the signal
    is_last: bool  # whether it stands to the end of the recording

    def is_with(self, other: Standstill) -> bool:
        """Return whether both stand in much the same stretch."""
        apart = max(abs(self.begin - other.begin), abs(self.end - other.end))
        return self.recording == other.recording and apart < _SAME * (self.end - self.begin)


@dataclass(frozen=True)
class _Run:
    """Samples from ``first`` until ``behind`` that are equal, and their time [s]."""

    first: int
    behind: int
    length: float


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
    return [
        _finding(labels, groups[0], len(groups) - 1, several=several)
        for labels, groups in found.items()
    ]


def standstills(recorded: Recorded) -> list[Standstill]:
    """Stretches in which a position, a velocity or a measured effort of a joint stands still."""
    found: list[Standstill] = []
    for joint, position in recorded.positions.items():
        if not moves(recorded, joint):
            continue  # what is left of others is noise
        told, speeds, efforts = _of_joint(recorded, joint)
        pairs = [(position, other, "place") for other in told]
        pairs += [(position, other, "rate") for other in speeds]
        pairs += [(position, other, "torque") for other in efforts]
        if joint in recorded.velocities:
            pairs.append((recorded.velocities[joint], position, "turns"))
        pairs += [(one, position, "turns") for one in efforts if _is_measured(recorded, one)]
        for label in dict.fromkeys(pair[0] for pair in pairs):
            others = [(other, kind) for one, other, kind in pairs if one == label]
            found += _of_signal(recorded, label, others, is_effort=label in efforts)
    return sorted(found, key=lambda one: (one.recording, one.begin))


def _of_joint(recorded: Recorded, joint: int) -> tuple[list[str], list[str], list[str]]:
    """Labels of the commanded positions, of velocities, and of efforts of a joint."""
    told = [one for a, one in recorded.servos.items() if {*recorded.arms(a)} == {joint}]
    speeds = [one for a, one in recorded.others.items() if {*recorded.arms(a)} == {joint}]
    speeds += [recorded.velocities[joint]] if joint in recorded.velocities else []
    efforts = [one for a, one in recorded.efforts.items() if {*recorded.arms(a)} == {joint}]
    return told, speeds, efforts


def _is_measured(recorded: Recorded, label: str) -> bool:
    return not any(part.held for part in recorded.pooled(label))


def _of_signal(
    recorded: Recorded, label: str, others: Sequence[tuple[str, str]], *, is_effort: bool
) -> Iterator[Standstill]:
    """The standstills of a signal beside others, each with how it tells of the joint's motion."""
    ends = (np.inf, -np.inf)
    if is_effort:
        values = np.concatenate([part.values for part in recorded.pooled(label)])
        margin = _AT_END * float(np.ptp(values))
        ends = float(values.max()) - margin, float(values.min()) + margin
    for number, signals in enumerate(recorded.recordings):
        if label not in signals:
            continue
        own = signals[label]
        runs = _runs(own)
        for run in runs:
            value = float(own.values[run.first])
            if is_effort and (value == 0.0 or value > ends[0] or value < ends[1]):
                continue  # nothing drives it, or it is at its limit
            rest = max((one.length for one in runs if one is not run), default=0.0)
            for other, kind in others:
                if kind == "torque" and rest > _NOWHERE_ELSE * run.length:
                    continue
                if other not in signals or not _moves(signals[other], kind, own, run):
                    continue
                if kind == "turns" and not is_effort and _is_slow(signals[other], own, run):
                    continue
                if kind != "torque" or not _is_load(recorded, number, label, other, run):
                    begin = float(own.times[run.first])
                    last = run.behind == len(own.times)
                    yield Standstill(label, other, number, begin, begin + run.length, value, last)
                    break


def _runs(own: Samples) -> list[_Run]:
    """Stretches of equal samples; none of a signal that never changes."""
    edges = np.flatnonzero(np.diff(own.values) != 0.0) + 1
    ends = [0, *edges.tolist(), len(own.values)]
    return [
        _Run(first, behind, float(own.times[behind - 1] - own.times[first]))
        for first, behind in itertools.pairwise(ends)
        if len(edges)
        and behind - first >= _FEWEST
        and own.times[behind - 1] - own.times[first] >= _SHORTEST
    ]


def _moves(other: Samples, kind: str, own: Samples, run: _Run) -> bool:
    """Return whether another signal goes to and fro in a run as it does in all the recording."""
    course = other.at(own.times)
    if kind == "rate":
        speed = course - course.mean()
        course = np.concatenate([[0.0], np.cumsum(speed[:-1] * np.diff(own.times))])
    low, high = np.percentile(course, [1.0, 99.0])
    span, inside = max(float(high - low), 1e-300), course[run.first : run.behind]
    if kind == "torque":
        away = (_averaged(inside) - 0.5 * (low + high)) / span
        sides = np.sign(away[np.abs(away) > 0.5 * _SWING])
        return int(np.count_nonzero(np.diff(sides))) >= _TIMES
    if kind == "turns":
        rises = inside - np.minimum.accumulate(inside), np.maximum.accumulate(inside) - inside
        return min(float(one.max()) for one in rises) > 0.5 * _SWING * span
    up, down = (inside.max() - inside[0]) / span, (inside[0] - inside.min()) / span
    if max(up, down) > _SIDE and _jumps(own, run):
        return True
    return bool(min(up, down) > _SIDE and up + down > _SWING)


def _is_slow(position: Samples, velocity: Samples, run: _Run) -> bool:
    """Return whether a motion is slower than the value nearest to that which a velocity keeps."""
    kept, part = velocity.values[run.first], slice(run.first, run.behind)
    nearest = float(np.abs(velocity.values[velocity.values != kept] - kept).min())
    course, times = position.at(velocity.times)[part], velocity.times[part]
    low, high = int(np.argmin(course)), int(np.argmax(course))
    return float(course[high] - course[low]) < nearest * abs(float(times[high] - times[low]))


def _jumps(own: Samples, run: _Run) -> bool:
    """Return whether a signal leaves where it stood faster than it ever moves."""
    steps = np.abs(np.diff(own.values)) / np.diff(own.times)
    moving = steps[steps > 0.0]
    return run.behind < len(own.values) and bool(
        steps[run.behind - 1] > _JUMP * np.percentile(moving, 99.0)
    )


def _is_load(recorded: Recorded, number: int, label: str, torque: str, run: _Run) -> bool:
    """Return whether other joints that move may be what the torque on a joint at rest bears.

    Whatever explains it is taken out, in either direction, as if loads could pull anywhere.
    """
    signals = recorded.recordings[number]
    begin, end = signals[label].times[[run.first, run.behind - 1]]
    cut = {
        name: Samples(own.times[inside], own.values[inside], own.method)
        for name, own in signals.items()
        for inside in [(own.times >= begin) & (own.times <= end)]
    }
    alone = replace(recorded, recordings=(cut,))
    data = filtered(alone, [*recorded.all_positions, torque], _FEWEST)
    if data is None or not recorded.all_positions:
        return True  # nobody knows
    joint = next(joint for joint, own in recorded.positions.items() if own == label)
    loads = body_torques(recorded.model, *whole_motion(alone, data))
    own = loads[:, int(recorded.model.jnt_dofadr[joint])]
    columns = _TRUST * np.column_stack([own, -own])
    columns, felt = columns - columns.mean(axis=0), data.value[torque] - data.value[torque].mean()
    found = bounded_fit(columns.T @ columns, columns.T @ felt, 1.0)
    return float(np.std(felt - columns @ found)) < _UNEXPLAINED * float(np.std(felt))


def _averaged(values: FloatArray) -> FloatArray:
    """Values without most of their noise, which goes to and fro as well."""
    count = max(1, len(values) // _PARTS)
    return np.convolve(values, np.full(count, 1.0 / count), "valid")


def _finding(
    labels: tuple[str, ...], group: Sequence[Standstill], more: int, *, several: bool
) -> Finding:
    """The finding of the first of the stretches in which the same signals stand."""
    first, one = group[0], len(labels) == 1
    it, whose = ("it", "its sensor") if one else ("them", "their sensors")
    stands = f"stands still at {first.value:.4g}" if one else "stand still"
    when = f"from {first.begin:.1f} " + ("s on" if first.is_last else f"to {first.end:.1f} s")
    when += f" of recording {first.recording + 1}" if several else ""
    when += f", and in {more} more stretch{'es' if more > 1 else ''}" if more else ""
    moving = listed([repr(one) for one in dict.fromkeys(one.witness for one in group)], 4)
    return Finding(
        FindingKind.STANDSTILL,
        labels,
        {"begin": first.begin, "end": first.end, "value": first.value, "more": float(more)},
        f"{listed(map(repr, labels), 4)} {stands} {when}, while {moving} "
        f"{'goes' if len(group) == 1 else 'go'} to and fro: {whose} or what publishes {it} had "
        "stopped, or the joint was held. No parameter explains that; leave the stretch out, with "
        "start and end of a sequence, or the signal.",
        "",
        (),
    )
