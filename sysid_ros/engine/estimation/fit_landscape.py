# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The cost around the optimum of a windowed fit, for the pairs of parameters that tell most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.landscape import Landscape, grid, grid_points, on_grid
from sysid_ros.engine.estimation.window_sample import part_of
from sysid_ros.engine.least_squares import (
    Linearization,
    Point,
    Solution,
    eliminate_starts,
    start_solutions,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty import Covariance
from sysid_ros.errors import ModelError, StopRequestedError

POINTS = 7  # per side; odd, so that the optimum is one of them
STEPS = 25_000  # simulated for one landscape in all: a tenth of a second or so
# Where no window is short enough for that: so many, or a share of those that the fit simulated.
MOST_STEPS, SHARE = 100_000, 0.03


def landscapes_of(
    problem: WindowedProblem, solution: Solution, uncertainty: Covariance, count: int
) -> tuple[Landscape, ...]:
    """Landscapes of the ``count`` most entangled pairs of parameters.

    Of many windows some are used, the most telling first, and what parameters add to their cost is
    scaled to all windows, by the Gauss-Newton models of both. Where even one window would take long
    beside the fit, the cost is what that model expects.

    Returns:
      The landscapes; none where the fit was stopped, and fewer where it is stopped meanwhile.
    """
    if solution.linearization is None:
        return ()
    pairs = telling_pairs(uncertainty.matrix, uncertainty.open_directions)[:count]
    if not pairs:
        return ()
    lengths = [window.window.steps for window in problem.windows]
    fitted = sum(lengths) * (problem.evaluations + problem.jacobians)
    if POINTS**2 * min(lengths) > max(MOST_STEPS, SHARE * fitted):
        return tuple(
            _expected_landscape(problem, solution.point, solution.linearization, pair)
            for pair in pairs
        )
    found = []
    whole = problem, solution.point, solution.linearization
    thinned = _thinned(*whole)
    for pair in pairs:
        try:
            some, lowest = _fitted_landscape(*thinned, pair), solution.linearization.cost
            # What parameters add to the cost of windows that tell much is not what they add to all.
            added, own = (
                float(np.sum(_expected_landscape(*one, pair).cost - lowest))
                for one in (whole, thinned)
            )
            more = (some.cost - thinned[0].cost(thinned[1])) * (added / own if own > 0.0 else 1.0)
            found.append(replace(some, cost=lowest + more))
        except StopRequestedError:
            break
    return tuple(found)


def _fitted_landscape(
    problem: WindowedProblem, point: Point, linearization: Linearization, pair: tuple[int, int]
) -> Landscape:
    """The cost of a windowed fit, possibly of some of its windows, around its optimum.

    The windows' starts follow the parameters to first order, so that the landscape is that of the
    problem with its starts eliminated (Golub & Pereyra 1973).
    """
    solutions = start_solutions(linearization.grams, len(point.theta), 0.0)

    def cost(theta: FloatArray) -> float:
        change = theta - point.theta
        starts = tuple(
            start - solved[:, :-1] @ change
            for start, solved in zip(point.starts, solutions, strict=True)
        )
        try:
            return problem.cost(Point(theta, starts))
        except ModelError:  # such as a mass of zero
            return np.inf

    return _around(problem, point, pair, lambda sets: [cost(theta) for theta in sets])


def _expected_landscape(
    problem: WindowedProblem, point: Point, linearization: Linearization, pair: tuple[int, int]
) -> Landscape:
    """The cost that the Gauss-Newton model expects around the optimum, starts eliminated."""
    system = eliminate_starts(linearization)

    def costs(sets: FloatArray) -> list[float]:
        changes = sets - point.theta
        found = linearization.cost + changes @ system.gradient
        found += 0.5 * np.einsum("kp,pq,kq->k", changes, system.hessian, changes)
        return list(found)

    return replace(_around(problem, point, pair, costs), expected=True)


def _around(
    problem: WindowedProblem,
    point: Point,
    pair: tuple[int, int],
    costs: Callable[[FloatArray], Sequence[float]],
) -> Landscape:
    """The landscape of two free scalars, from the costs of sets of all of them, (k, p)."""
    i, j = pair
    grids = [grid(point.theta[k], problem.lower[k], problem.upper[k], POINTS) for k in pair]
    found = costs(grid_points(point.theta, i, j, *grids))
    names = problem.params.scalar_names()
    return on_grid((names[i], names[j]), grids, found, (point.theta[i], point.theta[j]))


def telling_pairs(covariance: FloatArray, open_directions: FloatArray) -> list[tuple[int, int]]:
    """Pairs of parameters worth looking at, the most entangled first.

    Args:
      covariance: Of the parameters, (p, p), NaN where none is claimed.
      open_directions: Unit vectors that the data leaves open, (k, p).

    Returns:
      The two main members of every open direction of several parameters, then all pairs with a
      covariance by the size of their correlation.
    """
    pairs: dict[tuple[int, int], None] = {}
    if len(covariance) < 2:
        return []
    for direction in np.abs(open_directions):
        first, second = (int(k) for k in np.argsort(direction)[::-1][:2])
        if direction[second] > 0.1 * direction[first]:
            pairs[min(first, second), max(first, second)] = None
    errors = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.abs(covariance / np.outer(errors, errors))
    rows, columns = np.triu_indices(len(covariance), 1)
    sizes = correlation[rows, columns]
    known = np.flatnonzero(np.isfinite(sizes))
    order = known[np.argsort(-sizes[known], kind="stable")]
    pairs |= dict.fromkeys(zip(rows[order].tolist(), columns[order].tolist(), strict=True))
    return [*pairs]


def _thinned(
    problem: WindowedProblem, point: Point, linearization: Linearization
) -> tuple[WindowedProblem, Point, Linearization]:
    """The problem with some windows only, so that a landscape takes few steps.

    Of those of a group it is every k-th in the order of what they tell of the parameters: in the
    first of a recording many a robot stands.
    """
    steps = POINTS**2 * sum(window.window.steps for window in problem.windows)
    stride = max(1, -(-steps // STEPS))
    told = np.einsum("kii->ki", eliminate_starts(linearization).window_hessians)
    order = np.argsort(-(told / np.maximum(told.sum(axis=0), 1e-300)).sum(axis=1), kind="stable")
    group_of = np.repeat(np.arange(len(problem.groups)), [len(g.windows) for g in problem.groups])
    used = np.sort(
        np.concatenate([order[group_of[order] == k][::stride] for k in range(len(problem.groups))])
    )
    grams = tuple(linearization.grams[k] for k in used)
    point = Point(point.theta, tuple(point.starts[k] for k in used))
    return part_of(problem, used), point, replace(linearization, grams=grams)
