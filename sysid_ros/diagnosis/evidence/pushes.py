# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pushes against an arm that stands still: its torques change and come back, its posture does not.

No parameter explains them: the force of a hand is neither measured nor a contact of the model. A
joint at rest may be held by friction, whose share of the torque drifts where a controller
integrates; so a torque counts by how far it leaves the line from where it begins to where it ends,
and one joint alone is no push.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.finding import Finding, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.evidence.stretch import Stretch
from sysid_ros.errors import listed
from sysid_ros.time_intervals import runs_of

_STEP = 0.02  # s
_SMOOTH = 11  # steps, over which torques are averaged
_SHORTEST = 1.0  # s of rest
_STILL = {True: 0.02, False: 0.004}  # rad/s of hinges, m/s of slides
_OF_ITS_OWN = 0.25  # of the range of a joint's torque in all recordings
_OF_ALL = 0.1  # of the largest torque of all joints
_JOINTS = 2


@dataclass(frozen=True)
class Push(Stretch):
    """A stretch of rest with a push."""

    change: Mapping[str, float]  # the largest change of a joint's torque, by label


def push_findings(recorded: Recorded) -> list[Finding]:
    """One finding for all pushes."""
    found = pushes(recorded)
    if not found:
        return []
    change: dict[str, float] = {}
    for push in found:
        for label, size in push.change.items():
            change[label] = max(size, change.get(label, 0.0))
    several = len(recorded.recordings) > 1
    when = [push.words(several=several) for push in found]
    named = max(change, key=lambda label: change[label])
    return [
        Finding(
            FindingKind.PUSH,
            tuple(change),
            {"pushes": float(len(found)), "largest": change[named]},
            f"Something pushes the robot while it stands still ({listed(when)}): the torques of "
            f"{len(change)} joints come and go, that of {named!r} by {change[named]:.3g}. No "
            "parameter explains that; leave the stretches out, with start and end of a sequence "
            "or a field as enabled_when.",
        )
    ]


def pushes(recorded: Recorded) -> list[Push]:
    """Stretches in which a robot stands still and the torques of several joints come and go.

    Returns:
      None where not all positions and the torques of two joints are measured.
    """
    efforts = sorted({*recorded.efforts.values()})
    if not recorded.all_positions or len(efforts) < _JOINTS:
        return []
    pooled = {one: np.concatenate([p.values for p in recorded.pooled(one)]) for one in efforts}
    largest = max(float(np.abs(values).max()) for values in pooled.values())
    least = {one: _OF_ITS_OWN * float(np.ptp(values)) for one, values in pooled.items()}
    found = []
    for i, signals in enumerate(recorded.recordings):
        if not all(label in signals for label in (*recorded.all_positions, *efforts)):
            continue
        for times in _rests(recorded, signals):
            away = {one: _beyond_line(_smooth(signals[one].at(times))) for one in efforts}
            change = {one: float(away[one].max()) for one in efforts}
            change = {one: size for one, size in change.items() if size > least[one]}
            if len(change) < _JOINTS or max(change.values()) < _OF_ALL * largest:
                continue
            much = np.max([away[one] / size for one, size in change.items()], axis=0) > 0.5
            inside = times[_SMOOTH // 2 :][: len(much)][much]
            found.append(Push(i, float(inside[0]), float(inside[-1]), False, change))
    return found


def _rests(recorded: Recorded, signals: Mapping[str, Samples]) -> Iterator[FloatArray]:
    """Instants of every stretch in which no joint moves."""
    labels = recorded.all_positions
    begin = max(signals[label].times[0] for label in labels)
    times = np.arange(begin, min(signals[label].times[-1] for label in labels), _STEP)
    if len(times) <= 2 * _SMOOTH:
        return
    still = np.ones(len(times), dtype=np.bool_)
    for joint, label in enumerate(labels):
        speed = np.gradient(_smooth(signals[label].at(times), "same"), _STEP)
        still[_SMOOTH:-_SMOOTH] &= (
            np.abs(speed)[_SMOOTH:-_SMOOTH] < _STILL[recorded.is_hinge(joint)]
        )
    for first, behind in runs_of(still):
        inside = times[first + _SMOOTH : behind - _SMOOTH]  # less how a motion ends and begins
        if len(inside) * _STEP >= _SHORTEST:
            yield inside


def _smooth(values: FloatArray, ends: str = "valid") -> FloatArray:
    window = np.full(_SMOOTH, 1.0 / _SMOOTH)
    return np.asarray(np.convolve(values, window, "same" if ends == "same" else "valid"))


def _beyond_line(values: FloatArray) -> FloatArray:
    """The distance from the line between the first and the last value."""
    return np.abs(values - np.linspace(values[0], values[-1], len(values)))
