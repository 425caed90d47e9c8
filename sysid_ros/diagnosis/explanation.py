# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finds the changes that recordings ask for, by letting hypotheses compete.

Every hypothesis is scored with the same statistic: what the best possible robot leaves
unexplained. A mistake is reported only if undoing it explains much more than
doing nothing, in most stretches of the recordings, and by a size that matters. A wrong nominal
model cannot cause that, because the model's masses and frictions do not enter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from sysid_ros.diagnosis.finding import Change, FindingKind
from sysid_ros.diagnosis.hypotheses import DEGREE, LAGS, Family
from sysid_ros.diagnosis.misfit import Misfit
from sysid_ros.diagnosis.recorded import Recorded

_BETTER_BLOCKS = 0.75  # of the stretches, in which a repair must be better
_SAME = 1.1  # ratio of powers up to which two repairs are as good as each other
LIMITS = {  # of the power that a repair may leave, relative to doing nothing
    FindingKind.SIGN: 0.6,
    FindingKind.DEGREES: 0.6,
    FindingKind.SWAP: 0.5,
    FindingKind.OFFSET: 0.7,
    FindingKind.SCALE: 0.6,
    FindingKind.LAG: 0.6,
}
_VISIBLE = {  # share that is unexplained as recorded, at the least
    FindingKind.SIGN: 0.1,
    FindingKind.DEGREES: 0.1,
    FindingKind.SWAP: 0.1,
    FindingKind.OFFSET: 0.05,
    FindingKind.SCALE: 0.1,
    FindingKind.LAG: 0.0,
}
_ORDER = tuple(LIMITS)  # of equally good explanations, the first
_SMALLEST_OFFSET = 0.04  # rad
_SMALLEST_FACTOR = 1.25
_SMALLEST_LAG = 0.004  # s
_LARGEST_LAG = 0.98 * LAGS[-1]  # s; there the best lag would be longer still
_RESAMPLES = 200


@dataclass(frozen=True)
class Explanation:
    """A repair, how good it is, and what is as good.

    Attributes:
      change: The repair.
      size: Its number: an offset, a factor, a lag; 0 where it has none.
      before: Unexplained share of the torques without the repair.
      after: The same with it.
      interval: 95 % interval of the size; ``None`` where it has none.
      alternatives: Other single repairs that explain the recordings as well.
    """

    change: Change
    size: float
    before: float
    after: float
    interval: tuple[float, float] | None = None
    alternatives: tuple[Change, ...] = ()


class Test(Protocol):
    """Scores repairs."""

    def misfit(self, *changes: Change) -> Misfit:
        """Return the share left unexplained after some repairs."""


def best_explanation(
    test: Test,
    single: Iterable[Change],
    sized: Iterable[Family],
    recorded: Recorded,
    *,
    unexplained: float,
    limits: Mapping[FindingKind, float] = LIMITS,
) -> Explanation | None:
    """The repair that explains the recordings best.

    Args:
      test: What scores repairs.
      single: Repairs without a size.
      sized: Repairs with one.
      recorded: What was recorded.
      unexplained: What a repair may leave at most; above, the test says too little.
      limits: Of the power that a repair may leave, relative to doing nothing.

    Returns:
      ``None`` where nothing explains them clearly better than they are.
    """
    score = test.misfit
    before = score()
    scored = [(change, 0.0, score(change)) for change in single]
    scored += [
        (family.change(size), size, misfit)
        for family in sized
        for size, misfit in [best_of(family, score, before)]
    ]
    accepted = [
        (change, size, misfit)
        for change, size, misfit in scored
        if misfit.share < unexplained
        and _accepted(change.kind, size, misfit, before, recorded, limits)
    ]
    if not accepted:
        return None
    accepted = [entry for entry in accepted if not _is_degrees(entry, accepted)]
    least = min(entry[2].share for entry in accepted)
    equal = [entry for entry in accepted if entry[2].share ** 2 <= _SAME * least**2 + 1e-8]
    change, size, misfit = min(equal, key=_simplicity)
    return Explanation(
        change,
        size,
        before.share,
        misfit.share,
        size_interval(change, size, score, 0.1 * recorded.interval),
        tuple(
            other
            for other, _, _ in equal
            if other is not change and other.kind is change.kind and change.delay == {}
        ),
    )


def _is_degrees(
    entry: tuple[Change, float, Misfit], accepted: Sequence[tuple[Change, float, Misfit]]
) -> bool:
    """Return whether a scale is that of degrees, which are among the accepted repairs."""
    change, size, _ = entry
    return change.kind is FindingKind.SCALE and any(
        other.kind is FindingKind.DEGREES
        and other.signals == change.signals
        and named_degrees(size)
        and (size > 1.0) == (next(iter(other.scale.values())) > 1.0)
        for other, _, _ in accepted
    )


def together(explanations: Sequence[Explanation]) -> list[Explanation]:
    """Explanations with those joined that say the same of several signals.

    Args:
      explanations: Of signals that are different.
    """
    joined: list[Explanation] = []
    for one in explanations:
        for place, other in enumerate(joined):
            if _same_mistake(one, other):
                joined[place] = _joined(other, one)
                break
        else:
            joined.append(one)
    return joined


