# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The function an optimizer minimizes: a residual function with budgets, failures and a memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.least_squares import (
    CANCELED,
    FitStatus,
    Iteration,
    Linearization,
    Loss,
    Point,
    Step,
    StopOptimizing,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.residuals import DIVERGED
from sysid_ros.errors import DataError, ModelError

FD_STEP = float(np.finfo(np.float64).eps ** 0.5)  # as scipy and mujoco have it
# Of a residual's size, and of that at the start: what a trial's may differ by from what it is.
AGREEMENT, ROUNDING = 1e-6, 1e-13
# Of the cost: a step that promises more is tried, while the last ones are simulated by MuJoCo.
TRIED = 1e-4
CURVATURE_STEP = 0.1  # of a step, to find out how the residual curves along it


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
      jacobians: Jacobians computed so far.
      latest_linearization: Where a Jacobian was computed last, (n,), it, (m, n), and the residual
        there, (m,).
      history: The start and every accepted step, with all components.
    """

    def __init__(
        self,
        residual_fn: Callable[..., Any],
        params: ParameterDict,
        loss: Loss,
        *,
        should_stop: Callable[[], bool] | None = None,
        time_limit: float | None = None,
        max_evaluations: int | None = None,
        callback: Callable[[Iteration], None] | None = None,
        relative_step: float = FD_STEP,
        batched: bool = True,
    ) -> None:
        """Start the clock.

        Args:
          residual_fn: The function.
          params: Where to start, and the bounds.
          loss: How residuals count.
          should_stop: Asked before every evaluation; true ends the search.
          time_limit: Seconds after which it ends likewise.
          max_evaluations: Residuals after which it ends likewise.
          callback: Told every accepted step.
          relative_step: Of finite differences, relative to max(1, |x|).
          batched: Whether all their columns are evaluated in one call.
        """
        low, high = params.get_bounds()
        self.free: BoolArray = high > low
        self.lower: FloatArray = low[self.free]
        self.upper: FloatArray = high[self.free]
        self.scale = np.ones_like(self.lower)
        self.loss = loss
        self.evaluations = 0
        self.jacobians = 0
        self.best_x = params.as_vector()
        self.best_cost = np.inf
        self.best_residual: FloatArray = np.empty(0)
        self.latest_linearization: tuple[FloatArray, FloatArray, FloatArray] | None = None
        self.history: list[Iteration] = []
        self._started = time.monotonic()
        self._residual_fn = residual_fn
        self._params = params
        self._start: FloatArray = params.as_vector()
        self._should_stop = should_stop
        self._time_limit = time_limit
        self._max_evaluations = max_evaluations
        self._callback = callback
        self._relative_step = relative_step
        self._batched = batched
        self._latest: tuple[FloatArray, FloatArray] | None = None
        self._trial = getattr(residual_fn, "trial", None)
        self._tried = self._best_tried = False  # whether the latest and the best are trials
        # The cost, components and residual of the best point that was no trial.
        self._best_plain = (np.inf, self.best_x, self.best_residual)
        self._first_size = 0.0  # of the residual at the start

    def part(self) -> Objective | None:
        """The same of a part of the data, from the same start; its evaluations are not counted.

        It may take half of the time that is left.

        Returns:
          ``None`` where the function has no parts, or where evaluations are limited.
        """
        part = getattr(self._residual_fn, "part", None)
        function = None if part is None or self._max_evaluations is not None else part()
        if function is None:
            return None
        limit = self._time_limit
        return Objective(
            function,
            self._params,
            self.loss,
            should_stop=self._should_stop,
            time_limit=None if limit is None else 0.5 * (limit - self.elapsed),
            relative_step=self._relative_step,
            batched=self._batched,
        )

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._started

    @property
    def start(self) -> FloatArray:
        """The free components to start from, (n,)."""
        return np.clip(self._start[self.free], self.lower, self.upper)

    def expanded(self, free: FloatArray) -> FloatArray:
        """All components, (n,) or (n, k), from the free ones."""
        if free.ndim == 1:
            full: FloatArray = self._start.copy()
        else:
            full = np.repeat(self._start[:, np.newaxis], free.shape[1], axis=1)
        full[self.free] = free
        return full

    def __call__(self, x: FloatArray, tries: bool = False) -> FloatArray:
        """Residual (m,) of free components (n,), or (m, k) of k sets of them, (n, k).

        Args:
          x: The components.
          tries: Whether a single residual may be that of the function's ``trial``.

        Raises:
          StopOptimizing: A budget is used up, or the user asked to stop.
          ObjectiveError: The first residual is empty or not finite.
        """
        x = np.asarray(x, dtype=np.float64)
        columns = 1 if x.ndim == 1 else x.shape[1]
        if self._latest is not None:
            self._check_budgets(columns)
        return self._counted(x, columns, tries)

    def _counted(self, x: FloatArray, columns: int = 1, tries: bool = False) -> FloatArray:
        residual = self._evaluated(x, tries)
        self.evaluations += columns
        if columns == 1:
            self._remember(x.ravel(), residual.ravel())
        return residual

    def at(self, x: FloatArray) -> FloatArray:
        """Residual (m,) at free components (n,), from memory where it was the latest one."""
        if self._latest is not None and np.array_equal(self._latest[0], x):
            return self._latest[1]
        return self(x)

    def cost(self, point: Point) -> float:
        """The objective."""
        return self.loss.cost(self(point.theta))

    def last_cost(self, point: Point) -> float:
        """The objective, whatever the budgets: of where a search led that was stopped."""
        return self.loss.cost(self._counted(point.theta))

    def tried_cost(self, point: Point) -> float:
        """The same by the function's ``trial``, where it has one; see :meth:`confirm`."""
        return self.loss.cost(self(point.theta, tries=True))

    def confirm(self) -> bool:
        """Evaluate the best point plainly where that was a trial; return whether it was right.

        Both count as one evaluation. Where it was wrong, there are no trials any more, and the best
        point is the best that was no trial.
        """
        if not self._best_tried:
            return True
        told, x = self.best_residual, self.best_x[self.free]
        self.best_cost = np.inf  # as the trial told it
        residual = self._evaluated(x)
        self._remember(x, residual)
        size = AGREEMENT * float(np.linalg.norm(residual)) + ROUNDING * self._first_size
        if float(np.linalg.norm(told - residual)) <= size:
            return True
        self._trial = None
        self.best_cost, self.best_x, self.best_residual = self._best_plain
        return False

    def linearize(self, point: Point) -> Linearization:
        """The Gauss-Newton model around a point, with all residuals in one Gram matrix."""
        x = point.theta
        residual = self.at(x)  # first, as the Jacobian goes on from its simulation
        jacobian = self.jacobian(x)
        slope = self.loss.gradient_weight(residual)
        gradient = jacobian.T @ (slope * residual)
        weighted = jacobian
        if self.loss.name != "linear":
            weighted = jacobian * np.sqrt(self.loss.search_weight(residual))[:, np.newaxis]
        gram = np.zeros((len(x) + 1, len(x) + 1))
        gram[:-1, :-1] = weighted.T @ weighted
        gram[:-1, -1] = gram[-1, :-1] = gradient

        def pull(step: FloatArray) -> FloatArray:
            ahead = self(np.clip(x + CURVATURE_STEP * step, self.lower, self.upper))
            change = (ahead - residual) / CURVATURE_STEP - jacobian @ step
            pulled: FloatArray = jacobian.T @ (slope * change) / CURVATURE_STEP
            return pulled

        cost = self.loss.cost(residual)

        def trial(ahead: Point, expected: FloatArray) -> float:
            far = float(np.sum(expected)) > TRIED * cost
            return self.tried_cost(ahead) if far else self.cost(ahead)

        return Linearization(cost, (gram,), np.zeros_like(gram), pull=pull, trial=trial)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivative (m, n) at free components (n,): exact, or by forward differences in bounds."""
        jacobian = self._exact_jacobian(x)
        if jacobian is None:
            jacobian = self._forward_differences(x)
        self.jacobians += 1
        self.latest_linearization = (x.copy(), jacobian, self.at(x))
        return jacobian

    def _exact_jacobian(self, x: FloatArray) -> FloatArray | None:
        derivative = getattr(self._residual_fn, "jacobian", None)
        if derivative is None:
            return None
        full: FloatArray | None = derivative(self.expanded(x), self._params)
        return full if full is None or self.free.all() else full[:, self.free]

    def _forward_differences(self, x: FloatArray) -> FloatArray:
        step = self._relative_step * np.maximum(1.0, np.abs(x))
        step = np.where(self.upper - x >= x - self.lower, step, -step)
        points = x[:, np.newaxis] + np.diag(step)
        np.clip(points, self.lower[:, np.newaxis], self.upper[:, np.newaxis], out=points)
        step = np.diag(points) - x  # as rounded and clipped
        residual = self._counted(x) if self._tried else self.at(x)
        if self._batched:
            moved = self(points)
        else:
            moved = np.stack([self(points[:, i]) for i in range(len(x))], axis=-1)
            self(x)  # the function's memory belongs to x again
        return (moved - residual[:, np.newaxis]) / step

    def report(self, step: Step) -> None:
        """Note one accepted step and tell the user's callback about it."""
        noted = Iteration(
            step.number,
            step.cost,
            step.gradient_norm,
            tuple(self._params.scalar_names()),
            self.expanded(step.point.theta),
            self.elapsed,
            tuple(self._params.scalar_units()),
        )
        self.history.append(noted)
        if self._callback is not None:
            self._callback(noted)

    def _check_budgets(self, columns: int) -> None:
        if self._should_stop is not None and self._should_stop():
            raise StopOptimizing(FitStatus.CANCELED, CANCELED)
        if self._time_limit is not None and self.elapsed > self._time_limit:
            raise StopOptimizing(
                FitStatus.TIME_LIMIT, f"the time limit of {self._time_limit:g} s has passed"
            )
        limit = self._max_evaluations
        if limit is not None and self.evaluations + columns > limit:
            raise StopOptimizing(
                FitStatus.MAX_ITERATIONS, f"the limit of {limit} evaluations is reached"
            )

    def _evaluated(self, x: FloatArray, tries: bool = False) -> FloatArray:
        try:
            full = self.expanded(x)
            found = self._trial(full, self._params) if tries and self._trial else None
            self._tried = found is not None
            parts, *_ = found or self._residual_fn(full, self._params)
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
            self._first_size = float(np.linalg.norm(residual))
        return np.where(np.isfinite(residual), residual, DIVERGED)

    def _remember(self, x: FloatArray, residual: FloatArray) -> None:
        self._latest = (x.copy(), residual)
        cost, full = self.loss.cost(residual), self.expanded(x)
        if cost < self.best_cost:
            self.best_cost, self.best_x, self.best_residual = cost, full, residual
            self._best_tried = self._tried
        if cost < self._best_plain[0] and not self._tried:
            self._best_plain = cost, full, residual


def _check_start(residual: FloatArray) -> None:
    if residual.size == 0:
        raise ObjectiveError("there is nothing to minimize: the residual has no elements")
    wrong = ~np.isfinite(residual)
    if wrong.any():
        raise ObjectiveError(
            f"{int(wrong.sum())} of {residual.size} elements of the residual at the start are not "
            "finite; the function given as modify_residual or residual_fn must mask them"
        )
