# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bounded Levenberg-Marquardt on the parameters with the windows' starts eliminated.

Each iteration solves, with the Schur complement over the starts (bundle adjustment's reduced
system; Triggs et al., Bundle Adjustment - A Modern Synthesis, 6.1),

    (A + lambda D - sum_w B_w C_w^-1 B_w^T) dtheta = -(g - sum_w B_w C_w^-1 c_w)

subject to the bounds, and recovers every start's step from its own small system.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.errors import StopRequestedError
from sysid_ros.sysid.fit_result import FitStatus, Iteration
from sysid_ros.sysid.problem import Linearization, Point, WindowedProblem

FloatArray = npt.NDArray[np.float64]

INITIAL_DAMPING = 1e-3
DAMPING_DECREASE = 0.1
DAMPING_INCREASE = 4.0
MAX_DAMPING = 1e8
MIN_DAMPING = 1e-12


@dataclass(frozen=True)
class SolverSettings:
    """When to stop.

    Attributes:
      max_iterations: Accepted steps at most.
      time_limit: Seconds at most, or ``None``.
      cost_tolerance: Relative decrease of the cost below which the fit has converged.
      damping: Of the first step.
    """

    max_iterations: int = 100
    time_limit: float | None = None
    cost_tolerance: float = 1e-6
    damping: float = INITIAL_DAMPING


@dataclass(frozen=True)
class Solution:
    """Where the solver stopped, and why."""

    point: Point
    linearization: Linearization | None  # None: stopped before the first one was complete
    status: FitStatus
    iterations: int


@dataclass(frozen=True)
class ReducedSystem:
    """The Gauss-Newton model of theta after the starts are eliminated.

    Attributes:
      hessian: Shape (p, p).
      gradient: Shape (p,).
      window_hessians: Each window's share of the Hessian, (n_windows, p, p).
      window_gradients: Each window's share of the gradient, (n_windows, p).
    """

    hessian: FloatArray
    gradient: FloatArray
    window_hessians: FloatArray
    window_gradients: FloatArray


def eliminate_starts(linearization: Linearization, damping: float = 0.0) -> ReducedSystem:
    """Eliminate every window's start.

    Args:
      linearization: The Gauss-Newton model.
      damping: Levenberg-Marquardt damping of the starts' own systems.

    Returns:
      The system in theta alone; priors of parameters count in the sums but in no window.
    """
    p = linearization.prior.shape[0] - 1
    hessians = np.zeros((len(linearization.grams), p, p))
    gradients = np.zeros((len(linearization.grams), p))
    for w, gram in enumerate(linearization.grams):
        solved = _start_solution(gram, p, damping)
        hessians[w] = gram[:p, :p] - gram[:p, p:-1] @ solved[:, :p]
        gradients[w] = gram[:p, -1] - gram[:p, p:-1] @ solved[:, p]
    return ReducedSystem(
        hessians.sum(axis=0) + linearization.prior[:p, :p],
        gradients.sum(axis=0) + linearization.prior[:p, p],
        hessians,
        gradients,
    )


def _start_solution(gram: FloatArray, p: int, damping: float) -> FloatArray:
    """``C^-1 [B^T c]`` of one window, shape (n_start, p + 1)."""
    block = gram[p:-1, p:-1]
    damped = block + damping * np.diag(np.diag(block))
    right = np.hstack([gram[p:-1, :p], gram[p:-1, -1:]])
    return np.asarray(np.linalg.solve(damped, right), dtype=float)


def minimize(
    problem: WindowedProblem,
    point: Point,
    settings: SolverSettings,
    *,
    on_iteration: Callable[[Iteration], None] | None = None,
    on_point: Callable[[Point, float], None] | None = None,
    first_iteration: int = 0,
    started: float | None = None,
) -> Solution:
    """Minimize the objective from ``point`` within the parameters' bounds.

    Args:
      problem: The problem.
      point: Where to start.
      settings: When to stop.
      on_iteration: Called after the first linearization and after every accepted step.
      on_point: Called after that with all unknowns and the damping of the next step.
      first_iteration: Number of the first iteration reported.
      started: :func:`time.monotonic` at the beginning of the fit; default now.

    Returns:
      The best point found. An interrupted rollout ends the search with status CANCELED.
    """
    began = time.monotonic() if started is None else started
    names = tuple(problem.params.scalar_names())
    try:
        lin = problem.linearize(point)
    except StopRequestedError:
        return Solution(point, None, FitStatus.CANCELED, 0)
    damping = settings.damping
    status = FitStatus.MAX_ITERATIONS
    iteration = 0

    def report() -> None:
        if on_iteration is not None:
            gradient = eliminate_starts(lin).gradient
            on_iteration(
                Iteration(
                    first_iteration + iteration,
                    lin.cost,
                    projected_gradient_norm(problem, point, gradient),
                    names,
                    point.theta.copy(),
                    time.monotonic() - began,
                )
            )
        if on_point is not None:
            on_point(point, damping)

    report()
    while iteration < settings.max_iterations:
        if settings.time_limit is not None and time.monotonic() - began > settings.time_limit:
            status = FitStatus.TIME_LIMIT
            break
        try:
            step = _accepted_step(problem, point, lin, damping, settings.cost_tolerance)
            if step.point is None:
                status = step.status
                break
            next_lin = problem.linearize(step.point)
        except StopRequestedError:
            status = FitStatus.CANCELED
            break
        decrease = lin.cost - next_lin.cost
        point, lin, damping = step.point, next_lin, step.damping
        iteration += 1
        report()
        if decrease <= settings.cost_tolerance * lin.cost:
            status = FitStatus.CONVERGED
            break
    return Solution(point, lin, status, iteration)


