# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motors that turn with two joints, as in many wrists, which the model does not know."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import HINGE, compiled, joints_of_tendon
from sysid_ros.engine.inverse_dynamics import (
    TENDON_ATTRIBUTES,
    Regressor,
    Settings,
    TorquePrediction,
    coupling_name,
    gather,
    one_thread,
    with_coupling,
)
from sysid_ros.engine.measured_torque.rows import TorqueProblem
from sysid_ros.engine.regressor import Grams

_SHARE = 0.5  # of what is left of a joint's torque that follows another joint's velocity
_WORTH = 0.02  # of the torque's variance, that this is at the least
_SHARP = 0.05  # rad/s over which dry friction changes its sign
_FEWEST = 100  # rows
_LEFT = 0.5  # of two joints' squared residuals, at most, that a coupling leaves
_LEFT_OF_EITHER = 0.8  # of the squared residuals of each
_FOLDS = 5
_RIDGE = 1e-6  # of a column's squares
_NONE: IndexArray = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Coupling:
    """A motor that turns with ``joint`` and, by ``ratio``, with ``other``."""

    joint: str
    other: str
    ratio: float


@one_thread()
def found_couplings(problem: TorqueProblem) -> tuple[Coupling, ...]:
    """Neighbouring joints whose torque one motor's inertia and friction on both explains.

    The columns of a tendon over every pair, with ratios of 1 and -1, are summed together with
    those of the model. Least squares on four fifths of the blocks of time, scored on the others,
    then tell which of them earn their place.

    Args:
      problem: Recordings, and the parameters of a model without such motors.
    """
    model = problem.declared.model
    dofs = sorted(d for d in problem.sources.known if _kind(model, d) == HINGE)
    names = {d: str(model.joint(int(model.dof_jntid[d])).name) for d in dofs}
    pairs = [pair for pair in itertools.pairwise(dofs) if not _coupled(model, *pair)]
    tried = [(*pair, ratio) for pair in pairs for ratio in (1.0, -1.0)]
    spec = problem.declared.spec
    for one, other, ratio in tried:
        spec = with_coupling(spec, names[other], names[one], ratio)
        last = spec.tendons[-1]
        last.name += str(ratio)
    if not tried:
        return ()
    regressor = Regressor(compiled(spec), sharp_friction=True, known=problem.declared.known_bodies)
    (grams,) = gather(regressor, problem.recordings, Settings(reversals_apart=False)).grams.values()
    columns = regressor.columns
    own = {
        (one, other, ratio): columns.indices(
            [
                f"{coupling_name(names[other], names[one])}{ratio}.{kind}"
                for kind in TENDON_ATTRIBUTES
            ]
        )
        for one, other, ratio in tried
    }
    plain = np.setdiff1d(np.arange(len(columns)), np.concatenate(list(own.values())))
    weights = _weights(grams, plain)
    folds = _folds(grams, plain, weights)
    found = []
    for one, other in pairs:
        both = [one, other]
        rows = grams.of_kinds(both)
        before = _held_out(rows, folds)
        left = {ratio: _held_out(rows, folds, own[one, other, ratio]) for ratio in (1.0, -1.0)}
        ratio = min(left, key=lambda r: float((weights[both] * left[r]).sum()))
        share = (weights[both] * left[ratio]).sum() / (weights[both] * before).sum()
        if share < _LEFT and np.all(left[ratio] < _LEFT_OF_EITHER * before):
            found.append(Coupling(names[other], names[one], ratio))
    return tuple(found)


def _weights(grams: Grams, columns: IndexArray) -> FloatArray:
    """The inverse of each degree of freedom's residual variance, (nv,)."""
    counts = grams.counts.sum(axis=0)
    squares = grams.torque_squares().sum(axis=0)
    for _ in range(2):
        weights = np.where(counts > 0, counts / np.maximum(squares, 1e-18), 0.0)
        all_blocks = range(len(grams.counts))
        squares = grams.squares(_Solved.of(grams, columns, weights, all_blocks).theta()).sum(axis=0)
    return np.where(counts > 0, counts / np.maximum(squares, 1e-18), 0.0)


def _folds(grams: Grams, plain: IndexArray, weights: FloatArray) -> list[_Solved]:
    """The fits of the model's own columns to four fifths of the blocks each."""
    blocks = np.arange(len(grams.counts))
    return [
        _Solved.of(grams, plain, weights, blocks[blocks % _FOLDS != fold]) for fold in range(_FOLDS)
    ]


