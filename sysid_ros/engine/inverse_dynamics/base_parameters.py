# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Base parameters: the combinations that joint torque determines, and the essential ones of them.

A QR decomposition of the regressor with its columns in a fixed order keeps each column that is not
a combination of those before it; the others are expressed in those that were kept (Gautier,
Numerical calculation of the base inertial parameters of robots, J. Robotic Systems 8, 1991). The
base parameters are then estimated by weighted least squares without constraints. Essential ones are
those left after the one with the largest relative standard error was eliminated again and again,
until none is worse than a ratio to the best (Gautier, Dynamic identification of robots with
power model, ICRA 1997). They are named, not estimated anew: with the others at zero, 95 % intervals
hold the truth in 39 to 68 of a hundred cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import mujoco
import numpy as np
import scipy

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.delay_uncertainty import (
    allowing_for_doubt,
    allowing_for_pull,
)
from sysid_ros.engine.inverse_dynamics.evidence import Equations
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares
from sysid_ros.engine.inverse_dynamics.reversal_bias import allowing_for_reversals
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty, jackknife, quick_errors
from sysid_ros.engine.regressor import DELAY, Columns

# Of a body: what is looked at later is grouped with what came before, as is usual in robotics.
_ORDER = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "mx", "my", "mz", "m")
_RANK = 1e-7  # of a column's own size, below which nothing of it is left
_ESSENTIAL = 30.0  # of the worst relative standard error to the best, at most
_SHOWN = 1e-4  # coefficients that a name omits


@dataclass(frozen=True)
class BaseParameters:
    """Identifiable combinations of parameters."""

    names: tuple[str, ...]  # "link_1.Izz + 1*joint_1.armature + ...", (r,)
    kept: IndexArray  # the column that each is named after, (r,)
    combination: FloatArray  # base parameters = combination times all free parameters, (r, k)
    values: FloatArray  # by weighted least squares without constraints, (r,)
    uncertainty: Uncertainty  # of ``values``
    essential: BoolArray  # whether elimination keeps it, (r,)

    @property
    def relative_errors(self) -> FloatArray:
        """Relative standard deviations, (r,) in percent."""
        size = np.maximum(np.abs(self.values), 1e-300)
        return 100.0 * self.uncertainty.standard_errors / size


def grouping_order(model: mujoco.MjModel, columns: Columns) -> IndexArray:
    """Columns from the base of a robot outwards: a body's inertia, then what its joints have."""

    def rank(column: int) -> tuple[int, int, int]:
        kind, owner = columns.kinds[column], columns.owners[column]
        if kind in _ORDER:
            return owner, 0, _ORDER.index(kind)
        if kind.startswith("tendon") or kind == DELAY:
            return model.nbody, 2, column
        joint = int(model.dof_jntid[owner]) if kind == "offset" else owner
        return int(model.jnt_bodyid[joint]), 1, column

    return np.array(sorted(range(len(columns)), key=rank), dtype=np.intp)


