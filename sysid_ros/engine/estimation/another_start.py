# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The place where a search ends that starts elsewhere within the intervals.

Covariances describe the cost as a bowl with the estimate at its bottom. Where joints stick and
slip, or the cost is curved within the intervals, a search from another start ends elsewhere, at
values that explain the data as well. So a few Gauss-Newton steps are taken from a start about one
standard error away in every parameter. Steps keep the Hessian of the estimate (the chord method;
Kelley, "Iterative Methods for Linear and Nonlinear Equations", 5.4), so that each needs gradients
only, and of some windows only: the others are taken to be as curved as those, on average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.estimation.window_sample import chance_of_sum
from sysid_ros.engine.least_squares import (
    Linearization,
    Point,
    ReducedSystem,
    bounded_quadratic_step,
    eliminate_starts,
    start_solutions,
)
from sysid_ros.errors import DataError

ANOTHER_START = "another start"
DISTANCE = 1.0  # standard errors
SETTLED = 0.1  # of a standard error: steps that are shorter change nothing that matters


@dataclass(frozen=True)
class End:
    """The estimate that another start leads to."""

    values: FloatArray  # from the estimate, (k,)
    chance: FloatArray  # standard deviation of that because some windows stand for all, (k,)


@dataclass(frozen=True)
class Bowl:
    """A fit's optimum, and how the cost looks around it to first order."""

    point: Point  # the optimum, with the starts of all windows
    linearization: Linearization  # there
    system: ReducedSystem  # the same, starts eliminated
    lower: FloatArray  # bounds of the parameters, (p,)
    upper: FloatArray  # likewise


def end_of_another_start(
    bowl: Bowl,
    chosen: IndexArray,
    covariance: FloatArray,
    used: IndexArray,
    linearize: Callable[[Point], Linearization],
    steps: int,
) -> End:
    """Take some steps from another start.

    Args:
      bowl: The optimum.
      chosen: The parameters that have an error, (k,); the others stay.
      covariance: Of these, (k, k).
      used: The windows that stand for all, (m,).
      linearize: The Gauss-Newton model of these windows alone, at a point with their starts.
      steps: At most.

    Raises:
      DataError: The simulation diverges there.
    """
    theta, p = bowl.point.theta, len(bowl.point.theta)
    low, high = (bowl.lower - theta)[chosen], (bowl.upper - theta)[chosen]
    hessian, gradient = bowl.system.hessian[np.ix_(chosen, chosen)], bowl.system.gradient[chosen]
    grams = [bowl.linearization.grams[k] for k in used]
    starts = [bowl.point.starts[k] for k in used]
    shift = start_solutions(grams, p, 0.0)
    errors = np.sqrt(np.diag(covariance))
    away = np.zeros(p)
    away[chosen] = np.clip(_perturbation(covariance), low, high)
    count = len(bowl.linearization.grams)
    chance = np.zeros(len(chosen))
    for _ in range(steps):
        moved = [s - solved @ np.append(away, 1.0) for s, solved in zip(starts, shift, strict=True)]
        here = linearize(Point(theta + away, tuple(moved)))
        if not np.isfinite(here.cost):
            raise DataError("the simulation diverges")
        expected = bowl.system.window_gradients[used] + bowl.system.window_hessians[used] @ away
        curved = (eliminate_starts(here).window_gradients - expected)[:, chosen]
        pull = gradient + count / len(used) * curved.sum(axis=0)
        before, away = away, np.zeros(p)
        away[chosen] = bounded_quadratic_step(hessian, pull, low, high)
        chance = chance_of_sum(np.linalg.solve(hessian, curved.T).T, count)
        if np.all(np.abs(away - before)[chosen] <= SETTLED * errors):
            break
    return End(away[chosen], chance)


def _perturbation(covariance: FloatArray) -> FloatArray:
    """About a standard error of every parameter, as likely as the intervals say, (k,).

    Along the principal axes of the correlations, so that no parameter's start is a sum of others'.
    """
    errors = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(errors, errors))
    signs = np.where(np.arange(len(errors)) % 2, -1.0, 1.0)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(DISTANCE * errors * (root @ signs))
