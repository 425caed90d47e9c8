# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The search for the optimum of a horizon, in pieces between which estimates are made."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import FitStatus, Point, Solution, SolverSettings, minimizing
from sysid_ros.engine.moving_horizon.horizon_problem import HorizonProblem
from sysid_ros.engine.moving_horizon.simulated_window import SimulatedWindow
from sysid_ros.errors import StopRequestedError


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
