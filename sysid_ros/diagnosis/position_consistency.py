# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured positions against measured velocities, and units by the ranges of joints."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    DECISIVE,
    DEGREE,
    Change,
    FindingKind,
    Recorded,
    filtered,
    joint_labels,
    named_degrees,
)
from sysid_ros.diagnosis.torque import Dynamics
from sysid_ros.errors import listed
from sysid_ros.experiment import UNITS
from sysid_ros.recording.mapping import DEGREES

_RELATED = 0.9  # correlation from which a velocity is a position's derivative
_UNRELATED = 0.6  # below which it is not
_FACTOR = 1.15  # a scale further from one is wrong
_SURELY = 0.02  # a scale that near to one of turns is one
_LEAST_ROWS = 100
_TOO_WIDE, _FITS = 2.0, 1.1  # ranges that no motion spans, and that one may in its own unit
_NARROW = 0.12  # rad; a narrower range may be one of radians that is read in degrees
_MILLI = 1e-3


@dataclass(frozen=True)
class Disagreement:
    """A position and a velocity that contradict each other."""

    candidates: tuple[Change, ...]  # what would reconcile them, the more probable first
    correlation: float  # of the velocity with the derivative it should be
    slope: float  # velocity per derivative

    def sentence(self, change: Change) -> str:
        """The grounds for one of the candidates."""
        if change.exchange:
            return (
                "Each measured velocity is the derivative of the other joint's position "
                f"(correlation with that of its own: {self.correlation:.2g})."
            )
        return (
            f"The measured velocity is {self.slope:.3g} times the derivative of the measured "
            f"position (correlation {self.correlation:.3g})."
        )


def disagreement(recorded: Recorded) -> Disagreement | None:
    """The first contradiction between the positions and velocities of joints."""
    joints = [joint for joint in recorded.positions if joint in recorded.velocities]
    if not joints:
        return None
    labels = [recorded.positions[j] for j in joints] + [recorded.velocities[j] for j in joints]
    data = filtered(recorded, labels, _LEAST_ROWS)
    if data is None:
        return None
    slopes = np.stack([data.rate[recorded.positions[joint]] for joint in joints])
    velocities = np.stack([data.value[recorded.velocities[joint]] for joint in joints])
    table = _correlations(velocities, slopes)
    exchanged = _exchanged(recorded, joints, np.abs(table))
    if exchanged is not None:
        return exchanged
    for i, joint in enumerate(joints):
        if abs(table[i, i]) < _RELATED:
            continue
        slope = float(velocities[i] @ slopes[i] / (slopes[i] @ slopes[i]))
        position, velocity = recorded.positions[joint], recorded.velocities[joint]
        candidates = _candidates(position, velocity, slope, hinge=recorded.is_hinge(joint))
        if candidates:
            return Disagreement(candidates, float(table[i, i]), slope)
    return None


def _candidates(position: str, velocity: str, slope: float, *, hinge: bool) -> tuple[Change, ...]:
    """List the mistakes that a slope other than one can mean."""
    size = abs(slope)
    wrong = velocity if size > 1.0 else position
    if named_degrees(size):
        return (Change(FindingKind.DEGREES, scale={wrong: DEGREE}),)
    if not hinge and 1.0 / _FACTOR < _MILLI * max(size, 1.0 / size) < _FACTOR:
        return (Change(FindingKind.MILLIMETRES, scale={wrong: _MILLI}),)
    for label, unit, factor in ((velocity, "rpm", 1.0 / size), (position, "rev", size)):
        if hinge and abs(factor / UNITS[unit] - 1.0) < _SURELY:  # gears of 10 and of 6 are near
            return (Change(FindingKind.UNIT, scale={label: UNITS[unit]}),)
    if max(size, 1.0 / size) > _FACTOR:
        return (
            Change(FindingKind.SCALE, scale={velocity: 1.0 / size}),
            Change(FindingKind.SCALE, scale={position: size}),
        )
    if slope < 0.0:
        return (
            Change(FindingKind.SIGN, scale={velocity: -1.0}),
            Change(FindingKind.SIGN, scale={position: -1.0}),
        )
    return ()


def _exchanged(recorded: Recorded, joints: list[int], related: FloatArray) -> Disagreement | None:
    """Two velocities each of which is the derivative of the other joint's position."""
    for i, k in itertools.combinations(range(len(joints)), 2):
        own = max(related[i, i], related[k, k])
        if min(related[i, k], related[k, i]) > _RELATED and own < _UNRELATED:
            candidates = tuple(
                Change(FindingKind.SWAP, exchange=((labels[joints[i]], labels[joints[k]]),))
                for labels in (recorded.velocities, recorded.positions)
            )
            return Disagreement(candidates, float(related[i, i]), 1.0)
    return None


def _correlations(first: FloatArray, second: FloatArray) -> FloatArray:
    """Cosine between every row of one and every row of the other."""
    return np.asarray(
        (first @ second.T)
        / np.maximum(
            np.linalg.norm(first, axis=1)[:, None] * np.linalg.norm(second, axis=1)[None, :], 1e-300
        )
    )


