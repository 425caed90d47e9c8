# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Check that measured velocities are the derivatives of measured positions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import (
    DEGREE,
    Change,
    FindingKind,
    Recorded,
    filtered,
    named_degrees,
)

_RELATED = 0.9  # correlation from which a velocity is a position's derivative
_UNRELATED = 0.6  # below which it is not
_FACTOR = 1.15  # a scale further from one is wrong
_SMALLEST_LAG = 0.004  # s
_LEAST_ROWS = 100


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
