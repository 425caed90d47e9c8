# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finding the parameters that make the simulation reproduce the recordings."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy

from sysid_ros.engine.least_squares import (
    Ending,
    FitStatus,
    Iteration,
    Optimizer,
    Point,
    SolverSettings,
    Step,
    StopOptimizing,
    loss_named,
    minimize,
    optimizer_named,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import FD_STEP, Objective, rough_search
from sysid_ros.engine.simulation import single_blas_thread
from sysid_ros.engine.uncertainty import calculate_intervals
from sysid_ros.errors import ParameterError, unknown_name

__all__ = ["calculate_intervals", "optimize"]

_LOG = logging.getLogger(__name__)

_ILL_CONDITIONED = 1e12  # of J^T J: half the digits of a float64 are lost
# What our own search ends by, under the names that mujoco.sysid has for it, and its defaults.
_TOLERANCES = {"xtol": 1e-8, "gtol": 1e-8, "ftol": 1e-7}
# A little damping always: friction makes the cost jagged along directions that it hardly depends
# on, and undamped steps there are refused again and again.
_DAMPING = 1e-4
# Costs that a change of a parameter by one counts for at least: so much keeps what the cost hardly
# depends on near (41 parameters of a Panda) and slows down nothing else (its 21 well-known ones).
_LEAST_CURVATURE = 0.01


def optimize(
    initial_params: ParameterDict,
    residual_fn: Callable[..., Any],
    optimizer: Literal["auto", "mujoco", "scipy", "scipy_parallel_fd"] = "mujoco",
    verbose: bool = True,
    check_conditioning: bool = False,
    *,
    callback: Callable[[Iteration], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    time_limit: float | None = None,
    max_evaluations: int | None = None,
    max_iters: int = 200,
    loss: str = "linear",
    f_scale: float = 1.0,
    **optimizer_kwargs: Any,
) -> tuple[ParameterDict, scipy.optimize.OptimizeResult]:
    """Nonlinear least squares with bounds.

    With eight recordings or more, "auto" and "mujoco" begin on every eighth of them, and count that
    as their first step; ``max_evaluations`` leaves it out.

    Args:
      initial_params: Where to start and the bounds; not changed.
      residual_fn: ``(x, params) -> (list of residual arrays, ...)``, as from
        :func:`build_residual_fn`; with columns of ``x`` evaluated together, except for "scipy".
      optimizer: "auto", which "mujoco" means too unless options beyond xtol, gtol and ftol ask for
        ``mujoco.minimize`` itself; "scipy" (``scipy.optimize.least_squares``, one evaluation at a
        time) or "scipy_parallel_fd" (the same, finite differences in one batch).
      verbose: Whether the optimizer prints its steps and the result is logged as a table.
      check_conditioning: Whether to warn when the Jacobian at the start is nearly singular.
      callback: Called after every accepted step.
      should_stop: Asked before every evaluation; true ends the fit with the best so far.
      time_limit: The same after so many seconds.
      max_evaluations: The same after so many residuals.
      max_iters: Steps (mujoco) or evaluations without those of Jacobians (scipy).
      loss: linear, absolute (the mean absolute error's optimum), huber, soft_l1, cauchy or arctan.
      f_scale: Residuals well below it count as inliers of a robust loss.
      **optimizer_kwargs: For the optimizer itself: ``xtol``, ``gtol``, ``x_scale`` and so on.

    Returns:
      The identified parameters and a result with x, cost, fun (residual), jac, grad, status (a
      :class:`FitStatus`), success, message, iterations (nit), evaluations (nfev), jacobians
      (njev), elapsed (s), trace (an :class:`Iteration` per step) and extras (objective and
      candidate per step, as the reference has them).

    Raises:
      ParameterError: An unknown optimizer or loss, or a start outside its bounds.
      ModelError: The model does not compile at the start.
      DataError: The residual at the start is not finite.
    """
    chosen = optimizer_named(optimizer)
    relative_step = optimizer_kwargs.pop("diff_step", FD_STEP)
    found = initial_params.copy()
    _check_start(initial_params)
    objective = Objective(
        residual_fn,
        found.copy(),
        loss_named(loss, f_scale),
        should_stop=should_stop,
        time_limit=time_limit,
        max_evaluations=max_evaluations,
        callback=callback,
        relative_step=relative_step,
        batched=chosen.batched,
    )
    if not objective.free.any():
        _LOG.warning("The parameters are all frozen or fixed by their bounds: nothing to optimize.")
        objective(objective.start)
        message = "there is nothing to optimize"
        return found, _result(objective, Ending(objective.start, FitStatus.CONVERGED, message, 0))
    if check_conditioning:
        _warn_if_ill_conditioned(objective)
    _warn_if_at_bound(initial_params)
    result = _result(objective, _ending(objective, chosen, max_iters, verbose, optimizer_kwargs))
    found.update_from_vector(result.x)
    if verbose:
        values = initial_params.as_vector(), found.as_vector(), found.as_nominal_vector()
        table = found.compare_parameters(*values)
        _LOG.info("%s: %s\n%s", result.status.value, result.message, table)
    return found, result


def _ending(
    objective: Objective,
    optimizer: Optimizer,
    max_iters: int,
    verbose: bool,
    options: dict[str, Any],
) -> Ending:
    """Run the optimizer, and say where it ended; where it was stopped, at the best so far."""
    try:
        with single_blas_thread():
            own = optimizer.name == "mujoco" and options.keys() <= _TOLERANCES.keys()
            run = None if own else optimizer.adapter
            return (run or _own_ending)(objective, max_iters, verbose, options)
    except StopOptimizing as stop:
        # The Jacobian of the result is then the latest, as none may be computed any more.
        objective.confirm()
        steps = max(0, len(objective.history) - 1)
        return Ending(objective.best_x[objective.free], stop.status, stop.message, steps)


def _own_ending(
    objective: Objective, max_iters: int, verbose: bool, options: dict[str, Any]
) -> Ending:
    if unknown := options.keys() - _TOLERANCES.keys():
        raise ParameterError(unknown_name("option", min(unknown), _TOLERANCES))
    tolerances = {**_TOLERANCES, **options}
    settings = SolverSettings(
        max_iters,
        cost_tolerance=tolerances["ftol"],
        step_tolerance=tolerances["xtol"],
        gradient_tolerance=tolerances["gtol"],
        damping=_DAMPING,
        least_damping=_DAMPING,
        worth=1e-3,
        least_curvature=_LEAST_CURVATURE,
    )
    first = Point(objective.start, (np.zeros(0),))
    cost = objective.loss.cost(objective.at(first.theta))
    start, ahead = first, 0
    if max_iters > 1:
        start = rough_search(objective, first, replace(settings, max_iterations=max_iters))
    if start is not first:  # that was a step of its own, of which no gradient is known
        objective.report(Step(0, first, cost, np.nan, _DAMPING))
        ahead = 1

    def report(step: Step) -> None:
        objective.report(replace(step, number=step.number + ahead))

    def report_later(step: Step) -> None:
        if step.number:
            report(step)

    end = minimize(objective, start, replace(settings, max_iterations=max_iters - ahead), report)
    if not objective.confirm():  # once more, with what it is judged by
        ahead += end.iterations
        rest = replace(settings, max_iterations=max(0, max_iters - ahead))
        best = replace(end.point, theta=objective.best_x[objective.free])
        end = minimize(objective, best, rest, report_later)
    if verbose:
        for step in objective.history:
            print(f"{step.iteration:4d}  cost {step.cost:.6e}  gradient {step.gradient_norm:.1e}")
    return Ending(end.point.theta, end.status, end.message, end.iterations + ahead)


def _result(objective: Objective, end: Ending) -> scipy.optimize.OptimizeResult:
    free, loss = objective.free, objective.loss
    jacobian, gradient = np.zeros((0, len(free))), np.zeros(len(free))
    gradient[free] = np.nan
    if objective.latest_linearization is not None:
        _, plain, residual = objective.latest_linearization
        own = plain
        if loss.name != "linear":
            own = plain * np.sqrt(loss.hessian_weight(residual))[:, np.newaxis]
        jacobian = own
        if not free.all():
            jacobian = np.zeros((len(plain), len(free)))
            jacobian[:, free] = own
        gradient[free] = plain.T @ (loss.gradient_weight(residual) * residual)
    x = objective.expanded(end.x)
    best = np.array_equal(objective.best_x, x)
    residual = objective.best_residual if best else objective.at(end.x)
    return scipy.optimize.OptimizeResult(
        x=x,
        cost=loss.cost(residual),
        fun=residual,
        jac=jacobian,
        grad=gradient,
        status=end.status,
        success=end.status is FitStatus.CONVERGED,
        message=end.message,
        iterations=end.iterations,
        nit=end.iterations,
        evaluations=objective.evaluations,
        nfev=objective.evaluations,
        jacobians=objective.jacobians,
        njev=objective.jacobians,
        elapsed=objective.elapsed,
        extras={
            "objective": [step.cost for step in objective.history],
            "candidate": [step.values for step in objective.history],
        },
        trace=tuple(objective.history),
    )


def _check_start(params: ParameterDict) -> None:
    low, high = params.get_bounds()
    for name, value, below, above in zip(
        params.scalar_names(), params.as_vector(), low, high, strict=True
    ):
        if not below <= value <= above:
            raise ParameterError(
                f"parameter {name!r} starts at {value:g}, outside its bounds [{below:g}, {above:g}]"
            )


def _warn_if_at_bound(params: ParameterDict) -> None:
    low, high = params.get_bounds()
    width = high - low
    value = params.as_vector()
    with np.errstate(invalid="ignore"):
        near = (value - low <= 1e-3 * width) | (high - value <= 1e-3 * width)
    near &= np.isfinite(width) & (width > 0.0)
    if near.any():
        names = [name for name, at in zip(params.scalar_names(), near, strict=True) if at]
        _LOG.warning(
            "%d of %d parameters start at (or essentially at) a bound (%s), where an optimizer "
            "can stall; consider initial_params.move_off_bounds() before optimize().",
            len(names),
            len(value),
            ", ".join(names),
        )


def _warn_if_ill_conditioned(objective: Objective) -> None:
    condition = float(np.linalg.cond(objective.jacobian(objective.start))) ** 2
    if not condition <= _ILL_CONDITIONED:
        _LOG.warning(
            "cond(J^T J) ~ %.1e at the starting point; the problem may be ill-conditioned. "
            "Consider x_scale='jac' or priors.",
            condition,
        )
