# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that inverse dynamics can tell, each as the change that would undo it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from sysid_ros.diagnosis.finding import Change, FindingKind
from sysid_ros.diagnosis.recorded import Recorded
from sysid_ros.diagnosis.sampling_mistakes import moves

DEGREE = math.pi / 180.0

OFFSETS = (0.1, 0.3, 0.5, 0.8, 1.2, math.pi / 2.0, 2.0, 2.5, math.pi)  # rad
# Gravity makes the right scale of a position stand out sharply, so that steps are small.
_NEAR = (1.25, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5, 2.8, 3.1, 3.5, 4.0, 5.0, 7.0, 10.0, 100.0, 1000.0)
SCALES = (*(1.0 / scale for scale in reversed(_NEAR)), *_NEAR)
SERVO_LAGS = (
    0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.055, 0.075, 0.1, 0.14, 0.2, 0.25, 0.3
)  # s  # fmt: skip
LAGS = (0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3)  # s


@dataclass(frozen=True)
class Family:
    """Changes of one kind that differ in one number.

    Attributes:
      kind: Of the mistake.
      labels: The signals that change together.
      sizes: Where to look first, increasing; zero size (or unit scale) is no change.
    """

    kind: FindingKind
    labels: tuple[str, ...]
    sizes: tuple[float, ...]

    def change(self, size: float) -> Change:
        """The change of one size."""
        each = dict.fromkeys(self.labels, size)
        if self.kind is FindingKind.OFFSET:
            return Change(self.kind, offset=each)
        if self.kind is FindingKind.LAG:
            return Change(self.kind, delay=each)
        return Change(self.kind, scale=each)


def discrete(recorded: Recorded) -> Iterator[Change]:
    """Signs, degrees for radians and exchanged signals, of single joints and of all."""
    efforts = tuple(recorded.efforts.values())
    joints = [joint_labels(recorded, joint) for joint in recorded.positions]
    groups = [*((effort,) for effort in efforts), *joints, efforts]
    for labels in dict.fromkeys(groups):
        yield Change(FindingKind.SIGN, scale=dict.fromkeys(labels, -1.0))
    hinges = [joint_labels(recorded, j) for j in recorded.positions if recorded.is_hinge(j)]
    everything = tuple(label for labels in hinges for label in labels)
    for labels in dict.fromkeys([*hinges, everything]):
        if labels:
            yield Change(FindingKind.DEGREES, scale=dict.fromkeys(labels, DEGREE))
            yield Change(FindingKind.DEGREES, scale=dict.fromkeys(labels, 1.0 / DEGREE))
    for one, other in itertools.combinations(efforts, 2):
        yield Change(FindingKind.SWAP, exchange=((one, other),))
    for first, second in itertools.combinations(recorded.positions, 2):
        if recorded.is_hinge(first) == recorded.is_hinge(second):
            pairs = joint_pairs(recorded, first, second)
            yield Change(FindingKind.SWAP, exchange=pairs)
            acting = [_effort_on(recorded, joint) for joint in (first, second)]
            if acting[0] is not None and acting[1] is not None:
                yield Change(FindingKind.SWAP, exchange=(*pairs, (acting[0], acting[1])))


def families(recorded: Recorded) -> Iterator[Family]:
    """Offsets, scales and lags."""
    efforts = tuple(recorded.efforts.values())
    for joint, label in recorded.positions.items():
        if not moves(recorded, joint):
            continue
        if recorded.is_hinge(joint):
            yield Family(FindingKind.OFFSET, (label,), both_ways())
        yield Family(FindingKind.SCALE, joint_labels(recorded, joint), SCALES)
    groups = [efforts, *((effort,) for effort in efforts)] if len(efforts) > 1 else [efforts]
    lags = (*(-lag for lag in reversed(LAGS[:7])), *LAGS)
    for labels in groups:
        yield Family(FindingKind.LAG, labels, lags)
        if len(labels) == 1 and len(efforts) > 1:
            yield Family(FindingKind.SCALE, labels, SCALES)


def both_ways() -> tuple[float, ...]:
    """Offsets of either sign, increasing."""
    return (*(-size for size in reversed(OFFSETS)), *OFFSETS)


def joint_labels(recorded: Recorded, joint: int) -> tuple[str, ...]:
    """A joint's position and, where it is measured, its velocity."""
    position, velocity = recorded.positions[joint], recorded.velocities.get(joint)
    return (position,) if velocity is None else (position, velocity)


def joint_pairs(recorded: Recorded, first: int, second: int) -> tuple[tuple[str, str], ...]:
    """List the signals to exchange where two joints' measurements are exchanged."""
    pairs = zip(joint_labels(recorded, first), joint_labels(recorded, second), strict=False)
    return tuple(pairs)


def _effort_on(recorded: Recorded, joint: int) -> str | None:
    found = [label for a, label in recorded.efforts.items() if recorded.joint_of(a) == joint]
    return found[0] if len(found) == 1 else None
