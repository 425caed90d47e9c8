# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The optimizers by name: our own, and mujoco.minimize or scipy on the projected problem.

``auto`` is :func:`sysid_ros.sysid.solver.minimize`, which moves parameters and starts together.
The others know nothing of starts. They are given the variable projection functional (Golub &
Pereyra 1973): the residual at the starts that are best for theta, with Kaufman's Jacobian
``(I - Q Q^T) J_theta`` where Q spans the columns of ``J_start``.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco.minimize
import numpy as np
import numpy.typing as npt
import scipy

from sysid_ros.errors import ExperimentError, StopRequestedError, unknown_name
from sysid_ros.sysid.fit_result import FitStatus, Iteration
from sysid_ros.sysid.problem import Point, WindowedProblem
from sysid_ros.sysid.solver import Solution, SolverSettings, minimize, projected_gradient_norm

FloatArray = npt.NDArray[np.float64]

OPTIMIZERS = ("auto", "mujoco", "scipy", "scipy_parallel_fd")
INNER_ITERATIONS = 4
INNER_TOLERANCE = 1e-10


def minimize_with(
    optimizer: str,
    problem: WindowedProblem,
    point: Point,
    settings: SolverSettings,
    *,
    on_iteration: Callable[[Iteration], None] | None = None,
    on_point: Callable[[Point, float], None] | None = None,
    first_iteration: int = 0,
    started: float | None = None,
) -> Solution:
    """Minimize with the optimizer of that name; see :func:`sysid_ros.sysid.solver.minimize`.

    Raises:
      ExperimentError: There is no optimizer of that name.
    """
    if optimizer not in OPTIMIZERS:
        raise ExperimentError(unknown_name("optimizer", optimizer, OPTIMIZERS))
    if optimizer == "auto" or point.theta.size == 0:
        return minimize(
            problem,
            point,
            settings,
            on_iteration=on_iteration,
            on_point=on_point,
            first_iteration=first_iteration,
            started=started,
        )
    began = time.monotonic() if started is None else started

    def on_step(step: Iteration, best: Point) -> None:
        if on_iteration is not None:
            on_iteration(step)
        if on_point is not None:
            on_point(best, settings.damping)

    return _ProjectedProblem(problem, point, settings, on_step, first_iteration, began).solve(
        optimizer
    )


class _OutOfTimeError(Exception):
    """The time limit of the settings has passed."""


class _ProjectedProblem:
    """Residual and Jacobian in theta alone, starts solved for along the way."""

    def __init__(
        self,
        problem: WindowedProblem,
        point: Point,
        settings: SolverSettings,
        on_step: Callable[[Iteration, Point], None],
        first_iteration: int,
        began: float,
    ) -> None:
        self._problem = problem
        self._start = point
        self._settings = settings
        self._listener = on_step
        self._first = first_iteration
        self._began = began
        self._iterations = 0
        self._best = point
        self._best_cost = np.inf
        self._current = point
        self._residual = np.zeros(0)
        self._jacobian = np.zeros((0, point.theta.size))

    def solve(self, optimizer: str) -> Solution:
        try:
            status = self._mujoco() if optimizer == "mujoco" else self._scipy()
        except StopRequestedError:
            return Solution(self._best, None, FitStatus.CANCELED, self._iterations)
        except _OutOfTimeError:
            status = FitStatus.TIME_LIMIT
        return Solution(self._best, self._problem.linearize(self._best), status, self._iterations)

    def _mujoco(self) -> FitStatus:
        mujoco.minimize.least_squares(
            x0=self._start.theta,
            residual=lambda x: np.stack([self.residual(column) for column in x.T], axis=-1),
            bounds=[self._problem.lower, self._problem.upper],
            jacobian=lambda x, r: self.jacobian(x[:, 0]),
            verbose=mujoco.minimize.Verbosity.SILENT,
            max_iter=max(self._settings.max_iterations, 1),
        )
        reached = self._iterations >= self._settings.max_iterations
        return FitStatus.MAX_ITERATIONS if reached else FitStatus.CONVERGED

    def _scipy(self) -> FitStatus:
        result = scipy.optimize.least_squares(
            self.residual,
            self._start.theta,
            jac=self.jacobian,
            bounds=(self._problem.lower, self._problem.upper),
            x_scale=self._problem.scale,
            ftol=self._settings.cost_tolerance,
            max_nfev=max(self._settings.max_iterations, 1),
        )
        return FitStatus.MAX_ITERATIONS if result.status == 0 else FitStatus.CONVERGED

    def residual(self, theta: FloatArray) -> FloatArray:
        """Rows in units of noise at the best starts for ``theta``."""
        self._evaluate(np.asarray(theta, dtype=float))
        return self._residual

    def jacobian(self, theta: FloatArray) -> FloatArray:
        """Kaufman's Jacobian of :meth:`residual`."""
        self._evaluate(np.asarray(theta, dtype=float))
        self._iterations += 1
        self._report()
        return self._jacobian

    def _evaluate(self, theta: FloatArray) -> None:
        if self._residual.size and np.array_equal(theta, self._current.theta):
            return
        if (
            self._settings.time_limit is not None
            and time.monotonic() - self._began > self._settings.time_limit
        ):
            raise _OutOfTimeError
        point = Point(theta.copy(), self._best.starts)
        previous = np.inf
        for _ in range(INNER_ITERATIONS):
            rows = [window.matrix for window in self._problem.window_rows(point)]
            prior = self._problem.prior_rows(theta)
            cost = 0.5 * sum(float(r[:, -1] @ r[:, -1]) for r in [*rows, prior])
            if previous - cost <= INNER_TOLERANCE * cost:
                break
            previous, kept, kept_rows = cost, point, rows
            steps = [_start_step(matrix, theta.size) for matrix in rows]
            point = Point(
                theta.copy(),
                tuple(start + step for start, step in zip(point.starts, steps, strict=True)),
            )
        self._current = kept
        blocks = [_projected(matrix, theta.size) for matrix in kept_rows] + [prior]
        self._residual = np.concatenate([block[:, -1] for block in blocks])
        self._jacobian = np.vstack([block[:, :-1] for block in blocks])
        if previous < self._best_cost:
            self._best, self._best_cost = kept, previous

    def _report(self) -> None:
        gradient = self._jacobian.T @ self._residual
        self._listener(
            Iteration(
                self._first + self._iterations,
                self._best_cost,
                projected_gradient_norm(self._problem, self._current, gradient),
                tuple(self._problem.params.scalar_names()),
                self._best.theta.copy(),
                time.monotonic() - self._began,
            ),
            self._best,
        )


def _start_step(matrix: FloatArray, p: int) -> FloatArray:
    """Gauss-Newton step of one window's start, shape (n_start,)."""
    if matrix.shape[1] == p + 1:
        return np.zeros(0)
    step = np.linalg.lstsq(matrix[:, p:-1], matrix[:, -1], rcond=None)[0]
    return np.asarray(-step, dtype=float)


def _projected(matrix: FloatArray, p: int) -> FloatArray:
    """``[(I - Q Q^T) J_theta, r]`` of one window."""
    if matrix.shape[1] == p + 1:
        return matrix
    basis = np.linalg.qr(matrix[:, p:-1])[0]
    theta = matrix[:, :p]
    return np.hstack([theta - basis @ (basis.T @ theta), matrix[:, -1:]])
