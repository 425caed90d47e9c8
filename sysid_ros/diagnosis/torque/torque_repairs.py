# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs that were tried, and what is told of the best."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sysid_ros.diagnosis.evidence import (
    LAGS,
    Change,
    Explanation,
    FindingKind,
    Recorded,
    keeps_to_ranges,
    lag_interval,
    motion_range,
    named_degrees,
    repaired,
    resolution_of,
    size_interval,
)
from sysid_ros.diagnosis.fits import Misfit
from sysid_ros.diagnosis.torque.dynamics import Dynamics

_SMALLEST_OFFSET = 0.04  # rad
_SMALLEST_FACTOR = 1.25
_SMALLEST_LAG = 0.004  # s
_LARGEST_LAG = 0.98 * LAGS[-1]  # s; there the best lag would be longer still
# Motion of a joint whose position may be in another unit.
_LEAST_TURN = math.radians(10.0)
_LEAST_TRAVEL = 0.01  # m
_MOST_TRIED = 6  # hypotheses that are scored at all instants
_SAME = 1.1  # ratio of powers up to which two repairs are as good as each other
_PLAIN = (2, 3, 4)  # factors that drivers mistake ...
_WHOLE = 0.02  # ... and how near to them a factor found is
PROMISING = 0.8  # ratio of powers at a glance
_ORDER = (
    FindingKind.SIGN,
    FindingKind.DEGREES,
    FindingKind.SWAP,
    FindingKind.OFFSET,
    FindingKind.SCALE,
    FindingKind.LAG,
)  # of equally good explanations, the first


@dataclass(frozen=True)
class Tried:
    """A repair with its size and what it leaves."""

    change: Change
    size: float
    misfit: Misfit

    @property
    def share(self) -> float:
        """Residual with this repair over the torque's variation, 0 to 1."""
        return self.misfit.share


def exact(test: Dynamics, before: Misfit, glance: Misfit, seen: list[Tried]) -> list[Tried]:
    """Those that promise something at a glance, scored at all instants, the best first."""
    promising = [one for one in seen if one.misfit.ratio(glance) < PROMISING]
    promising.sort(key=lambda one: one.share)
    exact = [replace(one, misfit=test.misfit(one.change)) for one in promising[:_MOST_TRIED]]
    exact = [one for one in exact if one.misfit.ratio(before) < PROMISING]
    return sorted(exact, key=lambda one: one.share)


def matters(one: Tried, recorded: Recorded) -> bool:
    """Return whether a repair is by a size that matters, and leaves a joint where it can be."""
    kind, size = one.change.kind, one.size
    if kind is FindingKind.OFFSET:
        return abs(size) >= _SMALLEST_OFFSET and keeps_to_ranges(recorded, one.change.offset)
    if kind is FindingKind.SCALE:
        return max(size, 1.0 / size) >= _SMALLEST_FACTOR and _still_moves(recorded, one.change)
    if kind is FindingKind.LAG:
        return max(_SMALLEST_LAG, 0.75 * recorded.interval) <= abs(size) < _LARGEST_LAG
    return kind is not FindingKind.DEGREES or _still_moves(recorded, one.change)


def _still_moves(recorded: Recorded, change: Change) -> bool:
    """Return whether a joint moves in the other unit: one that hardly does obeys any model."""
    joints = [joint for joint, label in recorded.positions.items() if label in change.signals]
    after = repaired(recorded, change)
    least = {j: _LEAST_TURN if recorded.is_hinge(j) else _LEAST_TRAVEL for j in joints}
    return not joints or any(motion_range(after, j)[0] >= least[j] for j in joints)


def is_degrees(recorded: Recorded, one: Tried) -> bool:
    """Return whether a position's scale is that of degrees, which are a hypothesis of their own."""
    positions = {*recorded.positions.values()}
    scaled = one.change.kind is FindingKind.SCALE and positions & {*one.change.signals}
    return bool(scaled) and named_degrees(one.size)


def explanation_of(
    recorded: Recorded, test: Dynamics, before: Misfit, accepted: list[Tried]
) -> Explanation:
    """The simplest of the best, and what is as good."""
    least = min(one.share for one in accepted)
    equal = [one for one in accepted if one.share**2 <= _SAME * least**2 + 1e-8]
    best = min(equal, key=_simplicity)
    kind = best.change.kind
    others = tuple(
        other.change
        for other in equal
        if other is not best and other.change.kind is kind and kind is not FindingKind.LAG
    )
    interval = (
        lag_interval(
            best.change, best.size, test.misfit, resolution_of(recorded, best.change.signals)
        )
        if kind is FindingKind.LAG
        else size_interval(best.change, best.size, test.misfit)
    )
    return Explanation(best.change, best.size, before.share, best.share, interval, others)


def _simplicity(one: Tried) -> tuple[int, float, float]:
    """The order of explanations: few signals, then plain kinds, then what is left.

    An offset may be any number, so that a factor of a small whole one comes before it.
    """
    place: float = _ORDER.index(one.change.kind)
    if one.change.kind is FindingKind.SCALE:
        factor = max(one.size, 1.0 / one.size)
        if abs(factor / round(factor) - 1.0) < _WHOLE and round(factor) in _PLAIN:
            place = _ORDER.index(FindingKind.OFFSET) - 0.5
    return len(one.change.signals), place, one.share
