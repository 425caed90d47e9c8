# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The windowed problem in its parameters alone, for optimizers that know nothing of starts.

They are given the variable projection functional (Golub & Pereyra 1973): the residual at the starts
that are best for theta, with Kaufman's Jacobian.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import (
    CANCELED,
    LOSSES,
    Adapter,
    FitStatus,
    Point,
    Solution,
    SolverSettings,
    Step,
    StopOptimizing,
    minimize,
    optimizer_named,
    without_starts,
)
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
from sysid_ros.errors import StopRequestedError

INNER_ITERATIONS = 4
INNER_TOLERANCE = 1e-10


def minimize_with(
    optimizer: str,
    problem: WindowedProblem,
    point: Point,
    settings: SolverSettings,
    on_step: Callable[[Step], None] | None,
) -> Solution:
    """Minimize with the optimizer of that name.

    See :func:`sysid_ros.engine.least_squares.levenberg_marquardt.minimize`.

    Raises:
      OptimizerError: There is no optimizer of that name.
    """
    adapter = optimizer_named(optimizer).adapter
    if adapter is None or point.theta.size == 0:
        return minimize(problem, point, settings, on_step)
    return ProjectedProblem(problem, point, settings, on_step).solution(adapter)


class ProjectedProblem:
    """Residual and Jacobian in theta alone, starts solved for along the way.

    Rows are in units of noise and weighted by the problem's loss already.
    """

    loss = LOSSES["linear"]

    def __init__(
        self,
        problem: WindowedProblem,
        point: Point,
        settings: SolverSettings,
        on_step: Callable[[Step], None] | None,
    ) -> None:
        """Begin at a point."""
        self.lower, self.upper, self.scale = problem.lower, problem.upper, problem.scale
        self.start = np.clip(point.theta, self.lower, self.upper)
        self._problem = problem
        self._settings = settings
        self._listener = on_step
        self._steps = 0
        self._best = point
        self._best_cost = np.inf
        self._theta: FloatArray | None = None  # of what follows
        self._residual = np.zeros(0)
        self._jacobian = np.zeros((0, point.theta.size))

    def solution(self, adapter: Adapter) -> Solution:
        """Run an optimizer."""
        options = {"x_scale": self.scale, "ftol": self._settings.cost_tolerance}
        try:
            end = adapter(self, max(self._settings.max_iterations, 1), False, options)
            status, message = end.status, end.message
        except StopRequestedError:
            return Solution(self._best, None, FitStatus.CANCELED, self._steps, CANCELED)
        except StopOptimizing as stop:
            status, message = stop.status, stop.message
        here = self._problem.linearize(self._best)
        return Solution(self._best, here, status, self._steps, message)

    def __call__(self, x: FloatArray) -> FloatArray:
        """Rows at the best starts for theta, (m,), or (m, k) for k of them."""
        if x.ndim > 1:
            return np.stack([self(column) for column in x.T], axis=-1)
        self._evaluate(x)
        return self._residual

    at = __call__

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Kaufman's Jacobian of the rows, (m, p)."""
        self._evaluate(x)
        return self._jacobian

    def report(self, step: Step) -> None:
        """Tell one accepted step, with the best starts."""
        self._steps = step.number
        if self._listener is not None:
            damping = self._settings.damping
            best = replace(step, point=self._best, cost=self._best_cost, damping=damping)
            self._listener(best)

    def _evaluate(self, theta: FloatArray) -> None:
        if self._theta is not None and np.array_equal(theta, self._theta):
            return
        deadline = self._settings.deadline
        if deadline is not None and time.monotonic() > deadline:
            raise StopOptimizing(FitStatus.TIME_LIMIT, "the time limit has passed")
        point = Point(theta.copy(), self._best.starts)
        previous = np.inf
        for _ in range(INNER_ITERATIONS):
            rows = list(self._problem.window_rows(point))
            prior = self._problem.theta_rows(theta)
            cost = 0.5 * sum(float(r[:, -1] @ r[:, -1]) for r in [*rows, prior])
            if previous - cost <= INNER_TOLERANCE * cost:
                break
            previous, kept, kept_rows = cost, point, rows
            steps = [_start_step(matrix, theta.size) for matrix in rows]
            moved = (start + step for start, step in zip(point.starts, steps, strict=True))
            point = Point(point.theta, tuple(moved))
        self._theta = kept.theta
        self._residual = np.concatenate([block[:, -1] for block in (*kept_rows, prior)])
        projected = [without_starts(block, theta.size) for block in kept_rows]
        self._jacobian = np.vstack([*projected, prior[:, :-1]])
        if previous < self._best_cost:
            self._best, self._best_cost = kept, previous


def _start_step(matrix: FloatArray, p: int) -> FloatArray:
    """Return the Gauss-Newton step of one window's start, (n_start,)."""
    if matrix.shape[1] == p + 1:
        return np.zeros(0)
    step = np.linalg.lstsq(matrix[:, p:-1], matrix[:, -1], rcond=None)[0]
    return np.asarray(-step, dtype=float)
