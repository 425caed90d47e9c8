# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Measured torque that a driver smoothed before it published it.

To first order in its time constant a low-pass is a delay, which every fit to torque finds. What is
beyond that no robot makes: what passed a low-pass of first order with the constant T was y + T y'
before. Behind the row filter slopes are known as well as values, so that the sums of rows for any
constant follow by algebra, as those for any delay do (:mod:`~sysid_ros.engine.regressor`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics import (
    Evidence,
    FreeParameters,
    equations,
    least_squares,
)
from sysid_ros.engine.regressor import Grams, row_counts
from sysid_ros.errors import listed

_CONSTANTS = (0.01, 0.014, 0.02, 0.028, 0.04, 0.056, 0.08, 0.113, 0.16)  # s
_MAYBE = 0.8  # of what a delay leaves; constants that leave more at a glance are not looked at
_BETTER = 0.5  # of the same, that it may leave
_MOST = 0.75  # of joints and of blocks of time, in which it must leave less
_FEWEST = 6  # blocks of time
_ABOUT, _FINE = 1.45, 13  # times the best constant, and how many are tried
_ROUNDS = 4  # of weights, and of linearisation in the delay
_RIDGE = 1e-9  # of a column's own size, for what data leave open
_NAMED = 4  # signals in a sentence


@dataclass(frozen=True)
class SmoothedTorque:
    """Signals of torque that passed a low-pass, and its time constant [s]."""

    signals: tuple[str, ...]
    constant: float

    @property
    def clause(self) -> str:
        """The words for it, without a full stop."""
        one = len(self.signals) == 1
        return (
            f"the torque of {listed(map(repr, self.signals), _NAMED)} "
            f"{'is' if one else 'are'} as behind a low-pass of first order, of "
            f"{self.constant:.2g} s, which bends friction, damping and armature; record "
            f"{'it' if one else 'them'} unfiltered"
        )


def smoothed_torque(
    evidence: Evidence,
    first: Evidence,
    free: FreeParameters,
    x: FloatArray,
    signals: Mapping[int, str],
) -> SmoothedTorque | None:
    """Find the low-pass that measured torque has passed; ``None`` where a delay explains as much.

    Only rows count in which friction's sign is known, with whatever delay there is. What the model
    has wrong and nothing estimates may look like a low-pass: it is one beside any masses and
    friction.

    Args:
      evidence: Sums of rows of torque without unknown factors, about the best delays.
      first: The same about no delay, as of torque before a low-pass.
      free: The estimated parameters.
      x: An estimate of them, (k,).
      signals: Those of measured torque by degree of freedom.
    """
    late = np.any([one.columns >= 0 for one in evidence.shifted.values()], axis=0)
    dofs = [dof for dof in signals if late[dof]]
    if not dofs:
        return None
    plain = _Test(evidence, free, x, np.array(dofs)).left()
    test = _Test(first, free, x, np.array(dofs))
    if len(plain) < _FEWEST or not np.all(plain.sum(axis=0) > 0.0):
        return None
    if not any(_ratio(test.left(one), plain) < _MAYBE for one in _CONSTANTS[2::3]):
        return None
    whole = _of_any_robot(free)
    x = np.pad(x, (0, len(whole.names) - len(x)))
    plain = _Test(evidence, whole, x, np.array(dofs)).left()
    test = _Test(first, whole, x, np.array(dofs))
    ratios = [1.0, *(_ratio(test.left(one), plain) for one in _CONSTANTS)]
    best = int(np.argmin(ratios))
    if not 0 < best < len(_CONSTANTS):
        return None
    near = np.geomspace(_CONSTANTS[best - 1] / _ABOUT, _CONSTANTS[best - 1] * _ABOUT, _FINE)
    constant = float(min(near, key=lambda one: _ratio(test.left(one), plain)))
    return _told(test.left(constant), plain, constant, [signals[dof] for dof in dofs])


def _of_any_robot(free: FreeParameters) -> FreeParameters:
    """The estimated parameters and changes of all that the model has."""
    count, more = len(free.columns), np.eye(len(free.columns))
    return replace(
        free,
        names=(*free.names, *free.columns.names),
        nominal=np.append(free.nominal, np.zeros(count)),
        lower=np.append(free.lower, np.full(count, -np.inf)),
        upper=np.append(free.upper, np.full(count, np.inf)),
        matrix={c: np.hstack([own, more]) for c, own in free.matrix.items()},
        mean=np.append(free.mean, np.zeros(count)),
        precision=np.append(free.precision, np.zeros(count)),
    )


def _told(
    left: FloatArray, plain: FloatArray, constant: float, names: Sequence[str]
) -> SmoothedTorque | None:
    """The finding, where a constant leaves much less, of most joints and most of the time."""
    sizes = plain.sum(axis=0)
    better = left.sum(axis=0) < sizes
    in_time = np.sum(left / sizes, axis=1) < np.sum(plain / sizes, axis=1)
    if _ratio(left, plain) > _BETTER or min(better.mean(), in_time.mean()) < _MOST:
        return None
    return SmoothedTorque(tuple(names), constant)


def _ratio(left: FloatArray, plain: FloatArray) -> float:
    """The power that is left over that of a delay alone, the geometric mean of all joints."""
    ratios = left.sum(axis=0) / plain.sum(axis=0)
    return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-9)))))


@dataclass(frozen=True)
class _Test:
    """Rows of joints in which friction's sign is known."""

    evidence: Evidence
    free: FreeParameters
    x: FloatArray
    dofs: IndexArray

    def left(self, constant: float = 0.0) -> FloatArray:
        """Squares that are left behind a low-pass of a time constant [s], (blocks, dofs)."""
        delays = dict(self.evidence.delays)
        ones, none = np.ones(len(next(iter(delays.values())))), np.zeros(0, dtype=np.intp)
        squares = np.array([])
        for _ in range(_ROUNDS):
            grams = {c: self._rows(c, constant, one) for c, one in delays.items()}
            counts = row_counts(grams)
            if not squares.size:
                squares = np.sum([one.torque_squares() for one in grams.values()], axis=0)
            weights = counts / np.maximum(squares.sum(axis=0), 1e-300)
            system = equations(grams, self.free, weights, ones, none, self.x, together=True)
            ridge = _RIDGE * np.diag(system.hessians[0]) + 1e-300
            x = least_squares(system.hessians[0] + np.diag(ridge), system.gradients[0])
            theta = {c: self.free.theta(x, c) for c in grams}
            squares = np.sum([one.squares(theta[c]) for c, one in grams.items()], axis=0)
            delays = {c: self._delays(c, theta[c]) for c in grams}
        return squares

    def _delays(self, condition: str, theta: FloatArray) -> FloatArray:
        """The delays that some parameters have, as far as the sums reach, (nv,) s."""
        shifted = self.evidence.shifted[condition]
        room = float(np.abs(shifted.nodes).max())
        return np.clip(shifted.delays_of(theta), shifted.around - room, shifted.around + room)

    def _rows(self, condition: str, constant: float, delays: FloatArray) -> Grams:
        """The sums of the surest kind of rows of each joint."""
        shifted = self.evidence.shifted[condition]
        first = np.searchsorted(shifted.dofs, self.dofs)
        return shifted.of_kinds(first).at(delays, constant=constant)
