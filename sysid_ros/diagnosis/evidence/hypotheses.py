# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that can be told, each as the change that would undo it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded
from sysid_ros.diagnosis.evidence.sampling_mistakes import moves

DEGREE = math.pi / 180.0

OFFSETS = (0.1, 0.3, 0.5, 0.8, 1.2, math.pi / 2.0, 2.0, 2.5, math.pi)  # rad
# Gravity makes the right scale of a position stand out sharply, so that steps are small.
_NEAR = (1.25, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 2.8, 3.1, 3.5, 4.0, 5.0, 7.0, 10.0, 100.0, 1000.0)
SCALES = (*(1.0 / scale for scale in reversed(_NEAR)), *_NEAR)
SERVO_LAGS = (
    0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.055, 0.075, 0.1, 0.14, 0.2, 0.25, 0.3
)  # s  # fmt: skip
LAGS = (0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)  # s

_BAD = 0.05  # share of a torque that is unexplained where something may be wrong
_EXCHANGED = 0.3  # the same of two that may be exchanged ...
_OF_WORST = 0.5  # ... or this much of the worst one's: what one leg does wrong, all have to bear
_MOST_EXCHANGED = 6  # joints among which exchanges are looked for


@dataclass(frozen=True)
class Family:
    """Changes of one kind that differ in one number."""

    kind: FindingKind  # of the mistake
    labels: tuple[str, ...]  # the signals that change together
    # where to look first, increasing; zero size (or unit scale) is no change
    sizes: tuple[float, ...]
    # a value as recorded and what it is after any change; none where only one number changes
    kept: tuple[float, float] | None = None

    def change(self, size: float) -> Change:
        """The change of one size."""
        each = dict.fromkeys(self.labels, size)
        if self.kind is FindingKind.OFFSET:
            return Change(self.kind, offset=each)
        if self.kind is FindingKind.LAG:
            return Change(self.kind, delay=each)
        if self.kept is not None:
            recorded, after = self.kept
            return Change(self.kind, each, dict.fromkeys(self.labels, after - size * recorded))
        return Change(self.kind, scale=each)

    @property
    def scales(self) -> bool:
        """True if sizes are factors, which are searched for by the logarithm."""
        return self.kind in (FindingKind.SCALE, FindingKind.UNIT)

    def around(self, size: float) -> tuple[float, float]:
        """The places of the sizes next to one, no change among them."""
        sizes = sorted({*self.sizes, 1.0 if self.scales else 0.0})
        place = sizes.index(size)
        low, high = sizes[max(place - 1, 0)], sizes[min(place + 1, len(sizes) - 1)]
        return (math.log(low), math.log(high)) if self.scales else (low, high)

    def size_at(self, place: float) -> float:
        """The size at a place."""
        return math.exp(place) if self.scales else float(place)


@dataclass(frozen=True)
class Suspects:
    """Joints whose torques are explained badly, the worst first."""

    joints: tuple[int, ...]  # by their numbers in the model
    # unexplained share of the torque on each
    shares: Mapping[int, float] = field(default_factory=dict)
    # joints whose torque is below its noise, so that nothing shows their mistakes
    silent: frozenset[int] = frozenset()

    def worst(self) -> tuple[int, ...]:
        """Those among which an exchange is looked for, in the model's order."""
        worst = max(self.shares.values(), default=0.0)
        least = min(_EXCHANGED, _OF_WORST * worst)
        bad = [joint for joint in self.joints if self.shares[joint] > least]
        return tuple(sorted(bad[:_MOST_EXCHANGED]))

    def near(self, recorded: Recorded, joint: int) -> bool:
        """Return whether a joint, its parent or a child is explained badly, or not at all."""
        model = recorded.model
        body = int(model.jnt_bodyid[joint])
        known = [
            other
            for other in range(model.njnt)
            if other == joint
            or int(model.jnt_bodyid[other]) == int(model.body_parentid[body])
            or int(model.body_parentid[model.jnt_bodyid[other]]) == body
        ]
        shares = [self.shares.get(j, 1.0) for j in known if j not in self.silent]
        return bool(self.joints) and joint not in self.silent and max(shares, default=0.0) > _BAD


