# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The objective of a moving horizon: its windows simulated, what lies before as a quadratic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Linearization, Point
from sysid_ros.engine.problem import WindowedProblem


class HorizonProblem:
    """The windowed problem with an arrival cost."""

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
