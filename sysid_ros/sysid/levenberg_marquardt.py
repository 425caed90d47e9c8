# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Levenberg-Marquardt within bounds for residual functions of the library.

The search of ``mujoco.minimize`` with three differences: damping is relative to the curvature of
each parameter (More 1978), so that units do not matter; after a step that went as expected it falls
at once, after a refused one it grows ever faster (Nielsen 1999), so that a step costs one or two
evaluations instead of a line of trials; and once a step has brought less than half of what was
expected, each is bent along the curve that the residual follows (geodesic acceleration; Transtrum
and Sethna 2012, "Improvements to the Levenberg-Marquardt algorithm for nonlinear least-squares
minimization", equation 15). That costs one more evaluation, and spares half of the steps where
parameters are determined only together: the valley of the cost is curved then.
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
SHRINKAGE = 0.1
GOOD_GAIN = 0.5  # of the decrease that was expected: the linear model holds along the step
FD_STEP = float(np.finfo(np.float64).eps ** 0.5)
# Of a step, to find out how the residual curves along it; and the longest bend that is believed.
CURVATURE_STEP = 0.1
MAX_BEND = 0.75


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
    ftol: float = 1e-7


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
        here = _linearized(objective, x, cost)
        damping.scale = np.maximum(damping.scale, np.diag(here.hessian))
        norm = float(np.linalg.norm(free_gradient(here.gradient, x, objective.bounds)))
        objective.report(iteration, x, cost, norm)
        if ending is None and norm <= tolerances.gtol:
            ending = FitStatus.CONVERGED, "the gradient vanishes"
        elif ending is None and iteration >= max_iters:
            ending = FitStatus.MAX_ITERATIONS, f"the limit of {max_iters} iterations is reached"
        step = ending or _step(objective, here, damping, tolerances)
        if not isinstance(step, _Step):
            return Search(x, here.jacobian, here.gradient, *step, iteration)
        if step.decrease <= tolerances.ftol * cost:
            ending = FitStatus.CONVERGED, "the cost no longer decreases"
        x, cost, iteration = step.x, cost - step.decrease, iteration + 1


@dataclass(frozen=True)
class _Linearization:
    """The Gauss-Newton model of the cost at one point.

    Attributes:
      x: Free components, (n,).
      cost: There.
      residual: There, (m,).
      jacobian: Of the residual, (m, n).
      hessian: Of the cost, by Gauss and Newton, (n, n).
      gradient: Of the cost, (n,).
    """

    x: FloatArray
    cost: float
    residual: FloatArray
    jacobian: FloatArray
    hessian: FloatArray
    gradient: FloatArray


@dataclass
class _Damping:
    """Little after a useful step, ever more after refused ones."""

    scale: FloatArray  # (n,): the largest curvature met
    factor: float = MIN_DAMPING
    growth: float = GROWTH
    curved: bool = False  # whether any step brought far less than was expected

    def added_to(self, hessian: FloatArray) -> FloatArray:
        return hessian + np.diag(self.factor * np.maximum(self.scale, 1e-300))

    def failed(self) -> None:
        self.factor *= self.growth
        self.growth *= 2.0
        self.curved = True

    def succeeded(self, gain: float) -> None:
        if gain >= GOOD_GAIN:
            self.factor = max(MIN_DAMPING, self.factor * SHRINKAGE)
        else:
            self.curved = True
        self.growth = GROWTH


@dataclass(frozen=True)
class _Step:
    """A step that lowers the cost."""

    x: FloatArray
    decrease: float


def _step(
    objective: Objective, here: _Linearization, damping: _Damping, tolerances: Tolerances
) -> _Step | tuple[FitStatus, str]:
    """The next step, or how the search ends without one."""
    x, (low, high) = here.x, objective.bounds
    while damping.factor <= MAX_DAMPING:
        matrix = damping.added_to(here.hessian)
        step = bounded_quadratic_step(matrix, here.gradient, low - x, high - x)
        if np.linalg.norm(step) <= tolerances.xtol * (tolerances.xtol + np.linalg.norm(x)):
            return FitStatus.CONVERGED, "the step vanishes"
        expected = -float(here.gradient @ step + 0.5 * step @ here.hessian @ step)
        if damping.curved:
            step = step + _bend(objective, here, step, matrix, damping.scale)
        trial = np.clip(x + step, low, high)
        decrease = here.cost - objective.loss.cost(objective(trial))
        if decrease > 0.0:
            damping.succeeded(decrease / max(expected, 1e-300))
            return _Step(trial, decrease)
        if expected <= tolerances.ftol * here.cost:
            return FitStatus.CONVERGED, "the cost no longer decreases"
        damping.failed()
    return FitStatus.STALLED, "no step lowers the cost any further"


def _bend(
    objective: Objective,
    here: _Linearization,
    step: FloatArray,
    matrix: FloatArray,
    scale: FloatArray,
) -> FloatArray:
    """What to add to a step because the residual curves along it; zero if that is not small.

    Args:
      objective: Residual, loss and bounds.
      here: The linearization.
      step: The step, (n,).
      matrix: The damped Hessian that it was found with, (n, n).
      scale: Of each component's curvature, (n,).
    """
    low, high = objective.bounds
    bend = np.zeros(len(step))
    inside = (step > low - here.x) & (step < high - here.x)
    if not inside.any():
        return bend
    ahead = objective(np.clip(here.x + CURVATURE_STEP * step, low, high))
    slope = (ahead - here.residual) / CURVATURE_STEP
    curvature = 2.0 / CURVATURE_STEP * (slope - here.jacobian @ step)
    pull = 0.5 * here.jacobian.T @ (objective.loss.gradient_weight(here.residual) * curvature)
    end = here.x + step
    bend[inside] = bounded_quadratic_step(
        matrix[np.ix_(inside, inside)], pull[inside], (low - end)[inside], (high - end)[inside]
    )
    weight = np.sqrt(scale)
    if np.linalg.norm(weight * bend) > MAX_BEND * np.linalg.norm(weight * step):
        return np.zeros(len(step))
    return bend


def _linearized(objective: Objective, x: FloatArray, cost: float) -> _Linearization:
    residual, loss = objective.at(x), objective.loss
    jacobian = jacobian_of(objective, x, relative_step=FD_STEP, batched=True)
    weighted = loss.weighted_jacobian(jacobian, residual)
    gradient = jacobian.T @ (loss.gradient_weight(residual) * residual)
    return _Linearization(x, cost, residual, jacobian, weighted.T @ weighted, gradient)


def free_gradient(
    gradient: FloatArray, x: FloatArray, bounds: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """The gradient without components that point out of the bounds."""
    blocked = ((x <= bounds[0]) & (gradient > 0.0)) | ((x >= bounds[1]) & (gradient < 0.0))
    return np.where(blocked, 0.0, gradient)