@dataclass(frozen=True)
class _Step:
    point: Point | None  # None: no step was found, see status
    damping: float
    status: FitStatus


def _accepted_step(
    problem: WindowedProblem,
    point: Point,
    lin: Linearization,
    damping: float,
    tolerance: float,
) -> _Step:
    """Raise the damping until a step lowers the cost."""
    while damping < MAX_DAMPING:
        candidate, predicted = _damped_step(problem, point, lin, damping)
        if predicted <= tolerance * 0.1 * lin.cost:
            return _Step(None, damping, FitStatus.CONVERGED)
        actual = lin.cost - problem.cost(candidate)
        ratio = actual / predicted
        if ratio > 1e-3:
            factor = DAMPING_DECREASE if ratio > 0.5 else 1.0 if ratio > 0.25 else 2.0
            return _Step(candidate, max(MIN_DAMPING, damping * factor), FitStatus.CONVERGED)
        damping *= DAMPING_INCREASE if damping > 1e-6 else 100.0
    return _Step(None, damping, FitStatus.STALLED)


def _damped_step(
    problem: WindowedProblem, point: Point, lin: Linearization, damping: float
) -> tuple[Point, float]:
    """The bounded Levenberg-Marquardt step and the decrease of cost it predicts."""
    p = point.theta.size
    system = eliminate_starts(lin, damping)
    undamped = sum((g[:p, :p] for g in lin.grams), lin.prior[:p, :p])
    diagonal = np.diag(undamped).copy()
    # A parameter that nothing shows must not move by rounding.
    diagonal = np.maximum(diagonal, 1e-12 * max(diagonal.max(initial=0.0), 1e-300))
    delta = bounded_quadratic_step(
        system.hessian + damping * np.diag(diagonal),
        system.gradient,
        problem.lower - point.theta,
        problem.upper - point.theta,
    )
    starts = []
    predicted = -float(lin.prior[:p, p] @ delta) - 0.5 * float(delta @ lin.prior[:p, :p] @ delta)
    for gram, start in zip(lin.grams, point.starts, strict=True):
        solved = _start_solution(gram, p, damping)
        move = -(solved[:, :p] @ delta + solved[:, p])
        starts.append(start + move)
        full = np.concatenate([delta, move])
        predicted -= float(gram[:-1, -1] @ full) + 0.5 * float(full @ gram[:-1, :-1] @ full)
    theta = np.clip(point.theta + delta, problem.lower, problem.upper)
    return Point(theta, tuple(starts)), predicted


def bounded_quadratic_step(
    hessian: FloatArray, gradient: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Minimize ``1/2 d^T H d + g^T d`` with ``lower <= d <= upper``.

    Args:
      hessian: Positive definite, (p, p).
      gradient: Shape (p,).
      lower: At most zero, (p,).
      upper: At least zero, (p,).

    Returns:
      The step, shape (p,); zeros where the system cannot be factorized.
    """
    p = gradient.size
    if p == 0:
        return np.zeros(0)
    # Scaling to a unit diagonal keeps parameters of different magnitude equally well resolved.
    scale = 1.0 / np.sqrt(np.maximum(np.diag(hessian), 1e-300))
    step = np.zeros(p)
    work = np.zeros((p, p + 7))
    index = np.zeros(p, dtype=np.int32)
    rank = mujoco.mju_boxQP(
        step,
        work,
        index,
        hessian * np.outer(scale, scale),
        gradient * scale,
        lower / scale,
        upper / scale,
    )
    return step * scale if rank >= 0 else np.zeros(p)


def projected_gradient_norm(problem: WindowedProblem, point: Point, gradient: FloatArray) -> float:
    """Largest scaled gradient component that does not push against an active bound."""
    free = ~(
        ((point.theta <= problem.lower) & (gradient > 0.0))
        | ((point.theta >= problem.upper) & (gradient < 0.0))
    )
    return float(np.max(np.abs(gradient * problem.scale)[free], initial=0.0))
