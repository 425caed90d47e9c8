# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured positions against measured velocities, and against the ranges of their joints."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.filtered import filtered
from sysid_ros.diagnosis.finding import Change, Finding, FindingKind
from sysid_ros.diagnosis.hypotheses import DEGREE, joint_labels, named_degrees
from sysid_ros.diagnosis.recorded import Recorded

_RELATED = 0.9  # correlation from which a velocity is a position's derivative
_UNRELATED = 0.6  # below which it is not
_FACTOR = 1.15  # a scale further from one is wrong
_SMALLEST_LAG = 0.004  # s
_LEAST_ROWS = 100
_BEYOND = 0.05  # of a range, that stops give way by and that drawings are wrong by
_OFTEN = 0.2  # of the samples; fewer are a stop that was run into
_TOO_WIDE, _FITS = 2.0, 1.1  # ranges that no motion spans, and that one may in its own unit
_NARROW = 0.12  # rad; a narrower range may be one of radians that is read in degrees
_MILLI = 1e-3
_ALIKE = 0.1  # by which a ratio of ranges may differ from that of a degree to a radian


@dataclass(frozen=True)
class Disagreement:
    """A position and a velocity that contradict each other.

    Attributes:
      candidates: What would reconcile them, the more probable first.
      correlation: Of the velocity with the derivative it should be.
      slope: Velocity per derivative.
    """

    candidates: tuple[Change, ...]
    correlation: float
    slope: float

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
        candidates = _candidates(position, velocity, slope)
        if candidates:
            return Disagreement(candidates, float(table[i, i]), slope)
    return None


def _candidates(position: str, velocity: str, slope: float) -> tuple[Change, ...]:
    """List the mistakes that a slope other than one can mean."""
    size = abs(slope)
    if named_degrees(size):
        wrong = velocity if size > 1.0 else position
        return (Change(FindingKind.DEGREES, scale={wrong: DEGREE}),)
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
    """How far a signal of a joint moves, and its joint's range, 0 without one (rad or m)."""

    joint: int
    label: str
    span: float
    width: float

    def is_in(self, unit: float, *, narrowest: float, least: float) -> bool:
        """Return whether a range fits a signal in another unit only.

        Args:
          unit: That unit in the model's.
          narrowest: The least width of a range that tells.
          least: The share of it that a motion must span in that unit.
        """
        beyond = self.span > _TOO_WIDE * self.width and self.width > narrowest
        return beyond and least < unit * self.span / (_FITS * self.width) < 1.0


def other_units(recorded: Recorded, topics: Mapping[str, str]) -> list[tuple[Change, str]]:
    """Find positions, and what servos are asked for, in degrees or millimetres, by joints' ranges.

    A topic has one unit for its hinges and one for its slides: those without a range, and those
    that moved little, go with the others.

    Args:
      recorded: The recordings.
      topics: The topic of each signal by its label.

    Returns:
      Repairs, each with its grounds.
    """
    alike: dict[tuple[str, bool], list[_Reach]] = {}
    for one in _reaches(recorded):
        key = topics.get(one.label, one.label), recorded.is_hinge(one.joint)
        alike.setdefault(key, []).append(one)
    found: dict[bool, tuple[dict[str, float], list[_Reach]]] = {}
    for (_, hinges), signals in alike.items():
        unit = DEGREE if hinges else _MILLI
        narrowest, least = (_NARROW, 0.0) if hinges else (0.0, 0.1)  # centimetres fit below
        beyond = [one for one in signals if one.is_in(unit, narrowest=narrowest, least=least)]
        if beyond:
            most = 2 * len(beyond) >= sum(one.width > 0.0 for one in signals)
            scale, seen = found.setdefault(hinges, ({}, []))
            scale |= dict.fromkeys(_labels(recorded, signals if most else beyond), unit)
            seen += beyond
    return [
        (
            Change(FindingKind.DEGREES if hinges else FindingKind.MILLIMETRES, scale=scale),
            _grounds(max(seen, key=lambda one: one.span / one.width), hinges=hinges),
        )
        for hinges, (scale, seen) in found.items()
    ]


