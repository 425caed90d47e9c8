# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Some windows that stand for all where simulating all would take too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.least_squares import FitStatus, Point, Solution, SolverSettings, minimize
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.windows import WindowGroup
from sysid_ros.errors import StopRequestedError

EVALUATION = 0.2  # of a linearization's time
SEARCH = 12.0  # linearizations that a search takes, about
# Of a followed shift. What trades a delay for inertia leads along a winding valley that is rough,
# as commands change a time step earlier or later: several steps may be refused.
FEW = SolverSettings(max_iterations=6, cost_tolerance=1e-4, refusals=6)


@dataclass(frozen=True)
class Place:
    """The recording that a window is cut from, and its first instant."""

    recording: tuple[int, str]
    start: float  # s


def places_of(groups: Sequence[WindowGroup]) -> list[Place]:
    """Those of all windows, in order."""
    return [
        Place((i, window.sequence.name), window.window.start)
        for i, group in enumerate(groups)
        for window in group.windows
    ]


def search_time(problem: WindowedProblem, status: FitStatus) -> float:
    """The time of a search, in linearizations of all windows, that other times are shares of.

    Whatever an interval depends on may not depend on how many steps the solver took to get to the
    optimum; so it is the same for all searches. Only one that was out of time has no more than it
    had until then.
    """
    if status is FitStatus.TIME_LIMIT:
        return min(SEARCH, problem.jacobians + EVALUATION * problem.evaluations)
    return SEARCH


def spread_evenly(n: int, wanted: float, least: int) -> IndexArray:
    """About so many of n windows, but no fewer than ``least``, evenly."""
    count = min(n, max(least, round(wanted)))
    return np.unique(np.linspace(0.0, n - 1.0, count).round().astype(np.intp))


def chosen_windows(groups: Sequence[WindowGroup], kept: BoolArray) -> list[WindowGroup]:
    """The groups with some of their windows only."""
    flags = iter(kept)
    chosen = [[k for k in range(len(group.windows)) if next(flags)] for group in groups]
    return [group.select(places) for group, places in zip(groups, chosen, strict=True) if places]


def part_of(problem: WindowedProblem, used: IndexArray) -> WindowedProblem:
    """The problem over some of its windows."""
    kept = np.isin(np.arange(len(problem.windows)), used)
    return problem.with_groups(chosen_windows(problem.groups, kept), engine=problem.engine)


def window_costs(problem: WindowedProblem, point: Point) -> FloatArray:
    """The share of each window in the objective, its start's prior included, (w,)."""
    parts = zip(problem.windows, problem.residuals(point), point.starts, strict=True)
    simulated = [
        problem.loss.cost(residual / window.sigma(problem.noise))
        + 0.5 * float(np.sum((start / window.spread) ** 2))
        for window, residual, start in parts
    ]
    return np.asarray(simulated + problem.added_costs(point.theta))


def searched(problem: WindowedProblem, start: Point, settings: SolverSettings) -> Solution:
    """The optimum near a point, or where a few steps lead to.

    Raises:
      StopRequestedError: The search was stopped.
    """
    found = minimize(problem, start, settings)
    if found.status is FitStatus.CANCELED:
        raise StopRequestedError("a search was stopped")
    return found


def followed_shift(changed: WindowedProblem, own: WindowedProblem, start: Point) -> FloatArray:
    """The change of the parameters that a few steps of two searches find, (p,).

    A servo whose time constant is as short as the time step acts otherwise at a finer one: friction
    that was lost among its swings is whole, armature that had no effect has one. One linearization
    of the finer problem at the estimate knows the slopes there, which are not those on the way. So
    the finer problem is searched for a few steps, and so is the fit's own, both with the few
    windows that stand for all: their difference is the time step's, what those windows alone would
    have differs in neither.

    Args:
      changed: The problem with another choice.
      own: The problem as it is, with the same windows.
      start: The estimate, with the starts of these windows.

    Raises:
      StopRequestedError: It was asked for.
    """
    return _followed(changed, start) - _followed(own, start)


def _followed(problem: WindowedProblem, start: Point) -> FloatArray:
    problem.check_derivatives(start)
    return searched(problem, start, FEW).point.theta


def chance_of_sum(parts: FloatArray, count: int) -> FloatArray:
    """Standard deviation of the sum of all windows' parts, from those of some, (k,).

    Args:
      parts: Of the windows that stand for all, (m, k).
      count: Of all windows.
    """
    m = len(parts)
    if m < 2:
        return np.zeros(parts.shape[1])
    variance = count * (count - m) / m * parts.var(axis=0, ddof=1)
    return np.asarray(np.sqrt(variance))