def discrete(recorded: Recorded, suspects: Suspects) -> Iterator[Change]:
    """Signs, degrees for radians and exchanged signals, of single joints and of all.

    Args:
      recorded: What was recorded.
      suspects: The joints among which mistakes are looked for.
    """
    if not suspects.joints:
        return
    efforts = tuple(recorded.efforts.values())
    joints = [joint for joint in recorded.positions if suspects.near(recorded, joint)]
    acting = tuple(
        label
        for actuator, label in recorded.efforts.items()
        if suspects.near(recorded, recorded.joint_of(actuator))
    )
    measured = [joint_labels(recorded, joint) for joint in joints]
    turned = [  # as of a joint that the model turns the other way
        (*labels, effort)
        for joint, labels in zip(joints, measured, strict=True)
        if (effort := _effort_on(recorded, joint)) is not None
    ]
    for labels in dict.fromkeys([*((one,) for one in acting), *measured, *turned, efforts]):
        yield Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0))
    hinges = [joint_labels(recorded, j) for j in joints if recorded.is_hinge(j)]
    all_hinges = [joint_labels(recorded, j) for j in recorded.positions if recorded.is_hinge(j)]
    everything = tuple(label for labels in all_hinges for label in labels)
    for labels in dict.fromkeys([*hinges, everything]):
        if labels:
            yield Change(FindingKind.DEGREES, scale=dict.fromkeys(labels, DEGREE))
            yield Change(FindingKind.DEGREES, scale=dict.fromkeys(labels, 1.0 / DEGREE))
    yield from _exchanges(recorded, suspects.worst())


def _exchanges(recorded: Recorded, joints: tuple[int, ...]) -> Iterator[Change]:
    """Exchanged torques, positions, or both, of two joints."""
    acting = [label for a, label in recorded.efforts.items() if recorded.joint_of(a) in joints]
    for pair in itertools.combinations(acting, 2):
        yield Change(FindingKind.SWAP, exchange=(pair,))
    measured = [joint for joint in joints if joint in recorded.positions]
    for first, second in itertools.combinations(measured, 2):
        own = [_effort_on(recorded, joint) for joint in (first, second)]
        torques = ((own[0], own[1]),) if own[0] is not None and own[1] is not None else ()
        if recorded.is_hinge(first) == recorded.is_hinge(second):
            pairs = joint_pairs(recorded, first, second)
            yield Change(FindingKind.SWAP, exchange=pairs)
            if torques:
                yield Change(FindingKind.SWAP, exchange=(*pairs, *torques))


def families(recorded: Recorded, suspects: Suspects) -> Iterator[Family]:
    """Offsets, scales and lags; without suspects only the lag of all torques.

    Args:
      recorded: What was recorded.
      suspects: The joints among which mistakes are looked for.
    """
    efforts = tuple(recorded.efforts.values())
    lags = (*(-lag for lag in reversed(LAGS[:7])), *LAGS)
    yield Family(FindingKind.LAG, efforts, lags)
    for joint, label in recorded.positions.items():
        if not suspects.near(recorded, joint) or not moves(recorded, joint):
            continue
        if recorded.is_hinge(joint):
            yield Family(FindingKind.OFFSET, (label,), both_ways())
        yield Family(FindingKind.SCALE, joint_labels(recorded, joint), SCALES)
    for actuator, label in recorded.efforts.items():
        if len(efforts) > 1 and suspects.near(recorded, recorded.joint_of(actuator)):
            yield Family(FindingKind.LAG, (label,), lags)
            yield Family(FindingKind.SCALE, (label,), SCALES)


def named_degrees(factor: float) -> bool:
    """Return whether a factor is that between degrees and radians."""
    return min(abs(factor / DEGREE - 1.0), abs(factor * DEGREE - 1.0)) < 0.15


def both_ways() -> tuple[float, ...]:
    """Offsets of either sign, increasing."""
    return (*(-size for size in reversed(OFFSETS)), *OFFSETS)


def offset_unit(recorded: Recorded, joint: int) -> float:
    """The unit of a joint's offsets: 1 rad, or the range of a slide, zero without one."""
    return 1.0 if recorded.is_hinge(joint) else float(np.ptp(recorded.model.jnt_range[joint]))


def joint_labels(recorded: Recorded, joint: int) -> tuple[str, ...]:
    """A joint's position and, where it is measured, its velocity."""
    position, velocity = recorded.positions[joint], recorded.velocities.get(joint)
    return (position,) if velocity is None else (position, velocity)


def joint_pairs(recorded: Recorded, first: int, second: int) -> tuple[tuple[str, str], ...]:
    """List the signals to exchange where two joints' measurements are exchanged."""
    return tuple(zip(joint_labels(recorded, first), joint_labels(recorded, second), strict=False))


def _effort_on(recorded: Recorded, joint: int) -> str | None:
    found = [label for a, label in recorded.efforts.items() if recorded.joint_of(a) == joint]
    return found[0] if len(found) == 1 else None
