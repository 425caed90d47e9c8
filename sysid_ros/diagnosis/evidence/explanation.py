# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A repair of recordings with its grounds: the best of its sizes, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.hypotheses import Family
from sysid_ros.diagnosis.evidence.recorded import Recorded
from sysid_ros.diagnosis.fits import Misfit
from sysid_ros.engine.signals import unit_in

DECISIVE = 0.6  # ratio of unexplained powers that decides which of two explanations is wrong
_AS_GOOD = 1.1  # ratio of powers up to which a lag explains as well as the best
_FINE = 11  # lags about the best one, from which its interval is read
_RESAMPLES = 200
_RESOLUTION = 0.25  # of a sampling interval, that a lag is uncertain by at the least


@dataclass(frozen=True)
class Explanation:
    """A repair, how good it is, and what is as good."""

    change: Change  # the repair
    size: float  # its number: an offset, a factor, a lag; 0 where it has none
    before: float  # unexplained share of the torques without the repair
    after: float  # the same with it
    # 95 % interval of the size; ``None`` where it has none
    interval: tuple[float, float] | None = None
    # other single repairs that explain the recordings as well
    alternatives: tuple[Change, ...] = ()


@dataclass(frozen=True)
class Turned:
    """Gravity from elsewhere than the model has it, (3,) m/s^2, with the shares unexplained."""

    gravity: FloatArray
    before: float
    after: float
    alike: tuple[str, float] | None = None  # a joint of which a zero would do the same, rad

    @property
    def words(self) -> str:
        """The claim."""
        if not np.any(self.gravity):
            return "its drives bear its weight beside what they are told, or it moves on a level"
        values = ", ".join(f"{one:.3g}" for one in self.gravity)
        unit = unit_in(self.gravity, "m/s^2")
        return f"gravity is ({values}) {unit} in its base's frame"

    def beats(self, left: float) -> bool:
        """Return whether it explains clearly more than what leaves this share."""
        return self.after**2 <= DECISIVE * left**2


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
    if one.change.kind is FindingKind.UNIT and one.change.offset and other.change.offset:
        return True
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
    change = Family(one.change.kind, labels, ()).change(size)
    if not size:
        scale = {**one.change.scale, **other.change.scale}
        change = Change(one.change.kind, scale, {**one.change.offset, **other.change.offset})
    return Explanation(
        change,
        size,
        max(one.before, other.before),
        max(one.after, other.after),
        interval,
        (*one.alternatives, *other.alternatives),
    )


def best_of(
    family: Family,
    score: Callable[[Change], Misfit],
    before: Misfit,
    rank: Callable[[Change], Misfit] | None = None,
) -> tuple[float, Misfit]:
    """The best size of a family; coarsely, then finely where that looks promising.

    Args:
      family: The changes.
      score: What a change leaves unexplained.
      before: What is unexplained as it is.
      rank: The same more roughly, to compare the coarse sizes by; ``score`` if left out.
    """
    shares = [(rank or score)(family.change(size)).share for size in family.sizes]
    first = family.sizes[int(np.argmin(shares))]
    coarse = score(family.change(first))
    if coarse.ratio(before) > 0.95:
        return first, coarse
    ends = family.around(first)
    found = scipy.optimize.minimize_scalar(
        lambda place: score(family.change(family.size_at(place))).share,
        bounds=ends,
        method="bounded",
        options={"maxiter": 12, "xatol": 1e-3 * (ends[1] - ends[0])},
    )
    size = family.size_at(float(found.x))
    misfit = score(family.change(size))
    if misfit.share > coarse.share:
        return first, coarse
    return size, misfit


def size_interval(
    change: Change, size: float, score: Callable[[Change], Misfit]
) -> tuple[float, float] | None:
    """95 % interval of an offset or a factor, by resampling stretches of time.

    Within a stretch the power is a parabola of the size near the optimum, so that the resampled
    optimum follows from three evaluations.
    """
    if not size:
        return None
    reach = 0.1 * abs(size)
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
    return min(float(ends[0]), size), max(float(ends[1]), size)


