# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The objective of a moving horizon, and the search for its optimum in pieces.

Estimates are made between the pieces.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import (
    FitStatus,
    Linearization,
    Point,
    Solution,
    SolverSettings,
    minimizing,
)
from sysid_ros.engine.moving_horizon.simulated_window import SimulatedWindow
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.errors import StopRequestedError


class HorizonProblem:
    """The windowed problem with an arrival cost: what lies before its windows, a quadratic."""

    def __init__(self, problem: WindowedProblem, past: FloatArray, origin: FloatArray) -> None:
        """Join the two.

        Args:
          problem: The horizon's windows.
          past: ``[J r]^T [J r]`` of what lies before, at ``origin``, (p + 1, p + 1).
          origin: Shape (p,).
        """
        self._problem = problem
        self._past = past
        self._origin = origin
        self.lower, self.upper, self.scale = problem.lower, problem.upper, problem.scale

    def cost(self, point: Point) -> float:
        """The objective, up to what is constant in the past."""
        return self._problem.cost(point) + self._past_cost(point.theta)

    def linearize(self, point: Point) -> Linearization:
        """The Gauss-Newton model around ``point``."""
        found = self._problem.linearize(point)
        past, p = self._past.copy(), self._origin.size
        past[:p, p] += past[:p, :p] @ (point.theta - self._origin)
        past[p, :p] = past[:p, p]
        return replace(
            found, cost=found.cost + self._past_cost(point.theta), prior=found.prior + past
        )

    def _past_cost(self, theta: FloatArray) -> float:
        moved = np.append(theta - self._origin, 1.0)
        return 0.5 * float(moved @ self._past @ moved)


class HorizonSearch:
    """A search over the windows that there are when it begins."""

    def __init__(
        self,
        problem: HorizonProblem,
        points: Sequence[Point],
        settings: SolverSettings,
        windows: Sequence[SimulatedWindow],
    ) -> None:
        """Begin, without evaluating anything.

        Args:
          problem: The objective.
          points: Where to start: whichever has the lowest cost. What few windows have told may be
            worse for more of them than what was known before all.
          settings: When to stop.
          windows: Those of the problem.
        """
        self._steps = _from_the_best(problem, points, settings)
        self._begins = [window.begin for window in windows]

    def go_on(self, seconds: float) -> Solution | None:
        """Search on for a while, by one evaluation at least.

        Returns:
          The solution; ``None`` while there is none.

        Raises:
          StopRequestedError: As asked for.
        """
        until = time.monotonic() + seconds
        try:
            next(self._steps)
            while time.monotonic() < until:
                next(self._steps)
        except StopIteration as end:
            solution: Solution = end.value
            if solution.status is FitStatus.CANCELED:
                raise StopRequestedError from None
            return solution
        return None

    def starts(self, solution: Solution) -> Mapping[float, FloatArray]:
        """The deviations of the windows' starts, (n_start,) each, by a window's first instant."""
        return dict(zip(self._begins, solution.point.starts, strict=True))


def _from_the_best(
    problem: HorizonProblem, points: Sequence[Point], settings: SolverSettings
) -> Generator[None, None, Solution]:
    costs = []
    for point in points:
        costs.append(problem.cost(point) if len(points) > 1 else 0.0)
        yield
    return (yield from minimizing(problem, points[int(np.argmin(costs))], settings))