def _reaches(recorded: Recorded) -> list[_Reach]:
    """Of every measured position and every position that a joint's servo is asked for."""
    model = recorded.model
    asked = [(recorded.joint_of(servo), label) for servo, label in recorded.servos.items()]
    found = []
    for joint, label in [*recorded.positions.items(), *asked]:
        if parts := [one.values for one in recorded.pooled(label)]:
            span = float(np.ptp(np.percentile(np.concatenate(parts), [1.0, 99.0])))
            width = float(np.ptp(model.jnt_range[joint])) if model.jnt_limited[joint] else 0.0
            found.append(_Reach(joint, label, span, width))
    return found


def _labels(recorded: Recorded, signals: Sequence[_Reach]) -> list[str]:
    """Signals, and the velocities that agree with those that are positions."""
    found = []
    for one in signals:
        own = joint_labels(recorded, one.joint) if one.joint in recorded.positions else ()
        found += own if one.label in own else (one.label,)
    return found


def _grounds(one: _Reach, *, hinges: bool) -> str:
    unit, other = ("rad", "degrees") if hinges else ("m", "millimetres")
    return (
        f"As recorded, {one.label!r} spans {one.span:.3g} {unit}, and the model's range "
        f"{one.width:.3g}; {other} fit into it."
    )


def beyond_ranges(recorded: Recorded) -> list[Finding]:
    """Find joints that were beyond their range in much of what was recorded.

    A simulation pushes them back to it, with whatever force that takes.

    Args:
      recorded: The recordings, repaired as far as mistakes are known.
    """
    found = []
    for joint, label in recorded.positions.items():
        samples = recorded.pooled(label)
        low, high = (float(end) for end in recorded.model.jnt_range[joint])
        if not recorded.model.jnt_limited[joint] or not samples:
            continue
        values = np.concatenate([one.values for one in samples])
        reach = _BEYOND * (high - low)
        share = float(np.mean((values < low - reach) | (values > high + reach)))
        if share > _OFTEN:
            found.append(_left_range(recorded, joint, label, values.min(), values.max(), share))
    return found


def _left_range(
    recorded: Recorded, joint: int, label: str, lowest: float, highest: float, share: float
) -> Finding:
    low, high = (float(end) for end in recorded.model.jnt_range[joint])
    unit = "rad" if recorded.is_hinge(joint) else "m"
    sentence = (
        f"{recorded.joint_name(joint)!r} was beyond the model's range in {100.0 * share:.3g} % of "
        f"the samples. It went from {lowest:.3g} to {highest:.3g} {unit}, and the model stops it "
        f"at {low:.3g} and {high:.3g}."
    )
    if _told_in_degrees(recorded, joint):
        sentence += (
            " The range of its servo's commands is 57 times as wide: the model file has radians "
            'and is read in degrees, as it lacks <compiler angle="radian"/>.'
        )
    evidence = {"share": share, "lowest": float(lowest), "highest": float(highest)}
    return Finding(FindingKind.RANGE, (label,), evidence, sentence, "", ())


def _told_in_degrees(recorded: Recorded, joint: int) -> bool:
    """Return whether a servo of a hinge may be asked for as many radians as it has degrees."""
    model = recorded.model
    width = float(np.ptp(model.jnt_range[joint]))
    servos = [
        actuator for actuator in recorded.servos
        if model.actuator_ctrllimited[actuator] and recorded.joint_of(actuator) == joint
    ]  # fmt: skip
    if not recorded.is_hinge(joint):
        return False
    ratios = [float(np.ptp(model.actuator_ctrlrange[one])) / max(width, 1e-9) for one in servos]
    return any(abs(ratio * DEGREE - 1.0) < _ALIKE for ratio in ratios)
