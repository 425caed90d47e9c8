# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The joint whose measured torque no robot explains beside that of the others.

An effort may be in no unit of force: a share of a motor's voltage, a percentage, a number that
saturates. Where it seems to have little noise it is believed, and the others pay for it. They then
become much better without it, which they do without no joint of a right arm: torque of one tells
others only what theirs tells, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.evidence import equations_of_kind
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares
from sysid_ros.engine.regressor import DELAY, Grams, row_counts

_FEWEST = 3  # joints: of two that contradict each other, either may be wrong
_LEFT = 0.8  # of the others' unexplained power; right arms and a real TX40 keep 0.96 and more
_CLEARLY = 0.85  # of what leaving out any other joint leaves of the rest
_SMALLER = 0.85  # of their error together, which few rows make smaller for a quiet joint alone
_MOST = 0.25  # of its power, below which one joint counts as this
_ROUNDS = 4  # of weights
_RIDGE = 1e-9  # of a column's own size, for what data leave open
_EXACT = 1e-6  # of a torque's power, which no model need explain


@dataclass(frozen=True)
class Contradiction:
    """A degree of freedom, and which share of the others' error is left without its torque."""

    dof: int
    left: float


def contradicting_joint(
    grams: Mapping[str, Grams],
    free: FreeParameters,
    x: FloatArray,
    gains: Mapping[int, float] | None,
) -> Contradiction | None:
    """Find the joint without whose torque the others are explained much better.

    Args:
      grams: Sums by condition.
      free: The estimated parameters.
      x: An estimate of them, (k,), whose delays are kept.
      gains: An estimate of unknown factors of torque, by degree of freedom.

    Returns:
      ``None`` where no joint stands out.
    """
    systems = _systems(_rows(grams, free, x, gains or {}))
    dofs = np.unique(np.concatenate([one.dofs for one in systems]))
    if len(dofs) < _FEWEST:
        return None
    whole = np.sum([one.unexplained(dofs) for one in systems], axis=0)
    alone = np.tile(whole, (len(dofs), 1))
    for one in systems:  # the others know nothing of its joints
        own = one.unexplained(dofs)
        for dof in np.unique(one.dofs):
            alone[dofs == dof] += one.unexplained(dofs, without=int(dof)) - own
    ratios = alone / whole
    ratios[np.diag_indices_from(ratios)] = np.nan
    logs = np.log(np.clip(ratios, _MOST, None))
    left = np.exp(np.nanmean(logs, axis=1))
    best = int(np.argmin(left))
    logs[:, best] = np.nan  # what contradicts it is relieved of that joint alone
    rest = np.exp(np.nanmean(np.delete(logs, best, axis=0), axis=1)).min()
    if left[best] > min(_LEFT, _CLEARLY * rest):
        return None
    others = np.arange(len(dofs)) != best
    share = alone[best, others].sum() / whole[others].sum()
    found = Contradiction(int(dofs[best]), float(np.sqrt(share)))
    return found if found.left < _SMALLER else None


@dataclass(frozen=True)
class _Rows:
    """Normal equations of one kind of rows, in the parameters that they know, without delays."""

    dof: int  # of the kind
    count: int  # rows
    # numbers of the parameters, (s,), behind which those of factors of torque follow
    known: IndexArray
    hessian: FloatArray  # (s, s)
    gradient: FloatArray  # (s,)
    square: float  # of torque less what is known
    least: float  # that counts as unexplained in any case

    def left(self, x: FloatArray) -> float:
        """The sum of squares that parameters (k,) leave."""
        own = x[self.known]
        left = self.square + (self.hessian @ own - 2.0 * self.gradient) @ own
        return max(float(left), self.least)


@dataclass(frozen=True)
class _System:
    """Kinds of rows that share parameters, as those of one limb do on a base that is fixed."""

    kinds: tuple[_Rows, ...]
    known: IndexArray  # numbers of the parameters, (k,)

    @property
    def dofs(self) -> IndexArray:
        """Of the kinds, (kinds,)."""
        return np.array([one.dof for one in self.kinds])

    def unexplained(self, dofs: IndexArray, without: int = -1) -> FloatArray:
        """Mean squares of some degrees of freedom that least squares leaves, without one's rows."""
        places = [np.searchsorted(self.known, one.known) for one in self.kinds]
        left = [max(one.square, one.least) for one in self.kinds]
        x = np.zeros(int(self.known.max(initial=-1)) + 1)
        for _ in range(_ROUNDS):
            hessian = np.zeros((len(self.known), len(self.known)))
            gradient = np.zeros(len(self.known))
            for one, own, remains in zip(self.kinds, places, left, strict=True):
                if one.dof != without:
                    hessian[np.ix_(own, own)] += one.count / remains * one.hessian
                    gradient[own] += one.count / remains * one.gradient
            ridge = _RIDGE * np.diag(hessian) + 1e-300
            x[self.known] = least_squares(hessian + np.diag(ridge), gradient)
            left = [one.left(x) for one in self.kinds]
        rows = [sum(one.count for one in self.kinds if one.dof == dof) for dof in dofs]
        sums = [
            sum(part for one, part in zip(self.kinds, left, strict=True) if one.dof == dof)
            for dof in dofs
        ]
        return np.array(sums) / np.maximum(rows, 1)


def _systems(rows: Sequence[_Rows]) -> list[_System]:
    """Systems of which none knows a parameter of another."""
    found: list[_System] = []
    for one in rows:
        near = [other for other in found if np.intersect1d(other.known, one.known).size]
        found = [other for other in found if other not in near]
        kinds = (*(kind for other in near for kind in other.kinds), one)
        found.append(_System(kinds, np.unique(np.concatenate([kind.known for kind in kinds]))))
    return found


def _rows(
    grams: Mapping[str, Grams], free: FreeParameters, x: FloatArray, gains: Mapping[int, float]
) -> list[_Rows]:
    first = next(iter(grams.values()))
    factors = np.ones(int(first.dofs[-1]) + 1)
    factors[list(gains)] = list(gains.values())
    delay = [kind == DELAY for kind in free.columns.kinds]
    late = np.any([np.any(one[delay] != 0.0, axis=0) for one in free.matrix.values()], axis=0)
    about = np.where(late, x, 0.0)
    counts = row_counts(grams)
    squares = np.sum(
        [one.squares(free.theta(about, c), factors).sum(axis=0) for c, one in grams.items()], axis=0
    )
    torque = np.sum([one.torque_squares().sum(axis=0) for one in grams.values()], axis=0)
    found = []
    for kind in np.flatnonzero(counts):
        dof = int(first.dofs[kind])
        gain = gains.get(dof)
        known, own = equations_of_kind(grams, free, int(kind), x, gain)
        kept, at, size = ~late[known], about[known], x[known]
        if gain is not None:
            known, kept = np.append(known, len(x) + dof), np.append(kept, True)
            at, size = np.append(at, gain), np.append(size, 0.0)
        hessian = own.hessians[0]
        gradient = own.gradients[0] - hessian @ at
        # Where none acts, as on a floating base, a torque's power is that of what adds up to
        # nothing.
        power = max(float(torque[kind]), float(np.diag(hessian) @ size**2))
        found.append(
            _Rows(
                dof, int(counts[kind]), known[kept], hessian[np.ix_(kept, kept)], gradient[kept],
                float(squares[kind]), max(_EXACT * power, 1e-300),
            )
        )  # fmt: skip
    return found
