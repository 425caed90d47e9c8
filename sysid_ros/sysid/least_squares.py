# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The optimizers behind :func:`sysid_ros.sysid.optimize.optimize`, with one kind of result."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from mujoco import minimize

from sysid_ros.sysid.fit_result import FitStatus
from sysid_ros.sysid.levenberg_marquardt import Search, Tolerances, free_gradient, search
from sysid_ros.sysid.objective import Objective, jacobian_of
from sysid_ros.sysid.robust import RobustNorm

FloatArray = npt.NDArray[np.float64]

_STEP = float(np.finfo(np.float64).eps ** 0.5)  # of finite differences, as scipy and mujoco have it
_INFINITE = 1e12  # stands for an infinite bound where an optimizer needs a finite one

_SCIPY_STATUS = {0: FitStatus.MAX_ITERATIONS, 1: FitStatus.CONVERGED, 2: FitStatus.CONVERGED,
                 3: FitStatus.CONVERGED, 4: FitStatus.CONVERGED}  # fmt: skip


@dataclass(frozen=True)
class Minimum:
    """What an optimizer found, in free components.

    Attributes:
      x: The solution, (n,).
      jacobian: Of the residual there, (m, n), rows weighted by the loss.
      gradient: Of the cost there, (n,).
      status: How it ended.
      message: The same in words.
      iterations: Accepted steps.
      jacobians: Jacobians computed.
    """

    x: FloatArray
    jacobian: FloatArray
    gradient: FloatArray
    status: FitStatus
    message: str
    iterations: int
    jacobians: int


def minimize_mujoco(
    objective: Objective, *, max_iters: int, verbose: bool, options: Mapping[str, Any]
) -> Minimum:
    """Levenberg-Marquardt with box bounds.

    Options of ``mujoco.minimize`` beyond the tolerances xtol, gtol and ftol are for that function
    itself, which is then used.
    """
    if set(options) <= {"xtol", "gtol", "ftol"}:
        return _searched(objective, search(objective, Tolerances(**options), max_iters), verbose)
    low, high = (np.clip(bound, -_INFINITE, _INFINITE) for bound in objective.bounds)
    settings = dict(options)
    user_callback = settings.pop("iter_callback", None)

    def on_iteration(trace: list[Any]) -> None:
        step = trace[-1]
        gradient = free_gradient(step.grad[:, 0], step.candidate[:, 0], (low, high))
        norm = float(np.linalg.norm(gradient))
        objective.report(len(trace) - 1, step.candidate[:, 0], float(step.objective), norm)
        if user_callback is not None:
            user_callback(trace)

    def jacobian(x: FloatArray) -> FloatArray:
        return jacobian_of(objective, x, relative_step=_STEP, batched=True)

    xtol = settings.setdefault("xtol", 1e-8)
    gtol = settings.setdefault("gtol", 1e-8)
    settings.setdefault("jacobian", lambda x, _: jacobian(x[:, 0]))
    x, trace = minimize.least_squares(
        objective.start,
        objective,
        bounds=[low, high],
        norm=RobustNorm(objective.loss),
        max_iter=max_iters,
        verbose=minimize.Verbosity.FULLITER,  # less would leave out Jacobian and gradient
        output=sys.stdout if verbose else io.StringIO(),
        iter_callback=on_iteration,
        **settings,
    )
    final = trace[-1]
    status, message = _mujoco_status(trace, (low, high), max_iters, xtol, gtol)
    weight = np.sqrt(objective.loss.hessian_weight(final.residual))
    return Minimum(
        x,
        final.jacobian * weight,
        final.grad[:, 0],
        status,
        message,
        len(trace) - 1,
        len(trace),
    )


def _searched(objective: Objective, found: Search, verbose: bool) -> Minimum:
    if verbose:
        for step in objective.history:
            print(f"{step.iteration:4d}  cost {step.cost:.6e}  gradient {step.gradient_norm:.1e}")
    weight = np.sqrt(objective.loss.hessian_weight(objective.at(found.x)))
    return Minimum(
        found.x,
        found.jacobian * weight[:, None],
        found.gradient,
        found.status,
        found.message,
        found.iterations,
        found.iterations + 1,
    )


def minimize_scipy(
    objective: Objective,
    *,
    batched: bool,
    max_iters: int,
    verbose: bool,
    options: Mapping[str, Any],
) -> Minimum:
    """``scipy.optimize.least_squares``; differences one by one or in one batch."""
    settings = dict(options)
    relative_step = settings.pop("diff_step", _STEP)

    def jacobian(x: FloatArray) -> FloatArray:
        residual = objective.at(x)
        result = jacobian_of(objective, x, relative_step=relative_step, batched=batched)
        gradient = result.T @ (objective.loss.gradient_weight(residual) * residual)
        norm = float(np.linalg.norm(free_gradient(gradient, x, objective.bounds)))
        cost = objective.loss.cost(residual)
        objective.report(len(objective.history), x, cost, norm)
        return result

    found = scipy.optimize.least_squares(
        objective,
        np.clip(objective.start, *objective.bounds),
        jac=jacobian,
        bounds=objective.bounds,
        loss=objective.loss.for_scipy,
        f_scale=objective.loss.scale,
        max_nfev=max_iters,
        verbose=2 if verbose else 0,
        **settings,
    )
    steps = len(objective.history)
    if not steps or not np.array_equal(objective.history[-1].values[objective.free], found.x):
        gradient = free_gradient(found.grad, found.x, objective.bounds)
        objective.report(steps, found.x, float(found.cost), float(np.linalg.norm(gradient)))
    return Minimum(
        found.x,
        np.asarray(found.jac),
        found.grad,
        _SCIPY_STATUS[found.status],
        found.message,
        len(objective.history) - 1,
        steps,
    )


def _mujoco_status(
    trace: list[Any],
    bounds: tuple[FloatArray, FloatArray],
    max_iters: int,
    xtol: float,
    gtol: float,
) -> tuple[FitStatus, str]:
    """How ``mujoco.minimize`` ended, which it prints but does not return."""
    steps, final = trace[:-1], trace[-1]
    gradient = free_gradient(final.grad[:, 0], final.candidate[:, 0], bounds)
    if np.linalg.norm(gradient) <= gtol:
        return FitStatus.CONVERGED, "the gradient vanishes"
    if steps:
        length = np.linalg.norm(steps[-1].step)
        if length < xtol * (xtol + np.linalg.norm(steps[-1].candidate)):
            return FitStatus.CONVERGED, "the step vanishes"
    if len(steps) >= max_iters:
        return FitStatus.MAX_ITERATIONS, f"the limit of {max_iters} iterations is reached"
    return FitStatus.STALLED, "no step lowers the cost any further"
