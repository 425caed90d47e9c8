# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The function an optimizer minimizes: a residual function with budgets, failures and a memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import DataError, ModelError
from sysid_ros.sysid.discrepancy import DIVERGED
from sysid_ros.sysid.fit_result import FitStatus, Iteration
from sysid_ros.sysid.parameter_dict import ParameterDict
from sysid_ros.sysid.robust import RobustLoss

FloatArray = npt.NDArray[np.float64]


class StopOptimizing(Exception):  # noqa: N818  (no error: how an optimizer is left early)
    """Ends an optimizer from inside the function it minimizes."""

    def __init__(self, status: FitStatus, message: str) -> None:
        """Say how the fit ended."""
        super().__init__(message)
        self.status = status
        self.message = message


class ObjectiveError(DataError, ValueError):
    """The residual at the start is not one that can be minimized."""


class Objective:
    """Residual of the free components of a parameter vector.

    Components whose bounds coincide are fixed and left out. A trial that does not compile or is
    not finite gets a large residual, so that it is rejected; at the start it is an error.

    Attributes:
      evaluations: Residuals computed so far; one Jacobian counts as one per parameter.
      best_x: All components at the lowest cost so far.
      best_cost: That cost.
      best_residual: The residual there.
      latest_linearization: Jacobian, (m, n), and residual, (m,), where one was computed last.
      history: The start and every accepted step, with all components.
    """

    def __init__(
        self,
        residual_fn: Callable[..., Any],
        params: ParameterDict,
        loss: RobustLoss,
        *,
        should_stop: Callable[[], bool] | None = None,
        time_limit: float | None = None,
        max_evaluations: int | None = None,
        callback: Callable[[Iteration], None] | None = None,
    ) -> None:
        """Start the clock."""
        low, high = params.get_bounds()
        self.free: npt.NDArray[np.bool_] = high > low
        self.bounds = (low[self.free], high[self.free])
        self.loss = loss
        self.evaluations = 0
        self.best_x = params.as_vector()
        self.best_cost = np.inf
        self.best_residual: FloatArray = np.empty(0)
        self.latest_linearization: tuple[FloatArray, FloatArray] | None = None
        self.history: list[Iteration] = []
        self._started = time.monotonic()
        self._residual_fn = residual_fn
        self._params = params
        self._start: FloatArray = params.as_vector()
        self._should_stop = should_stop
        self._time_limit = time_limit
        self._max_evaluations = max_evaluations
        self._callback = callback
        self._latest: tuple[FloatArray, FloatArray] | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._started

    @property
    def start(self) -> FloatArray:
        """The free components to start from."""
        free: FloatArray = self._start[self.free]
        return free

    def expanded(self, free: FloatArray) -> FloatArray:
        """All components, (n,) or (n, k), from the free ones."""
        if free.ndim == 1:
            full: FloatArray = self._start.copy()
        else:
            full = np.repeat(self._start[:, np.newaxis], free.shape[1], axis=1)
        full[self.free] = free
        return full

    def __call__(self, x: FloatArray) -> FloatArray:
        """Residual (m,) of free components (n,), or (m, k) of k sets of them, (n, k).

        Raises:
          StopOptimizing: A budget is used up, or the user asked to stop.
          ObjectiveError: The first residual is empty or not finite.
        """
        x = np.asarray(x, dtype=np.float64)
        columns = 1 if x.ndim == 1 else x.shape[1]
        if self._latest is not None:
            self._check_budgets(columns)
        residual = self._evaluated(x)
        self.evaluations += columns
        if columns == 1:
            self._remember(x.ravel(), residual.ravel())
        return residual

    def at(self, x: FloatArray) -> FloatArray:
        """Residual (m,) at free components (n,), from memory where it was the latest one."""
        if self._latest is not None and np.array_equal(self._latest[0], x):
            return self._latest[1]
        return self(x)

    def exact_jacobian(self, x: FloatArray) -> FloatArray | None:
        """Derivative (m, n) of the residual at free components (n,), where it is known exactly."""
        derivative = getattr(self._residual_fn, "jacobian", None)
        if derivative is None:
            return None
        full: FloatArray | None = derivative(self.expanded(x), self._params)
        if full is None or self.free.all():
            return full
        jacobian: FloatArray = full[:, self.free]
        return jacobian

    def report(self, iteration: int, x: FloatArray, cost: float, gradient_norm: float) -> None:
        """Note one accepted step and tell the user's callback about it."""
        step = Iteration(
            iteration,
            float(cost),
            float(gradient_norm),
            tuple(self._params.scalar_names()),
            self.expanded(x),
            self.elapsed,
        )
        self.history.append(step)
        if self._callback is not None:
            self._callback(step)

    def _check_budgets(self, columns: int) -> None:
        if self._should_stop is not None and self._should_stop():
            raise StopOptimizing(FitStatus.CANCELED, "canceled; the best parameters so far")
        if self._time_limit is not None and self.elapsed > self._time_limit:
            raise StopOptimizing(
                FitStatus.TIME_LIMIT, f"the time limit of {self._time_limit:g} s has passed"
            )
        limit = self._max_evaluations
        if limit is not None and self.evaluations + columns > limit:
            raise StopOptimizing(
                FitStatus.MAX_ITERATIONS, f"the limit of {limit} evaluations is reached"
            )

    def _evaluated(self, x: FloatArray) -> FloatArray:
        try:
            parts, *_ = self._residual_fn(self.expanded(x), self._params)
        except ModelError:
            if self._latest is None:
                raise
            if x.ndim > 1 and x.shape[1] > 1:
                return np.hstack([self._evaluated(x[:, [i]]) for i in range(x.shape[1])])
            lost = np.full(self._latest[1].shape, DIVERGED)
            return lost if x.ndim == 1 else lost[:, np.newaxis]
        residual = np.concatenate(parts).astype(np.float64, copy=False)
        if self._latest is None:
            _check_start(residual)
        return np.where(np.isfinite(residual), residual, DIVERGED)

    def _remember(self, x: FloatArray, residual: FloatArray) -> None:
        self._latest = (x.copy(), residual)
        cost = self.loss.cost(residual)
        if cost < self.best_cost:
            self.best_cost = cost
            self.best_x = self.expanded(x)
            self.best_residual = residual


