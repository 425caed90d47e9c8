# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The joint whose measured torque no robot explains beside that of the others.

An effort may be in no unit of force: a share of a motor's voltage, a percentage, a number that
saturates. Where it seems to have little noise it is believed, and the others pay for it. They then
become much better without it, which they do without no joint of a right arm: torque of one tells
others only what theirs tells, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray, IntArray
from sysid_ros.engine.inverse_dynamics.evidence import equations
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares
from sysid_ros.engine.regressor import DELAY, Grams

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
    grams: Mapping[str, Grams], free: FreeParameters, x: FloatArray
) -> Contradiction | None:
    """Find the joint without whose torque the others are explained much better.

    Args:
      grams: Sums by condition, of degrees of freedom whose torque has no unknown gain.
      free: The estimated parameters.
      x: An estimate of them, (k,), whose delays are kept.

    Returns:
      ``None`` where no joint stands out.
    """
    rows = _rows(grams, free, x)
    dofs = np.unique(rows.dofs[rows.counts > 0])
    if len(dofs) < _FEWEST:
        return None
    whole = rows.unexplained(-1)[dofs]
    alone = np.array([rows.unexplained(int(dof))[dofs] for dof in dofs])
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
    """Normal equations of every kind of rows, without the delays' columns.

    Attributes:
      dofs: Of kinds, (kinds,).
      counts: Rows, (kinds,).
      hessians: (kinds, k, k).
      gradients: (kinds, k).
      squares: Of torque less what is known, (kinds,).
      least: That count as unexplained in any case, (kinds,).
    """

    dofs: IndexArray
    counts: IntArray
    hessians: FloatArray
    gradients: FloatArray
    squares: FloatArray
    least: FloatArray

    def unexplained(self, without: int) -> FloatArray:
        """Mean squares (nv,) that least squares leaves, without the rows of one."""
        used = (self.counts > 0) & (self.dofs != without)
        left = np.maximum(self.squares, self.least)
        for _ in range(_ROUNDS):
            weights = np.where(used, self.counts / left, 0.0)
            hessian = np.tensordot(weights, self.hessians, 1)
            ridge = _RIDGE * np.diag(hessian) + 1e-300
            x = least_squares(hessian + np.diag(ridge), weights @ self.gradients)
            left = self.squares - 2.0 * self.gradients @ x + self.hessians @ x @ x
            left = np.maximum(left, self.least)
        rows = np.bincount(self.dofs, self.counts)
        return np.asarray(np.bincount(self.dofs, left) / np.maximum(rows, 1))


def _rows(grams: Mapping[str, Grams], free: FreeParameters, x: FloatArray) -> _Rows:
    first, k = next(iter(grams.values())), len(free.names)
    kinds, nothing = len(first.dofs), np.zeros(0, dtype=np.intp)
    gains = np.ones(int(first.dofs[-1]) + 1)
    delay = [kind == DELAY for kind in free.columns.kinds]
    late = np.any([np.any(one[delay] != 0.0, axis=0) for one in free.matrix.values()], axis=0)
    about = np.where(late, x, 0.0)
    hessians, gradients = np.zeros((kinds, k, k)), np.zeros((kinds, k))
    for i, weights in enumerate(np.eye(kinds)):
        one = equations(grams, free, weights, gains, nothing, about, together=True)
        hessians[i], gradients[i] = one.hessians[0], one.gradients[0] - one.hessians[0] @ about
    squares = sum(one.squares(free.theta(about, c), gains).sum(axis=0) for c, one in grams.items())
    torque = sum(one.torque_squares().sum(axis=0) for one in grams.values())
    # Where none acts, as on a floating base, a torque's power is that of what adds up to nothing.
    parts = np.einsum("kii,i->k", hessians, x**2)
    counts = sum(one.counts.sum(axis=0) for one in grams.values())
    kept = ~late
    return _Rows(
        first.dofs, np.asarray(counts), hessians[:, kept][:, :, kept], gradients[:, kept],
        np.asarray(squares), np.maximum(_EXACT * np.maximum(np.asarray(torque), parts), 1e-300),
    )  # fmt: skip
