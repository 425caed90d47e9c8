# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured positions that jump beside what their velocity says, as where an encoder slips.

Nothing moves a joint by a jump. From one sample to the next it goes as its speed before and after
has it, or in between, as where it runs into something; a sensor that slips on its shaft, or is set
anew, shows a step beside that, which stays. A single wild sample comes back, and one that a driver
repeats is made up for by the next. A joint that was told to jump may have done so between two
samples; one of which no input is known, if a motor accelerates it by as much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.finding import Finding, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.engine.signals import place_unit
from sysid_ros.time_intervals import level_starts

_AROUND = 4  # intervals to either side whose speeds count
_FEWEST = 100  # samples
_TIMES = (
    10.0  # what all but one step in two hundred are beside their speeds, and the encoder's step
)
_LEAST = 0.01  # of the span of the motion
_LONGEST = 3.0  # usual intervals, beyond which a joint may have done anything
_STAYS = 0.7  # of a jump, that samples around it are apart by
_AT_ONCE = 0.05  # s
_BEFORE = 0.3  # s before a jump, in which a joint may have been told to
_TOLD = 0.3  # of a jump, that a position command moves in one interval of the position
_UNUSUAL = 1.5  # what it moves in all but one interval in twenty
_PUSHED = 0.5  # of what another input does in the whole recording
# rad/s^2 and m/s^2 that no motor of a robot's joint reaches; saccades of eyes take a third of it.
_STRONGEST_TURN, _STRONGEST_PUSH = 1000.0, 100.0
_TURN = 2.0 * math.pi
_WHOLE = 0.05  # of a turn, that a step is off by where a turn is over


@dataclass(frozen=True)
class _Slip:
    """A jump of a position."""

    label: str
    joint: int
    recording: int  # its number
    time: float  # s on the recording's axis
    size: float  # rad or m

    def is_with(self, other: _Slip) -> bool:
        """Return whether both are at the same instant."""
        return self.recording == other.recording and abs(self.time - other.time) < _AT_ONCE


def slip_findings(recorded: Recorded) -> list[Finding]:
    """One finding for each position that jumps beside what its velocity says.

    Where those of several joints do at once, no encoder slips: a simulation begins anew.
    """
    slips = [
        _Slip(label, joint, number, time, size)
        for joint, label in recorded.positions.items()
        for number, signals in enumerate(recorded.recordings)
        if label in signals
        for time, size, interval in _slips(
            signals[label],
            signals.get(recorded.velocities.get(joint, "")),
            turns=recorded.is_hinge(joint),
        )
        if not _was_told(recorded, signals, joint, time, size)
        and not (
            _is_unled(recorded, signals, joint)
            and _could_move(size, interval, turns=recorded.is_hinge(joint))
        )
    ]
    found: dict[str, list[_Slip]] = {}
    for one in slips:
        if not any(one.is_with(other) for other in slips if other.label != one.label):
            found.setdefault(one.label, []).append(one)
    return [_finding(recorded, own) for own in found.values()]


def _was_told(
    recorded: Recorded, signals: Mapping[str, Samples], joint: int, time: float, size: float
) -> bool:
    """Return whether an input of a joint moves at once before ``time``, as it hardly ever does."""
    times = signals[recorded.positions[joint]].times
    before = (times > time - _BEFORE) & (times <= time)
    for actuator, label in {**recorded.commands, **recorded.efforts}.items():
        arm = abs(recorded.arms(actuator).get(joint, 0.0))
        if not arm or label not in signals:
            continue
        values = signals[label].at(times)
        if label in recorded.servos.values():
            moves = np.abs(np.diff(values, prepend=values[0])) / arm
            usual = float(np.percentile(moves, 95.0))
            told = float(np.max(moves[before])) > max(_TOLD * abs(size), _UNUSUAL * usual)
        else:
            told = float(np.ptp(values[before])) >= _PUSHED * float(np.ptp(values)) > 0.0
        if told:
            return True
    return False


def _is_unled(recorded: Recorded, signals: Mapping[str, Samples], joint: int) -> bool:
    """Return whether no input of a joint was recorded."""
    inputs = {**recorded.commands, **recorded.efforts}
    return not any(
        label in signals and recorded.arms(actuator).get(joint, 0.0)
        for actuator, label in inputs.items()
    )


