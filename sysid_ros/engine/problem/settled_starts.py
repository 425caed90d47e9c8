# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Starts of windows that a search has left behind, found one by one.

A search takes one step of all unknowns, and its damping is that of its worst window. Where feet
meet a floor or joints stick, the cost of a window or two is rough, every longer step is refused for
their sake, and the starts of all others stay where they are, by more than noise. At given
parameters windows know nothing of each other: here each takes or refuses its own step, with a
damping of its own. Where no start has been left behind, this costs nothing.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Linearization, Point, start_solutions
from sysid_ros.engine.problem.windowed_problem import WindowedProblem

# A start is left behind where its own step promises more than this, and than this of the cost.
LEAST, SHARE = 1.0, 1e-3
ROUNDS = 8  # of a step for every start at most
TRIES = 3  # of its length
DAMPING, GROWTH, SHRINKAGE = 1e-3, 8.0, 0.1
WORTH = 1e-4  # of the cost: a round that brings less is the last


def settled_starts(
    problem: WindowedProblem, point: Point, here: Linearization
) -> tuple[Point, Linearization]:
    """A point of lower cost at the same parameters, or the same.

    Args:
      problem: The problem.
      point: Where a search stopped.
      here: Its linearization there.

    Raises:
      StopRequestedError: A rollout was interrupted.
    """
    damping = np.full(len(point.starts), DAMPING)
    costs: FloatArray | None = None
    for _ in range(ROUNDS):
        waiting = _left_behind(here)
        if not waiting.any():
            break
        costs = _window_costs(problem, point) if costs is None else costs
        before, starts = costs.sum(), list(point.starts)
        for _ in range(TRIES):
            moved = [
                start + _step(gram, start.size, factor) if own else start
                for start, gram, factor, own in zip(
                    point.starts, here.grams, damping, waiting, strict=True
                )
            ]
            tried = _window_costs(problem, Point(point.theta, tuple(moved)))
            better = waiting & (tried < costs)
            for k in np.flatnonzero(better):
                starts[k] = moved[k]
            costs = np.where(better, tried, costs)
            damping *= np.where(better, SHRINKAGE, np.where(waiting, GROWTH, 1.0))
            waiting &= ~better
            if not waiting.any():
                break
        if not before - costs.sum() > WORTH * before:
            break
        point = Point(point.theta, tuple(starts))
        here = problem.linearize(point)
    return point, here


def _left_behind(here: Linearization) -> np.ndarray:
    """Marks of the windows whose own starts still promise a lower cost, (w,)."""
    p = here.prior.shape[0] - 1
    marks = []
    for gram, solved in zip(here.grams, start_solutions(here.grams, p, 0.0), strict=True):
        promised = 0.5 * float(gram[p:-1, -1] @ solved[:, p])
        marks.append(promised > max(LEAST, 0.5 * SHARE * gram[-1, -1]))
    return np.array(marks, dtype=bool)


def _step(gram: FloatArray, size: int, damping: float) -> FloatArray:
    """The damped step of one window's start, (n_start,)."""
    own = slice(len(gram) - 1 - size, len(gram) - 1)
    block = gram[own, own] + damping * np.diag(gram[own, own].diagonal())
    return np.asarray(-np.linalg.solve(block, gram[own, -1]))


def _window_costs(problem: WindowedProblem, point: Point) -> FloatArray:
    """The share of each window in the objective that its start changes, (w,)."""
    windows, residuals = problem.windows, problem.residuals(point)
    return np.array(
        [
            problem.loss.cost(residual / window.sigma(problem.noise))
            + 0.5 * float(np.sum((start / window.spread) ** 2))
            for window, residual, start in zip(windows, residuals, point.starts, strict=True)
        ]
    )