def _check_start(residual: FloatArray) -> None:
    if residual.size == 0:
        raise ObjectiveError("there is nothing to minimize: the residual has no elements")
    wrong = ~np.isfinite(residual)
    if wrong.any():
        raise ObjectiveError(
            f"{int(wrong.sum())} of {residual.size} elements of the residual at the start are not "
            "finite; the function given as modify_residual or residual_fn must mask them"
        )


def jacobian_of(
    objective: Objective, x: FloatArray, *, relative_step: float, batched: bool
) -> FloatArray:
    """Jacobian (m, n): exact, or by forward differences that stay within the bounds.

    Args:
      objective: The function.
      x: Free components, (n,).
      relative_step: Step relative to max(1, |x|).
      batched: Whether all columns are evaluated in one call.
    """
    jacobian = objective.exact_jacobian(x)
    if jacobian is None:
        jacobian = _forward_differences(objective, x, relative_step, batched)
    objective.latest_linearization = (jacobian, objective.at(x))
    return jacobian


def _forward_differences(
    objective: Objective, x: FloatArray, relative_step: float, batched: bool
) -> FloatArray:
    low, high = objective.bounds
    step = relative_step * np.maximum(1.0, np.abs(x))
    step = np.where(high - x >= x - low, step, -step)
    points = x[:, np.newaxis] + np.diag(step)
    np.clip(points, low[:, np.newaxis], high[:, np.newaxis], out=points)
    step = np.diag(points) - x  # as rounded and clipped
    residual = objective.at(x)
    if batched:
        moved = objective(points)
    else:
        moved = np.stack([objective(points[:, i]) for i in range(len(x))], axis=-1)
        objective(x)  # the function's memory belongs to x again
    return (moved - residual[:, np.newaxis]) / step