def lag_interval(
    change: Change, size: float, score: Callable[[Change], Misfit], resolution: float
) -> tuple[float, float]:
    """95 % interval of a lag [s]; ``resolution`` is added at either end."""
    family = Family(change.kind, change.signals, ())
    reach = max(0.6 * abs(size), 30.0 * resolution)
    lags = sorted({*np.linspace(size - reach, size + reach, _FINE).tolist(), size})
    powers = np.stack([score(family.change(lag)).blocks for lag in lags], axis=1)
    return profile_interval(lags, powers, size, resolution)


def resolution_of(recorded: Recorded, labels: Sequence[str]) -> float:
    """The part of a lag of some inputs that no samples tell [s].

    That is a part of the longest interval: of positions, or at which an input is asked for anew, as
    nobody knows when in it a controller takes over what it was told.
    """
    parts = [one for label in labels for one in recorded.pooled(label)]
    own = [float(np.median(np.diff(one.times))) for one in parts if len(one.times) > 1]
    return _RESOLUTION * max(recorded.interval, *own, 0.0)


def profile_interval(
    lags: Sequence[float], powers: FloatArray, size: float, resolution: float
) -> tuple[float, float]:
    """95 % interval of a lag: of resampled stretches, and every lag that explains about as well.

    No equation of motion is exact, so that chance is not all that a lag is uncertain by.

    Args:
      lags: About the best one, increasing [s].
      powers: (b, lags) what they leave of each stretch of time.
      size: The best lag.
      resolution: Added at either end.
    """
    generator = np.random.default_rng(0)
    chosen = generator.integers(len(powers), size=(_RESAMPLES, len(powers)))
    resampled = [least_between(lags, powers[rows].sum(axis=0)) for rows in chosen]
    low, high = np.percentile(resampled, [2.5, 97.5])
    fine = np.linspace(lags[0], lags[-1], 20 * len(lags))
    total = np.interp(fine, lags, powers.sum(axis=0))
    as_good = fine[total <= _AS_GOOD * total.min()]
    return (
        float(min(low, as_good[0], size)) - resolution,
        float(max(high, as_good[-1], size)) + resolution,
    )


def least_between(places: Sequence[float] | FloatArray, powers: FloatArray) -> float:
    """The place at which a power is least, between the given ones by a parabola.

    Args:
      places: Increasing.
      powers: One for each.
    """
    i = int(np.argmin(powers))
    if i in (0, len(places) - 1):
        return float(places[i])
    before, after = places[i] - places[i - 1], places[i + 1] - places[i]
    falls = float(powers[i - 1] - powers[i]) / before
    rises = float(powers[i + 1] - powers[i]) / after
    if falls + rises <= 0.0:
        return float(places[i])
    return float(places[i] + 0.5 * (falls * after - rises * before) / (falls + rises))


def torque_grounds(best: Explanation | Turned) -> str:
    """The part that a repair leaves of measured torques, as a sentence."""
    return (
        "Whatever its masses and frictions, no robot with the model's joints explains more "
        f"than {percent(1.0 - best.before**2)} of the torques' power; with this repaired "
        f"it is {percent(1.0 - best.after**2)}."
    )


def modelled_grounds(best: Explanation) -> str:
    """The part that a repair leaves of what contradicts the model's own bodies, as a sentence."""
    return (
        "With this repaired the model's own bodies leave "
        f"{percent(best.after**2 / best.before**2)} of the torques' power that they leave as "
        "recorded, as little as bodies of any shape. No single body of another shape explains as "
        "much; several together would."
    )


def leaning_grounds(best: Turned) -> str:
    """Of simulated windows, the rest under another gravity, and what looks like it, in words."""
    told = (
        "In simulated windows, with whatever friction, armature and delays, it leaves "
        f"{percent(best.after**2)} of what the model's leaves."
    )
    if best.alike is None:
        return told
    joint, angle = best.alike
    return (
        f"{told} A zero of {joint!r} and of its commands that is off by {angle:.3g} rad would do "
        "the same."
    )


def percent(share: float) -> str:
    """A share in words."""
    return f"{100.0 * max(share, 0.0):.3g} %"
