# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Choice of parameters one after the other, by what each explains beside those before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Linearization, eliminate_starts, start_solutions
from sysid_ros.proposal.candidate import Candidate

# Standard error over the typical size, at most, with what a fit is expected to leave as noise. What
# is left at a wrong value so moves others by a third of their errors at most. On demand a guess
# must not do.
_DETERMINED = 3.0
_DETERMINED_ON_DEMAND = 0.5
_OWN_SHARE = 0.02  # of a parameter's effect that no parameter before it has, at the least
DEMANDED = {"kp": 0.2, "kv": 0.2}  # as below, of settings that somebody chose
_DEMANDED_OTHERS = 0.05  # of what is left unexplained that a parameter on demand must explain
_LEAST_LEFT = 1e-4  # of the squares that are open, of which a fit leaves some


@dataclass(frozen=True)
class System:
    """The normal equations without starts, and what is open before any step."""

    hessian: FloatArray  # (p, p)
    gradient: FloatArray  # (p,)
    open: float  # sum of squares in units of noise

    @staticmethod
    def of(linearization: Linearization) -> System:
        """Those of a linearization."""
        reduced = eliminate_starts(linearization)
        p = len(reduced.gradient)
        left = 0.0
        grams = linearization.grams
        for gram, solved in zip(grams, start_solutions(grams, p, 0.0), strict=True):
            left += float(gram[-1, -1] - gram[p:-1, -1] @ solved[:, p])
        return System(reduced.hessian, reduced.gradient, left)

    def joined(self, place: Sequence[int]) -> System:
        """The system of fewer parameters, each of all those (p,) that have its place."""
        matrix = np.eye(max(place) + 1)[list(place)]
        return System(matrix.T @ self.hessian @ matrix, matrix.T @ self.gradient, self.open)

    def share_left(self, offered: Sequence[Candidate]) -> float:
        """The share of what is open that one more step would leave, none on demand."""
        moved = [i for i, one in enumerate(offered) if not one.on_demand]
        typical = np.array([offered[i].typical for i in moved])
        own, slope = self.hessian[np.ix_(moved, moved)], self.gradient[moved]
        step = -np.linalg.solve(own + np.diag(typical**-2), slope)
        left = self.open + float(step @ (2.0 * slope + own @ step))
        return min(1.0, max(left / self.open, _LEAST_LEFT)) if self.open > 0.0 else 1.0

    def share_explained(self, i: int, beside: Sequence[int], offered: Sequence[Candidate]) -> float:
        """The share of what a step of some parameters leaves that another explains beside them."""
        typical = np.array([offered[j].typical for j in beside])
        own, cross = self.hessian[np.ix_(beside, beside)], self.hessian[i, beside]
        both = np.column_stack([cross, self.gradient[beside]])
        along, step = np.linalg.solve(own + np.diag(typical**-2), both).T
        size = float(self.hessian[i, i] - cross @ along)
        push = float(self.gradient[i] - cross @ step)
        left = self.open - float(self.gradient[beside] @ step)
        return push**2 / (size * left) if size > 0.0 and left > 0.0 else math.inf


@dataclass(frozen=True)
class Answers:
    """The parameters that are kept."""

    kept: list[bool]  # of each candidate, whether it is
    # attribute and pattern of those that are alike and kept as one
    together: frozenset[tuple[str, str]] = frozenset()


def forward(system: System, offered: Sequence[Candidate]) -> Answers:
    """Keep each parameter that tells something beyond those kept before it.

    What the model has alike is one unless what is kept of it one by one explains more.
    """
    apart = _forward(system, offered)
    kept = [i in apart.kept for i in range(len(offered))]
    if not any(one.alike for one in offered):
        return Answers(kept)
    first: dict[tuple[str, str] | int, int] = {}
    place = [
        first.setdefault((one.attribute, one.alike) if one.alike else i, len(first))
        for i, one in enumerate(offered)
    ]
    firsts = [offered[place.index(k)] for k in range(len(first))]
    joined = _forward(system.joined(place), firsts)
    more = len(apart.kept) - len(joined.kept)  # each of which has to explain what it is asked for
    if apart.open < (1.0 - _DEMANDED_OTHERS) ** more * joined.open:
        return Answers(kept)
    told = frozenset((firsts[k].attribute, firsts[k].alike) for k in joined.kept if firsts[k].alike)
    return Answers([k in joined.kept for k in place], told)


def _forward(system: System, offered: Sequence[Candidate]) -> _Chosen:
    """Keep one parameter after the other.

    What was refused on demand is tried again once another one explains what it was small beside.
    So is what displaces a joint as another one does that explains more.
    """
    chosen, waiting = _Chosen.of(system, offered), list(range(len(offered)))
    while waiting:
        found = []
        for i in waiting:
            others = [
                j
                for j in waiting
                if j != i and j not in found and offered[j].displaces == offered[i].displaces != ""
            ]
            if not chosen.explains_more(i, others, offered) and chosen.take(i, offered[i]):
                found.append(i)
        if not any(offered[i].on_demand for i in found):
            break
        waiting = [i for i in waiting if offered[i].on_demand and i not in found]
    return chosen


@dataclass
class _Chosen:
    """The parameters that were kept, in units of their typical sizes."""

    information: FloatArray  # (p, p)
    slope: FloatArray  # (p,)
    noise: float  # share of what is open that a fit leaves
    open: float  # squares that those kept do not explain
    kept: list[int]

    @staticmethod
    def of(system: System, offered: Sequence[Candidate]) -> _Chosen:
        typical = np.array([one.typical for one in offered])
        information = system.hessian * np.outer(typical, typical)
        left = system.share_left(offered)
        return _Chosen(information, system.gradient * typical, left, system.open, [])

    def explains_more(self, i: int, others: Sequence[int], offered: Sequence[Candidate]) -> bool:
        """Tell whether one of some parameters is good, and explains more than the first."""
        own = self._told(i, offered[i])[1]
        told = [self._told(j, offered[j]) for j in others]
        return any(good and explained > own for good, explained in told)

    def take(self, i: int, one: Candidate) -> bool:
        """Keep a parameter if it tells something of its own; tell whether it does."""
        good, explained = self._told(i, one)
        if good:
            self.kept.append(i)
            self.open -= explained
        return good

    def _told(self, i: int, one: Candidate) -> tuple[bool, float]:
        """True of a parameter that tells something of its own, and the squares that it explains."""
        own, kept = float(self.information[i, i]), self.kept
        left, push = own, float(self.slope[i])
        if kept:
            cross = self.information[kept, i]
            solved = np.linalg.solve(self.information[np.ix_(kept, kept)], cross)
            left -= float(cross @ solved)
            push -= float(self.slope[kept] @ solved)
        most = _DETERMINED_ON_DEMAND if one.on_demand else _DETERMINED
        is_own = left > _OWN_SHARE**2 * own
        explained = push**2 / left if is_own else 0.0
        demanded = DEMANDED.get(one.attribute, _DEMANDED_OTHERS) * max(self.open, 0.0)
        sharp, explains = left > self.noise / most**2, explained > demanded
        # What is many times its typical size explains much, and is told by that alone.
        good = is_own and (sharp and explains if one.on_demand else sharp or explains)
        return good or (one.guessed and left > 0.0), explained if good else 0.0
