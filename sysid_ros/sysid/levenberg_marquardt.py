# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Levenberg-Marquardt within bounds for residual functions of the library.

The search of ``mujoco.minimize`` with two differences: damping is relative to the curvature of each
parameter (More 1978), so that units do not matter, and it follows Nielsen's rule (1999), so that
a step costs one or two evaluations instead of a line of trials.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.fit_result import FitStatus
from sysid_ros.sysid.objective import Objective, jacobian_of
from sysid_ros.sysid.solver import bounded_quadratic_step

FloatArray = npt.NDArray[np.float64]

# Relative to the curvature. A little damping always: friction makes the cost jagged along
# directions that it hardly depends on, and undamped steps there are refused again and again.
MIN_DAMPING, MAX_DAMPING = 1e-4, 1e12
GROWTH = 4.0
FD_STEP = float(np.finfo(np.float64).eps ** 0.5)


@dataclass(frozen=True)
class Tolerances:
    """When the search ends.

    Attributes:
      xtol: Length of the step relative to that of the parameters.
      gtol: Norm of the gradient that the bounds leave free.
      ftol: Decrease of the cost relative to the cost.
    """

    xtol: float = 1e-8
    gtol: float = 1e-8
    ftol: float = 1e-8


@dataclass(frozen=True)
class Search:
    """How a search ended, in free components.

    Attributes:
      x: The solution, (n,).
      jacobian: Of the residual there, (m, n), not weighted by the loss.
      gradient: Of the cost there, (n,).
      status: How it ended.
      message: The same in words.
      iterations: Accepted steps.
    """

    x: FloatArray
    jacobian: FloatArray
    gradient: FloatArray
    status: FitStatus
    message: str
    iterations: int


def search(objective: Objective, tolerances: Tolerances, max_iters: int) -> Search:
    """Minimize the objective from its start.

    Args:
      objective: Residual, loss and bounds.
      tolerances: When to end.
      max_iters: Accepted steps at most.
    """
    x = np.clip(objective.start, *objective.bounds)
    cost = objective.loss.cost(objective(x))
    damping = _Damping(np.zeros(len(x)))
    ending: tuple[FitStatus, str] | None = None
    iteration = 0
    while True:
        jacobian, hessian, gradient = _linearized(objective, x)
        damping.scale = np.maximum(damping.scale, np.diag(hessian))
        norm = float(np.linalg.norm(free_gradient(gradient, x, objective.bounds)))
        objective.report(iteration, x, cost, norm)
        if ending is None and norm <= tolerances.gtol:
            ending = FitStatus.CONVERGED, "the gradient vanishes"
        elif ending is None and iteration >= max_iters:
            ending = FitStatus.MAX_ITERATIONS, f"the limit of {max_iters} iterations is reached"
        step = ending or _step(objective, x, cost, hessian, gradient, damping, tolerances)
        if not isinstance(step, _Step):
            return Search(x, jacobian, gradient, *step, iteration)
        if step.decrease <= tolerances.ftol * cost:
            ending = FitStatus.CONVERGED, "the cost no longer decreases"
        x, cost, iteration = step.x, cost - step.decrease, iteration + 1


@dataclass
class _Damping:
    """Nielsen's rule: little after a step that went as expected, ever more after failures."""

    scale: FloatArray  # (n,): the largest curvature met
    factor: float = MIN_DAMPING
    growth: float = GROWTH

    def matrix(self) -> FloatArray:
        return np.diag(self.factor * np.maximum(self.scale, 1e-300))

    def failed(self) -> None:
        self.factor *= self.growth
        self.growth *= 2.0

    def succeeded(self, gain: float) -> None:
        shrink = max(1.0 / 9.0, 1.0 - (2.0 * min(gain, 1.0) - 1.0) ** 3)
        self.factor = max(MIN_DAMPING, self.factor * shrink)
        self.growth = GROWTH


@dataclass(frozen=True)
class _Step:
    """A step that lowers the cost."""

    x: FloatArray
    decrease: float


def _step(
    objective: Objective,
    x: FloatArray,
    cost: float,
    hessian: FloatArray,
    gradient: FloatArray,
    damping: _Damping,
    tolerances: Tolerances,
) -> _Step | tuple[FitStatus, str]:
    """The next step, or how the search ends without one."""
    low, high = objective.bounds
    while damping.factor <= MAX_DAMPING:
        step = bounded_quadratic_step(hessian + damping.matrix(), gradient, low - x, high - x)
        if np.linalg.norm(step) <= tolerances.xtol * (tolerances.xtol + np.linalg.norm(x)):
            return FitStatus.CONVERGED, "the step vanishes"
        expected = -float(gradient @ step + 0.5 * step @ hessian @ step)
        trial = np.clip(x + step, low, high)
        decrease = cost - objective.loss.cost(objective(trial))
        if decrease > 0.0:
            damping.succeeded(decrease / max(expected, 1e-300))
            return _Step(trial, decrease)
        if expected <= tolerances.ftol * cost:
            return FitStatus.CONVERGED, "the cost no longer decreases"
        damping.failed()
    return FitStatus.STALLED, "no step lowers the cost any further"


def _linearized(objective: Objective, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Jacobian, Gauss-Newton matrix and gradient of the cost."""
    residual = objective.at(x)
    jacobian = jacobian_of(objective, x, relative_step=FD_STEP, batched=True)
    weighted = jacobian * objective.loss.hessian_weight(residual)[:, None]
    gradient = jacobian.T @ (objective.loss.gradient_weight(residual) * residual)
    return jacobian, jacobian.T @ weighted, gradient


def free_gradient(
    gradient: FloatArray, x: FloatArray, bounds: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """The gradient without components that point out of the bounds."""
    blocked = ((x <= bounds[0]) & (gradient > 0.0)) | ((x >= bounds[1]) & (gradient < 0.0))
    return np.where(blocked, 0.0, gradient)
