# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The optimizers by name: our own, and mujoco.minimize or scipy behind one kind of adapter.

``auto`` is :mod:`~sysid_ros.engine.least_squares.levenberg_marquardt`, which moves parameters and
starts together. The others are given a residual in the parameters alone: that of a residual
function, or that of windows with their starts solved for. An optimizer is one adapter here and one
row of :data:`OPTIMIZERS`.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco.minimize
import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares.gauss_newton import Point, free_gradient
from sysid_ros.engine.least_squares.levenberg_marquardt import Step, gradient_norm
from sysid_ros.engine.least_squares.losses import Loss, LossNorm
from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.engine.least_squares.slope_by_chance import Boxed
from sysid_ros.errors import ExperimentError, ParameterError, unknown_name

_INFINITE = 1e12  # stands for an infinite bound where an optimizer needs a finite one


class OptimizerError(ExperimentError, ParameterError):
    """There is no such optimizer."""


class StopOptimizing(Exception):  # noqa: N818  (no error: how an optimizer is left early)
    """Ends an optimizer from inside the function it minimizes."""

    def __init__(self, status: FitStatus, message: str) -> None:
        """Say how the fit ended."""
        super().__init__(message)
        self.status = status
        self.message = message


class Residuals(Boxed, Protocol):
    """A least-squares problem as plain optimizers see it."""

    @property
    def start(self) -> FloatArray:
        """Return the point to begin at, (n,), within the bounds."""

    @property
    def loss(self) -> Loss:
        """The loss by which residuals count."""

    def __call__(self, x: FloatArray) -> FloatArray:
        """Residual (m,) at (n,), or (m, k) at k points (n, k)."""

    def at(self, x: FloatArray) -> FloatArray:
        """The same (m,) at (n,), from memory where it was the latest one."""

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Its derivative at (n,), (m, n)."""

    def report(self, step: Step) -> None:
        """Called at the start and after every accepted step."""


@dataclass(frozen=True)
class Ending:
    """The point at which an optimizer stopped, and why."""

    x: FloatArray  # the solution, (n,)
    status: FitStatus  # how it ended
    message: str  # the same in words
    iterations: int  # accepted steps


# problem, steps at most, whether to print, options of the optimizer itself
Adapter = Callable[[Residuals, int, bool, Mapping[str, Any]], Ending]


class _Watched:
    """A problem whose accepted steps are reported: those where a Jacobian is asked for."""

    def __init__(self, problem: Residuals) -> None:
        self._problem = problem
        self._latest: FloatArray | None = None
        self.steps = -1

    def jacobian(self, x: FloatArray) -> FloatArray:
        problem, jacobian = self._problem, self._problem.jacobian(x)
        if self._latest is None or not np.array_equal(x, self._latest):
            residual = problem.at(x)
            gradient = jacobian.T @ (problem.loss.gradient_weight(residual) * residual)
            self._latest, self.steps = x.copy(), self.steps + 1
            point = Point(x.copy())
            slope = gradient_norm(problem, point, gradient)
            problem.report(Step(self.steps, point, problem.loss.cost(residual), slope, 0.0))
        return jacobian

    def ended(self, x: FloatArray, status: FitStatus, message: str) -> Ending:
        if self._latest is None or not np.array_equal(x, self._latest):
            self.jacobian(x)
        return Ending(x, status, message, self.steps)


def minimize_mujoco(
    problem: Residuals, max_iters: int, verbose: bool, options: Mapping[str, Any]
) -> Ending:
    """Minimize with ``mujoco.minimize.least_squares``."""
    watched = _Watched(problem)
    low, high = (np.clip(bound, -_INFINITE, _INFINITE) for bound in (problem.lower, problem.upper))
    settings = {"xtol": 1e-8, "gtol": 1e-8, **options}
    ftol = settings.pop("ftol", 0.0)  # not one of its own: to judge where no step helps any more
    x, trace = mujoco.minimize.least_squares(
        problem.start,
        problem,
        bounds=[low, high],
        jacobian=settings.pop("jacobian", lambda x, _: watched.jacobian(x[:, 0])),
        norm=LossNorm(problem.loss),
        max_iter=max_iters,
        verbose=mujoco.minimize.Verbosity.FULLITER,  # less would leave out the gradient
        output=sys.stdout if verbose else io.StringIO(),
        **settings,
    )
    settings["ftol"] = ftol
    return watched.ended(x, *_mujoco_status(trace, (low, high), max_iters, settings))


def minimize_scipy(
    problem: Residuals, max_iters: int, verbose: bool, options: Mapping[str, Any]
) -> Ending:
    """Minimize with ``scipy.optimize.least_squares``."""
    watched, linear = _Watched(problem), problem.loss.name == "linear"
    found = scipy.optimize.least_squares(
        problem,
        problem.start,
        jac=watched.jacobian,
        bounds=(problem.lower, problem.upper),
        loss="linear" if linear else problem.loss.for_scipy,
        f_scale=problem.loss.scale,
        max_nfev=max_iters,
        verbose=2 if verbose else 0,
        **options,
    )
    status = FitStatus.MAX_ITERATIONS if found.status == 0 else FitStatus.CONVERGED
    return watched.ended(found.x, status, found.message)


@dataclass(frozen=True)
class Optimizer:
    """One way to minimize."""

    name: str  # as the experiment file and ``optimize`` spell it
    adapter: Adapter | None  # what runs it; ``None`` for our own
    # whether a residual function is given all points of a finite difference at once
    batched: bool = True


OPTIMIZERS = {
    row.name: row
    for row in (
        Optimizer("auto", None),
        Optimizer("mujoco", minimize_mujoco),
        Optimizer("scipy", minimize_scipy, batched=False),
        Optimizer("scipy_parallel_fd", minimize_scipy),
    )
}


def optimizer_named(name: str) -> Optimizer:
    """Return the optimizer called ``name``.

    Raises:
      OptimizerError: There is none; the message lists those there are.
    """
    if name not in OPTIMIZERS:
        given = unknown_name("optimizer", str(name), OPTIMIZERS)
        raise OptimizerError(f"Unsupported optimizer: '{name}': {given}")
    return OPTIMIZERS[name]


def _promised(gradient: FloatArray, jacobian: FloatArray) -> float:
    """The decrease of the cost that a Gauss-Newton step in the free components promises."""
    part = jacobian[:, gradient != 0.0]
    free = gradient[gradient != 0.0]
    step = np.linalg.lstsq(part.T @ part, free, rcond=None)[0]
    return 0.5 * float(free @ step)


def _mujoco_status(
    trace: list[Any],
    bounds: tuple[FloatArray, FloatArray],
    max_iters: int,
    settings: Mapping[str, Any],
) -> tuple[FitStatus, str]:
    """Return how ``mujoco.minimize`` ended, which it prints but does not return."""
    steps, final = trace[:-1], trace[-1]
    gradient = free_gradient(final.grad[:, 0], final.candidate[:, 0], *bounds)
    if np.linalg.norm(gradient) <= settings["gtol"]:
        return FitStatus.CONVERGED, "the gradient vanishes"
    if steps:
        xtol, length = settings["xtol"], np.linalg.norm(steps[-1].step)
        if length < xtol * (xtol + np.linalg.norm(steps[-1].candidate)):
            return FitStatus.CONVERGED, "the step vanishes"
        if steps[-1].reduction <= settings["ftol"] * final.objective:
            return FitStatus.CONVERGED, "the cost no longer decreases"
    elif _promised(gradient, final.jacobian) <= settings["ftol"] * final.objective:
        return FitStatus.CONVERGED, "no step is worth it from the start"  # it was an optimum
    if len(steps) >= max_iters:
        return FitStatus.MAX_ITERATIONS, f"the limit of {max_iters} iterations is reached"
    return FitStatus.STALLED, "no step lowers the cost any further"
