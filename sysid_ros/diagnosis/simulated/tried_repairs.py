# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs that were simulated, with what each leaves of the signals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence import Change, Family, FindingKind
from sysid_ros.diagnosis.fits import explained_more, helps, spoils
from sysid_ros.engine.uncertainty import sensor_of

_GLIMPSED = 3  # windows, by which repairs are dismissed that explain nothing of what is left there
_STEPS = 9  # sizes that are tried about the best of a few
_NOTHING = 1e-3  # of that: rounding, as of a wheel's angle that is off where no spoke tells


@dataclass(frozen=True)
class Tried:
    """A repair of one or two parts, and what it leaves of each signal by window."""

    changes: tuple[Change, ...]
    size: float
    powers: Mapping[str, FloatArray]

    @property
    def kind(self) -> FindingKind:
        """Of the mistake that its first part undoes."""
        return self.changes[0].kind

    def may_be_accepted(self, before: Mapping[str, FloatArray]) -> bool:
        """Return whether it helps its own signals, if it has any, or others, and spoils none."""
        labels = self.changes[0].signals
        own = {name for name in before if sensor_of(name) in labels}
        return not spoils(before, self.powers) and helps(before, self.powers, own)

    def left_of(self, names: Sequence[str]) -> float:
        """The mean power that is left of some signals."""
        return float(np.mean([self.powers[name].mean() for name in names]))


class RepairsInSome:
    """Repairs tried in some windows only.

    Args:
      in_all: Scores a repair in all windows, or in some.
      in_each: What it leaves in each of some windows, one after the other.
      before: What is left of signals without, by window.
      telling: The windows, increasing.
    """

    def __init__(
        self,
        in_all: Callable[..., Tried],
        in_each: Callable[..., Iterator[Mapping[str, FloatArray]]],
        before: Mapping[str, FloatArray],
        telling: list[int],
    ) -> None:
        self.in_all, self.tried = in_all, partial(in_all, windows=telling)
        self.before = {name: power[telling] for name, power in before.items()}
        self._telling, self._few = telling, telling[:_GLIMPSED]
        self._worst = sorted(range(len(self._few)), key=lambda k: -_left(self.before, k))
        self._in_each = partial(in_each, windows=[self._few[k] for k in self._worst])

    def left(self, one: Tried) -> float:
        """The power that a repair leaves more of in them; negative where it explains anything."""
        return -explained_more(self.before, one.powers)

    def promising(self, changes: tuple[Change, ...], size: float = 0.0) -> Tried | None:
        """A repair with what it leaves; none where it explains nothing in the first windows.

        These are simulated one by one, the worst first, and no more once a repair leaves as much in
        those so far as there is without it.
        """
        found: list[Mapping[str, FloatArray]] = []
        left = before = 0.0
        for place, powers in zip(self._worst, self._in_each(changes), strict=True):
            left += _left(powers)
            before += sum(float(self.before[name][place]) for name in powers)
            if left >= (1.0 - _NOTHING) * before:
                return None
            found.append(powers)
        if rest := self._telling[len(found) :]:
            found.append(self.in_all(changes, size, windows=rest).powers)
        order = np.argsort([*self._worst, *range(len(self._few), len(self._telling))])
        joined = {name: np.concatenate([one[name] for one in found])[order] for name in found[0]}
        return Tried(changes, size, joined)

    def in_rest(self, one: Tried, before: Mapping[str, FloatArray]) -> Tried | None:
        """A repair with what it leaves in all windows; none once some say that it is not accepted.

        Args:
          one: What it leaves in those that were tried first.
          before: What is left without it in all windows.
        """
        count = len(next(iter(before.values())))
        known, rest = [*self._telling], [k for k in range(count) if k not in self._telling]
        while rest:
            if not one.may_be_accepted(before):
                return None
            part, rest = rest[: len(self._telling)], rest[len(self._telling) :]
            more = self.in_all(one.changes, one.size, windows=part).powers
            order = np.argsort(known := [*known, *part])
            whole = {name: np.append(own, more[name])[order] for name, own in one.powers.items()}
            one, known = replace(one, powers=whole), sorted(known)
        return one

    def refined(self, family: Family, best: Tried) -> Tried:
        """A repair of the best size about one of a family's, as the first windows have it."""
        few, own = (
            {name: power[: len(self._few)] for name, power in powers.items()}
            for powers in (self.before, best.powers)
        )
        in_few = partial(self.in_all, windows=self._few)
        near = refined(few, family, replace(best, powers=own), in_few)
        if near.size == best.size:
            return best
        return min(best, self.tried(near.changes, near.size), key=self.left)


def _left(powers: Mapping[str, FloatArray], window: int = 0) -> float:
    """The power that is left of all signals in one of the windows."""
    return float(sum(power[window] for power in powers.values()))


def refined(
    before: Mapping[str, FloatArray], family: Family, best: Tried, tried: Callable[..., Tried]
) -> Tried:
    """The best size about one of a family's."""
    found = [best]

    def loss(place: float) -> float:
        size = family.size_at(place)
        found.append(tried((family.change(size),), size))
        return -explained_more(before, found[-1].powers)

    scipy.optimize.minimize_scalar(
        loss, bounds=family.around(best.size), method="bounded",
        options={"maxiter": _STEPS, "xatol": 1e-3},
    )  # fmt: skip
    return max(found, key=lambda one: explained_more(before, one.powers))