def base_combination(exact: FloatArray, order: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Find independent columns and what the others add to them.

    Args:
      exact: R^T R of motions without noise, for which what is dependent is so to rounding, (k, k).
      order: In which columns are looked at, see :func:`grouping_order`.

    Returns:
      Kept columns (r,), ascending, and the combination (r, k).
    """
    k = len(exact)
    size = np.sqrt(np.maximum(np.diag(exact), 0.0))
    usable = size > 1e-9 * max(float(size.max(initial=0.0)), 1e-300)
    inverse = np.where(usable, 1.0 / np.where(usable, size, 1.0), 0.0)
    scaled = exact * np.outer(inverse, inverse)
    kept: list[int] = []
    factor: FloatArray = np.zeros((0, 0))
    for column in order:
        if not usable[column]:
            continue
        cross = scaled[kept, column] if kept else np.zeros(0)
        along = scipy.linalg.solve_triangular(factor, cross, lower=True) if kept else cross
        rest = 1.0 - float(along @ along)
        if rest > _RANK:
            grown = np.zeros((len(kept) + 1, len(kept) + 1))
            grown[:-1, :-1], grown[-1, :-1], grown[-1, -1] = factor, along, np.sqrt(rest)
            kept.append(int(column))
            factor = grown
    rows = np.array(sorted(kept), dtype=np.intp)
    combination: FloatArray = np.zeros((len(rows), k))
    if rows.size:
        inner = scaled[np.ix_(rows, rows)]
        solved = scipy.linalg.solve(inner, scaled[rows], assume_a="pos")
        combination = solved / size[rows][:, None] * np.where(usable, size, 0.0)
    combination[np.abs(combination) < 1e-6] = 0.0
    combination[:, rows] = np.eye(len(rows))
    return rows, combination


def base_names(
    names: tuple[str, ...], kept: IndexArray, combination: FloatArray
) -> tuple[str, ...]:
    """Names of base parameters: the kept one, then what was grouped with it."""
    found = []
    for row, own in zip(combination, kept, strict=True):
        words = names[own]
        for column in np.flatnonzero(np.abs(row) > _SHOWN):
            if column != own:
                sign = "+" if row[column] > 0.0 else "-"
                factor = "" if abs(abs(row[column]) - 1.0) < 1e-4 else f"{abs(row[column]):.4g}*"
                words += f" {sign} {factor}{names[column]}"
        found.append(words)
    return tuple(found)


class BaseSystem(NamedTuple):
    """Equations and priors of base parameters: columns that were kept, and gains of torque."""

    data: Equations  # equations of them, by block of time
    # the same of rows in which friction's sign is known; ``None`` where that is all
    sure: Equations | None
    gains: FloatArray  # that the equations are linearised about, (g,)
    mean: FloatArray  # of the priors of delays and gains, (r + g,)
    precision: FloatArray  # the same, zero for what has none, (r + g,)
    own: FloatArray  # the precision without what doubts have added to it, (r + g,)
    doubts: Mapping[int, float]  # of delays, by their number, see :mod:`.delay_uncertainty`
    pull: FloatArray  # of the gradient, by set points that are held, (r + g,)


def estimate_base(
    names: tuple[str, ...], kept: IndexArray, combination: FloatArray, system: BaseSystem
) -> BaseParameters:
    """Weighted least squares on base parameters, and the essential ones.

    Unknown gains of torque, as far as their priors leave them open, are estimated beside.

    Args:
      names: Of all free parameters, (k,).
      kept: From :func:`base_combination`.
      combination: From the same.
      system: What they are estimated from.
    """
    r, (own, side) = len(kept), (system.data.hessians, system.data.gradients)
    prior = np.diag(system.precision)
    pull = system.precision * system.mean
    values = least_squares(own.sum(axis=0) + prior, side.sum(axis=0) + pull)
    held = np.zeros(len(values), dtype=np.bool_)
    whole = jackknife(values, own, side, prior, held)
    whole = replace(whole, information=np.where(system.precision > 0.0, whole.information, 1.0))
    if system.sure is not None:
        slope = prior @ values - pull
        whole = allowing_for_reversals(whole, system.sure, values, slope, prior, held)
    matrix = own.sum(axis=0) + prior
    whole = allowing_for_doubt(whole, matrix, system.own, system.doubts)
    whole = allowing_for_pull(whole, matrix, system.pull)
    uncertainty = replace(
        whole, covariance=whole.covariance[:r, :r], information=whole.information[:r]
    )
    alone = side[:, :r] - own[:, :r, r:] @ system.gains  # with gains as they are
    own = own[:, :r, :r]
    use = np.diag(own.sum(axis=0)) > 0.0  # what this motion shows anything of
    uncertainty.covariance[~use, ~use] = np.inf
    while use.sum() > 1:
        left, right = own[:, use][:, :, use], alone[:, use]
        best = least_squares(left.sum(axis=0), right.sum(axis=0))
        relative = quick_errors(best, left, right) / np.maximum(np.abs(best), 1e-300)
        if relative.max() <= _ESSENTIAL * relative.min():
            break
        use[np.flatnonzero(use)[int(np.argmax(relative))]] = False
    label = base_names(names, kept, combination)
    return BaseParameters(label, kept, combination, values[:r], uncertainty, use)