def _held_out(rows: Grams, folds: Sequence[_Solved], more: IndexArray = _NONE) -> FloatArray:
    """Squared residuals of blocks that were not fitted, with some more columns, (kinds,)."""
    found = np.zeros(len(rows.dofs))
    for fold, solved in enumerate(folds):
        left = rows.of_blocks(slice(fold, None, _FOLDS)).squares(solved.theta(more))
        found += left.sum(axis=0)
    return found


@dataclass(frozen=True)
class _Solved:
    """Normal equations of some blocks, solved for the model's own columns.

    Few columns more are added by their Schur complement, which costs no other factorization.
    """

    matrix: FloatArray  # of all columns, each in units of its own size, (p, p)
    side: FloatArray  # likewise, (p,)
    scale: FloatArray  # one over the sizes, (p,)
    plain: IndexArray  # the model's own columns, (k,)
    factor: tuple[FloatArray, bool]  # Cholesky factor of their block
    own: FloatArray  # their solution, (k,)

    @classmethod
    def of(
        cls, grams: Grams, plain: IndexArray, weights: FloatArray, blocks: Iterable[int]
    ) -> _Solved:
        """The equations of some blocks."""
        ones = np.ones(len(weights))
        matrix, side = np.zeros((grams.width, grams.width)), np.zeros(grams.width)
        for block in blocks:
            part = grams.normal(weights, ones, int(block))
            matrix += part[0]
            side += part[1]
        scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
        matrix = matrix * np.outer(scale, scale) + _RIDGE * np.eye(len(scale))
        side = scale * side
        factor = scipy.linalg.cho_factor(matrix[np.ix_(plain, plain)])
        own = np.asarray(scipy.linalg.cho_solve(factor, side[plain]))
        return cls(matrix, side, scale, plain, factor, own)

    def theta(self, more: IndexArray = _NONE) -> FloatArray:
        """Parameters (p,), zero but for the model's own and some more columns (m,)."""
        found = np.zeros(len(self.side))
        found[self.plain] = self.own
        if more.size:
            cross = self.matrix[np.ix_(self.plain, more)]
            moved = scipy.linalg.cho_solve(self.factor, cross)
            rest = self.matrix[np.ix_(more, more)] - cross.T @ moved
            found[more] = np.linalg.solve(rest, self.side[more] - cross.T @ self.own)
            found[self.plain] -= moved @ found[more]
        return self.scale * found


def couplings(problem: TorqueProblem, predictions: Sequence[TorquePrediction]) -> tuple[str, ...]:
    """Sentences on joints whose unexplained torque follows the motion of a neighbouring joint."""
    model = problem.declared.model
    dofs = sorted(d for d in problem.sources.known if _kind(model, d) == HINGE)
    said = []
    for one, other in itertools.pairwise(dofs):
        if _coupled(model, one, other):
            continue
        shares = [_share(predictions, a, b) for a, b in ((one, other), (other, one))]
        if max(shares) > _SHARE:
            first, second = (model.joint(int(model.dof_jntid[d])).name for d in (one, other))
            said.append(
                f"{100 * max(shares):.0f} % of the unexplained torque of {first} or {second} "
                "follows the velocity of the other: if one motor turns with both, as in many "
                f"wrists, add couplings: {{joint: {second}, other: {first}}} to the experiment."
            )
    return tuple(said)


def _share(predictions: Sequence[TorquePrediction], dof: int, other: int) -> float:
    """Share of a degree of freedom's residual that friction on another's velocity explains."""
    residual = np.concatenate([p.measured[:, dof] - p.total[:, dof] for p in predictions])
    torque = np.concatenate([p.measured[:, dof] for p in predictions])
    velocity = np.concatenate([p.velocity[:, other] for p in predictions])
    known = np.isfinite(residual)
    if int(known.sum()) < _FEWEST:
        return 0.0
    rows: FloatArray = np.column_stack(
        [velocity[known], np.tanh(velocity[known] / _SHARP), np.ones(int(known.sum()))]
    )
    left = residual[known] - residual[known].mean()
    explained = rows @ np.linalg.lstsq(rows, left, rcond=None)[0]
    if np.var(explained) < _WORTH * np.var(torque[known]):
        return 0.0
    return float(np.var(explained) / np.var(left))


def _kind(model: mujoco.MjModel, dof: int) -> int:
    return int(model.jnt_type[int(model.dof_jntid[dof])])


def _coupled(model: mujoco.MjModel, one: int, other: int) -> bool:
    """True if a fixed tendon joins them already."""
    joints = {int(model.dof_jntid[one]), int(model.dof_jntid[other])}
    return any(joints <= joints_of_tendon(model, t).keys() for t in range(model.ntendon))