def _same_mistake(one: Explanation, other: Explanation) -> bool:
    kind = one.change.kind
    if kind is not other.change.kind or kind is FindingKind.SWAP:
        return False
    if not one.size:
        return {*one.change.scale.values()} == {*other.change.scale.values()}
    if one.interval is None or other.interval is None:
        return False
    return one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]


def _joined(one: Explanation, other: Explanation) -> Explanation:
    """Two explanations as one, with the mean of their sizes and what both are sure of."""
    labels = (*one.change.signals, *other.change.signals)
    interval = None
    size = 0.5 * (one.size + other.size)
    if one.interval is not None and other.interval is not None:
        interval = max(one.interval[0], other.interval[0]), min(one.interval[1], other.interval[1])
        size = min(max(size, interval[0]), interval[1])
    value = size or next(iter(one.change.scale.values()))
    return Explanation(
        Family(one.change.kind, labels, ()).change(value),
        size,
        max(one.before, other.before),
        max(one.after, other.after),
        interval,
        (*one.alternatives, *other.alternatives),
    )


def _simplicity(entry: tuple[Change, float, Misfit]) -> tuple[int, int, float]:
    change, _, misfit = entry
    return len(change.signals), _ORDER.index(change.kind), misfit.share


def best_of(
    family: Family, score: Callable[[Change], Misfit], before: Misfit
) -> tuple[float, Misfit]:
    """The best size of a family; coarsely, then finely where that looks promising.

    Args:
      family: The changes.
      score: What a change leaves unexplained.
      before: What is unexplained as it is.
    """
    sizes = list(family.sizes)
    coarse = [score(family.change(size)) for size in sizes]
    best = int(np.argmin([misfit.share for misfit in coarse]))
    if coarse[best].ratio(before) > 0.95:
        return sizes[best], coarse[best]
    low, high = _around(family, sizes[best])
    ratios = family.kind is FindingKind.SCALE  # searched for by the logarithm

    def size_at(place: float) -> float:
        return math.exp(place) if ratios else place

    ends = (math.log(low), math.log(high)) if ratios else (low, high)
    found = scipy.optimize.minimize_scalar(
        lambda place: score(family.change(size_at(place))).share,
        bounds=ends,
        method="bounded",
        options={"maxiter": 12, "xatol": 1e-3 * (ends[1] - ends[0])},
    )
    size = size_at(float(found.x))
    misfit = score(family.change(size))
    if misfit.share > coarse[best].share:
        return sizes[best], coarse[best]
    return size, misfit


def _around(family: Family, size: float) -> tuple[float, float]:
    """The sizes next to one, no change among them."""
    neutral = 1.0 if family.kind is FindingKind.SCALE else 0.0
    sizes = sorted({*family.sizes, neutral})
    place = sizes.index(size)
    return sizes[max(place - 1, 0)], sizes[min(place + 1, len(sizes) - 1)]


def _accepted(
    kind: FindingKind,
    size: float,
    misfit: Misfit,
    before: Misfit,
    recorded: Recorded,
    limits: Mapping[FindingKind, float],
) -> bool:
    """Return whether a repair explains much more than doing nothing, and by a size that matters."""
    matters = True
    if kind is FindingKind.OFFSET:
        matters = abs(size) >= _SMALLEST_OFFSET
    elif kind is FindingKind.SCALE:
        matters = max(size, 1.0 / size) >= _SMALLEST_FACTOR
    elif kind is FindingKind.LAG:
        smallest = max(_SMALLEST_LAG, 0.75 * recorded.interval)
        matters = smallest <= abs(size) < _LARGEST_LAG
    return (
        matters
        and before.share > _VISIBLE[kind]
        and misfit.ratio(before) < limits[kind]
        and misfit.better_share(before) >= _BETTER_BLOCKS
    )


def size_interval(
    change: Change, size: float, score: Callable[[Change], Misfit], resolution: float
) -> tuple[float, float] | None:
    """95 % interval of a size, by resampling stretches of time; a lag's has a least width.

    Within a stretch the power is a parabola of the size near the optimum, so that the resampled
    optimum follows from three evaluations.
    """
    if not size:
        return None
    reach = 0.5 * abs(size) if change.delay else 0.1 * abs(size)
    family = Family(change.kind, change.signals, ())
    powers = np.stack([score(family.change(size + step)).blocks for step in (-reach, 0.0, reach)])
    generator = np.random.default_rng(0)
    chosen = generator.integers(powers.shape[1], size=(_RESAMPLES, powers.shape[1]))
    low, middle, high = powers[:, chosen].mean(axis=2)
    bend = low - 2.0 * middle + high
    curved = bend > 0.0
    shift = np.zeros(_RESAMPLES)
    shift[curved] = 0.5 * (low - high)[curved] / bend[curved]
    ends = np.percentile(size + reach * np.clip(shift, -2.0, 2.0), [2.5, 97.5])
    margin = resolution if change.delay else 0.0
    return float(ends[0]) - margin, float(ends[1]) + margin


def named_degrees(factor: float) -> bool:
    """Return whether a factor is that between degrees and radians."""
    return min(abs(factor / DEGREE - 1.0), abs(factor * DEGREE - 1.0)) < 0.15