def _could_move(size: float, interval: float, *, turns: bool) -> bool:
    """Return whether a motor could move a joint by so much in so many seconds, and stop it."""
    strongest = _STRONGEST_TURN if turns else _STRONGEST_PUSH
    return 4.0 * abs(size) <= strongest * interval**2


def _slips(own: Samples, rate: Samples | None, *, turns: bool) -> list[tuple[float, float, float]]:
    """The instants [s] at which a position jumps, by how much, and in how many seconds.

    The largest come first.

    Args:
      own: The position.
      rate: The joint's velocity; ``None`` where it is not measured.
      turns: Whether whole turns are none.
    """
    if own.held or not len(own.times):
        return []
    times, values = _without_repeats(own.times, own.values)
    if len(times) < _FEWEST:
        return []
    steps, moved = np.diff(times), np.diff(values)
    usual, span = float(np.median(steps)), float(np.ptp(np.percentile(values, [1.0, 99.0])))
    beside = _beside(times, moved / steps, rate) * steps
    far = np.abs(beside)
    grain = float(np.min(np.abs(moved[moved != 0.0]), initial=span))
    least = max(_TIMES * float(np.percentile(far, 99.5)), _TIMES * grain, _LEAST * span)
    sure = (far > least) & (steps <= _LONGEST * usual)
    if turns:
        sure &= np.abs(far - _TURN * np.maximum(np.round(far / _TURN), 1.0)) > _WHOLE * _TURN
    places = np.flatnonzero(sure).tolist()
    found = [
        (float(times[k + 1]), _jump(times, values, k, beside[k]), float(steps[k])) for k in places
    ]
    return sorted((one for one in found if one[1]), key=lambda one: -abs(one[1]))


def _without_repeats(times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Samples without those that repeat the last one, as drivers do that have no news."""
    new = level_starts(values)
    new = new[np.concatenate([[True], np.diff(times[new]) > 0.0])]
    return times[new], values[new]


def _beside(times: FloatArray, speeds: FloatArray, rate: Samples | None) -> FloatArray:
    """The speed from each sample to the next less the nearest of those around it, (n - 1,).

    Args:
      times: Of samples, (n,) s.
      speeds: From each to the next, (n - 1,).
      rate: The measured velocity, which counts as a speed around; none where left out.
    """
    padded = np.pad(speeds, _AROUND, mode="reflect")
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * _AROUND + 1)
    around = np.delete(around, _AROUND, axis=1)
    if rate is not None:
        ends = rate.at(times)
        around = np.column_stack([around, ends[:-1], ends[1:]])
    low, high = around.min(axis=1), around.max(axis=1)
    return np.asarray(speeds - np.clip(speeds, low, high))


def _jump(times: FloatArray, values: FloatArray, k: int, least: float) -> float:
    """The size of a jump after the k-th sample, between samples farther off; zero where none stays.

    Args:
      times: Of samples, (n,) s.
      values: The position, (n,).
      k: Which one.
      least: What the step after it is beside all speeds around it.
    """
    first, last = k - _AROUND, k + 1 + _AROUND
    if first < 0 or last >= len(values):
        return 0.0
    steps = np.diff(times[first : last + 1])
    speeds = np.diff(values[first : last + 1]) / steps
    usual = float(np.median(np.delete(speeds, _AROUND)))
    moved = float(np.delete(speeds * steps, _AROUND).sum()) + usual * float(steps[_AROUND])
    gone = float(values[last] - values[first])
    stays = min((gone - moved) / least, (gone - usual * float(steps.sum())) / least) > _STAYS
    return gone - moved if stays else 0.0


def _finding(recorded: Recorded, slips: list[_Slip]) -> Finding:
    first = slips[0]
    unit = place_unit(recorded.model, first.joint)
    where = f" of recording {first.recording + 1}" if len(recorded.recordings) > 1 else ""
    more = f", and {len(slips) - 1} times more" if len(slips) > 1 else ""
    return Finding(
        FindingKind.SLIP,
        (first.label,),
        {"time": first.time, "size": first.size},
        f"{first.label!r} jumps by {first.size:.3g} {unit} at {first.time:.2f} s{where}{more}, "
        "beside what its velocity before and after says: its encoder slipped or was set anew. No "
        "parameter explains that; fit what was recorded before and after apart, with start and end "
        "of sequences, or leave the signal out.",
    )