@dataclass(frozen=True)
class _Reach:
    """The span of a signal of a joint, and its joint's range, 0 without one (rad or m)."""

    joint: int
    label: str
    span: float
    width: float
    turn: float  # what it jumps by where a turn is over, 0 where it does not

    def is_in(self, unit: float, *, narrowest: float, least: float) -> bool:
        """Return whether a range fits a signal in another unit only.

        Args:
          unit: That unit in the model's.
          narrowest: The least width of a range that tells.
          least: The share of it that a motion must span in that unit.
        """
        if self.turn:
            return self.turn == DEGREES
        return self._is_too_wide(narrowest) and least < self._share_in(unit) < 1.0

    def is_in_neither(self, unit: float, *, narrowest: float) -> bool:
        """Return whether a range fits a signal neither as it is nor in another unit."""
        return not self.turn and self._is_too_wide(narrowest) and self._share_in(unit) >= 1.0

    def _is_too_wide(self, narrowest: float) -> bool:
        return self.span > _TOO_WIDE * self.width and self.width > narrowest

    def _share_in(self, unit: float) -> float:
        return unit * self.span / (_FITS * self.width)


def other_units(
    recorded: Recorded,
    topics: Mapping[str, str],
    turned: Mapping[str, float],
    told: Collection[str] = (),
) -> list[tuple[Change, str]]:
    """Find positions, and what servos of their joints are asked for, in degrees or millimetres.

    That is told by the ranges of joints, which commands may leave and positions hardly, unless
    measured torques deny it: a joint may turn on, whatever its range. A topic has one unit for its
    hinges and one for its slides: joints without a range, and those that moved little, go with the
    others.

    Args:
      recorded: The recordings.
      topics: The topic of each signal by its label.
      turned: What positions jump by where a turn is over, by label.
      told: Signals whose own unit is known: what is converted from revolutions, say, is a motor's
        behind a gear rather than degrees of revolutions.

    Returns:
      Repairs, each with its grounds.
    """
    found = []
    for hinges in (True, False):
        own = [
            (joint, label)
            for joint, label in recorded.positions.items()
            if recorded.is_hinge(joint) == hinges and label not in told
        ]
        positions = _in_other_unit(recorded, own, topics, turned, hinges=hinges)
        # No slide is asked for a hundred times its range; hinges are, for a few times.
        joints = {one.joint for one in positions} if hinges else {joint for joint, _ in own}
        asked = [
            (recorded.joint_of(servo), label)
            for servo, label in recorded.servos.items()
            if recorded.model.actuator_gear[servo, 0] == 1.0  # a screw is asked for turns
            if label not in told
        ]
        commands = _in_other_unit(
            recorded, [one for one in asked if one[0] in joints], topics, {}, hinges=hinges
        )
        if not (positions or commands):
            continue
        labels = [label for one in positions for label in joint_labels(recorded, one.joint)]
        labels += [one.label for one in commands]
        kind, unit = (FindingKind.DEGREES, DEGREE) if hinges else (FindingKind.MILLIMETRES, _MILLI)
        widest = max(
            positions or commands,
            key=lambda one: (one.turn == DEGREES, one.span / one.width if one.width else 0.0),
        )
        change = Change(kind, scale=dict.fromkeys(labels, unit))
        grounds = _grounds(widest, hinges=hinges)
        if led := [repr(one.label) for one in (*positions, *commands) if not one.width]:
            grounds += f" {listed(led)} may be otherwise: no range tells, but the topic's others."
        found.append((change, grounds))
    return _not_denied(recorded, found)


def _not_denied(recorded: Recorded, found: list[tuple[Change, str]]) -> list[tuple[Change, str]]:
    """Repairs, less those that leave more of the measured torques unexplained."""
    dynamics = Dynamics.of(recorded) if found else None
    if dynamics is None:
        return found
    left = dynamics.misfit()
    return [one for one in found if left.ratio(dynamics.misfit(one[0])) > DECISIVE]


def _in_other_unit(
    recorded: Recorded,
    signals: Sequence[tuple[int, str]],
    topics: Mapping[str, str],
    turned: Mapping[str, float],
    *,
    hinges: bool,
) -> list[_Reach]:
    """Those of some signals, each with its joint, that are in degrees or millimetres."""
    unit = DEGREE if hinges else _MILLI
    narrowest, least = (_NARROW, 0.0) if hinges else (0.0, 0.1)  # centimetres fit below
    alike: dict[str, list[_Reach]] = {}
    for joint, label in signals:
        alike.setdefault(topics.get(label, label), []).append(
            _reach(recorded, joint, label, turned.get(label, 0.0))
        )
    found = []
    for own in alike.values():
        if any(one.is_in_neither(unit, narrowest=narrowest) for one in own):
            continue  # the topic has another unit: an encoder's counts, say
        beyond = [one for one in own if one.is_in(unit, narrowest=narrowest, least=least)]
        most = 2 * len(beyond) > sum(one.width > 0.0 for one in own)
        found += own if beyond and most else beyond
    return found


def _reach(recorded: Recorded, joint: int, label: str, turn: float) -> _Reach:
    model = recorded.model
    values = np.concatenate([one.values for one in recorded.pooled(label)])
    span = float(np.ptp(np.percentile(values, [1.0, 99.0])))
    width = float(np.ptp(model.jnt_range[joint])) if model.jnt_limited[joint] else 0.0
    return _Reach(joint, label, span, width, turn)


def _grounds(one: _Reach, *, hinges: bool) -> str:
    if one.turn == DEGREES:
        return f"As recorded, {one.label!r} jumps by 360 where a turn is over."
    unit, other = ("rad", "degrees") if hinges else ("m", "millimetres")
    return (
        f"As recorded, {one.label!r} spans {one.span:.3g} {unit}, and the model's range "
        f"{one.width:.3g}; {other} fit into it."
    )
