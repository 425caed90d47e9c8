# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finding the parameters that make the simulation reproduce the recordings."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from sysid_ros.errors import unknown_name
from sysid_ros.sysid.blas import single_blas_thread
from sysid_ros.sysid.fit_result import FitStatus, Iteration
from sysid_ros.sysid.intervals import calculate_intervals
from sysid_ros.sysid.least_squares import Minimum, minimize_mujoco, minimize_scipy
from sysid_ros.sysid.objective import Objective, StopOptimizing, jacobian_of
from sysid_ros.sysid.parameter import ParameterError
from sysid_ros.sysid.parameter_dict import ParameterDict
from sysid_ros.sysid.robust import RobustLoss

FloatArray = npt.NDArray[np.float64]

__all__ = ["calculate_intervals", "optimize"]

_LOG = logging.getLogger(__name__)

_OPTIMIZERS = ("mujoco", "scipy", "scipy_parallel_fd")
_ILL_CONDITIONED = 1e12  # of J^T J: half the digits of a float64 are lost
_STEP = float(np.finfo(np.float64).eps ** 0.5)


def optimize(
    initial_params: ParameterDict,
    residual_fn: Callable[..., Any],
    optimizer: Literal["scipy", "mujoco", "scipy_parallel_fd"] = "mujoco",
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

    Args:
      initial_params: Where to start and the bounds; not changed.
      residual_fn: ``(x, params) -> (list of residual arrays, ...)``, as from
        :func:`build_residual_fn`; with columns of ``x`` evaluated together, except for "scipy".
      optimizer: "mujoco" (``mujoco.minimize``), "scipy" (``scipy.optimize.least_squares``, one
        evaluation at a time) or "scipy_parallel_fd" (the same, finite differences in one batch).
      verbose: Whether the optimizer prints its steps and the result is logged as a table.
      check_conditioning: Whether to warn when the Jacobian at the start is nearly singular.
      callback: Called after every accepted step.
      should_stop: Asked before every evaluation; true ends the fit with the best so far.
      time_limit: Seconds after which the fit ends with the best so far.
      max_evaluations: Residuals after which the fit ends likewise.
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
    if optimizer not in _OPTIMIZERS:
        raise ParameterError(
            f"Unsupported optimizer: '{optimizer}': "
            + unknown_name("optimizer", str(optimizer), _OPTIMIZERS)
        )
    found = initial_params.copy()
    _check_start(initial_params)
    objective = Objective(
        residual_fn,
        found.copy(),
        RobustLoss(loss, f_scale),
        should_stop=should_stop,
        time_limit=time_limit,
        max_evaluations=max_evaluations,
        callback=callback,
    )
    if not objective.free.any():
        _LOG.warning("The parameters are all frozen or fixed by their bounds: nothing to optimize.")
        objective(objective.start)
        return found, _result(
            objective,
            _stopped(objective, FitStatus.CONVERGED, "there is nothing to optimize"),
        )
    if check_conditioning:
        _warn_if_ill_conditioned(objective, optimizer_kwargs.get("diff_step", _STEP))
    _warn_if_at_bound(initial_params)
    minimum = _minimized(objective, optimizer, max_iters, verbose, optimizer_kwargs)
    result = _result(objective, minimum)
    found.update_from_vector(result.x)
    if verbose:
        _LOG.info(
            "%s: %s\n%s",
            result.status.value,
            result.message,
            found.compare_parameters(
                initial_params.as_vector(), found.as_vector(), found.as_nominal_vector()
            ),
        )
    return found, result


def _minimized(
    objective: Objective,
    optimizer: str,
    max_iters: int,
    verbose: bool,
    options: dict[str, Any],
) -> Minimum:
    """Run the optimizer; where it was stopped, the best so far."""
    try:
        with single_blas_thread():
            if optimizer == "mujoco":
                return minimize_mujoco(
                    objective, max_iters=max_iters, verbose=verbose, options=options
                )
            return minimize_scipy(
                objective,
                batched=optimizer == "scipy_parallel_fd",
                max_iters=max_iters,
                verbose=verbose,
                options=options,
            )
    except StopOptimizing as stop:
        steps = max(0, len(objective.history) - 1)
        return _stopped(objective, stop.status, stop.message, steps)


def _stopped(objective: Objective, status: FitStatus, message: str, iterations: int = 0) -> Minimum:
    """The best so far with the latest Jacobian, as none may be computed any more."""
    x, loss = objective.best_x[objective.free], objective.loss
    jacobian, gradient = np.empty((0, len(x))), np.full(len(x), np.nan)
    if objective.latest_linearization is not None:
        plain, residual = objective.latest_linearization
        jacobian = plain * np.sqrt(loss.hessian_weight(residual))[:, np.newaxis]
        gradient = plain.T @ (loss.gradient_weight(residual) * residual)
    return Minimum(x, jacobian, gradient, status, message, iterations, iterations)


def _result(objective: Objective, minimum: Minimum) -> scipy.optimize.OptimizeResult:
    free = objective.free
    jacobian = np.zeros((len(minimum.jacobian), len(free)))
    jacobian[:, free] = minimum.jacobian
    gradient = np.zeros(len(free))
    gradient[free] = minimum.gradient
    x = objective.expanded(minimum.x)
    best = np.array_equal(objective.best_x, x)
    residual = objective.best_residual if best else objective.at(minimum.x)
    return scipy.optimize.OptimizeResult(
        x=x,
        cost=objective.loss.cost(residual),
        fun=residual,
        jac=jacobian,
        grad=gradient,
        status=minimum.status,
        success=minimum.status is FitStatus.CONVERGED,
        message=minimum.message,
        iterations=minimum.iterations,
        nit=minimum.iterations,
        evaluations=objective.evaluations,
        nfev=objective.evaluations,
        jacobians=minimum.jacobians,
        njev=minimum.jacobians,
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


def _warn_if_ill_conditioned(objective: Objective, relative_step: float) -> None:
    jacobian = jacobian_of(objective, objective.start, relative_step=relative_step, batched=False)
    condition = float(np.linalg.cond(jacobian)) ** 2
    if not condition <= _ILL_CONDITIONED:
        _LOG.warning(
            "cond(J^T J) ~ %.1e at the starting point; the problem may be ill-conditioned. "
            "Consider x_scale='jac' or priors.",
            condition,
        )
