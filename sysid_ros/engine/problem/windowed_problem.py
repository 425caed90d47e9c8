# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The windowed identification problem: parameters shared by all windows, a start for each.

The unknowns are the parameters theta and, where starts are estimated, one deviation s_w per window
from the start read off the measurements. The objective is

    1/2 sum_w [ sum_k rho((y_wk(theta, s_w) - m_wk) / sigma_k) + |s_w / spread_w|^2 ]
    + 1/2 sum_j ((theta_j - mean_j) / std_j)^2

A linearization keeps one Gram matrix of ``[J_theta  J_start  r]`` per window, so that memory does
not grow with the number of samples and the starts can be eliminated window by window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Linearization, Loss, Point
from sysid_ros.engine.parameters import ParameterDict, minimum_change, priors
from sysid_ros.engine.simulation import RolloutPool, RunJacobian, finite_differences, perturbed
from sysid_ros.engine.windows import WindowGroup, WindowSimulation

if TYPE_CHECKING:
    from sysid_ros.engine.derivatives import Sensitivities


@dataclass(frozen=True)
class WindowRows:
    """The contribution of one window at a point.

    Attributes:
      matrix: ``[J_theta J_start r]`` in units of noise, the start's prior rows last, shape
        (m + n_start, p + n_start + 1).
      cost: Its share of the objective.
      squares: Per signal the sum of squared residuals in the signal's unit and their number.
    """

    matrix: FloatArray
    cost: float
    squares: Mapping[str, tuple[float, int]]


class WindowedProblem:
    """Objective and Gauss-Newton models of the windowed problem.

    Args:
      groups: Windows by model.
      params: The parameters: bounds, priors and the order of scalar components.
      rollouts: Where simulations run.
      loss: The loss on residuals in units of noise.
      noise: Standard deviation per signal name, in the signal's unit.
      engine: ``auto`` for exact derivatives where they are known, ``reference`` for finite
        differences throughout.
      hold: Whether a weak pull holds what the data leaves open near its nominal value.
    """

    def __init__(
        self,
        groups: Sequence[WindowGroup],
        params: ParameterDict,
        rollouts: RolloutPool,
        *,
        loss: Loss,
        noise: Mapping[str, float],
        engine: str = "auto",
        hold: bool = False,
    ) -> None:
        self.groups = tuple(groups)
        self.params = params
        self.loss = loss
        self.noise = dict(noise)
        self.lower, self.upper = params.get_bounds()
        self.scale = parameter_scale(self.lower, self.upper, params.as_vector())
        self.evaluations = 0
        self.jacobians = 0
        self._prior_mean, precision = priors(params)
        if hold:
            pull = minimum_change(params.as_nominal_vector(), self.lower, self.upper)
            self._prior_mean = np.where(precision > 0.0, self._prior_mean, pull[0])
            precision = np.where(precision > 0.0, precision, pull[1])
        self._prior_weight = np.sqrt(precision)
        self._rollouts = rollouts
        self._hold = hold
        self.engine = engine
        self._exact = [self._exact_derivatives(group, engine) for group in self.groups]

    @property
    def windows(self) -> tuple[WindowSimulation, ...]:
        """All windows, in the order of a point's starts."""
        return tuple(window for group in self.groups for window in group.windows)

    def with_groups(
        self, groups: Sequence[WindowGroup], engine: str = "reference"
    ) -> WindowedProblem:
        """The same problem over other windows, by default for evaluating costs only."""
        return WindowedProblem(
            groups,
            self.params,
            self._rollouts,
            loss=self.loss,
            noise=self.noise,
            engine=engine,
            hold=self._hold,
        )

    def initial_point(self) -> Point:
        """The parameters' current values, and starts as measured."""
        return Point(self.params.as_vector(), tuple(np.zeros(w.n_start) for w in self.windows))

    def residuals(self, point: Point) -> list[FloatArray]:
        """Predicted minus measured in the signals' units, one array per window."""
        self.evaluations += 1
        residuals: list[FloatArray] = []
        starts = iter(point.starts)
        for group in self.groups:
            candidate = group.builder.build(point.theta)
            jobs = [window.job(candidate, next(starts)) for window in group.windows]
            residuals += [
                window.residual(candidate, data)
                for window, data in zip(group.windows, self._rollouts.sensordata(jobs), strict=True)
            ]
        return residuals

    def cost(self, point: Point) -> float:
        """The objective; infinite where a rollout diverges."""
        total = 0.5 * float(np.sum(self._prior_residual(point.theta) ** 2))
        for window, start, residual in zip(
            self.windows, point.starts, self.residuals(point), strict=True
        ):
            total += self.loss.cost(residual / window.sigma(self.noise))
            total += 0.5 * float(np.sum((start / window.spread) ** 2))
        return total

    def linearize(self, point: Point) -> Linearization:
        """The Gauss-Newton model around ``point``."""
        self.jacobians += 1
        grams: list[FloatArray] = []
        squares = dict.fromkeys(self.noise, (0.0, 0))
        cost = 0.5 * float(np.sum(self._prior_residual(point.theta) ** 2))
        for rows in self.window_rows(point):
            grams.append(rows.matrix.T @ rows.matrix)
            cost += rows.cost
            for name, (total, count) in rows.squares.items():
                squares[name] = (squares[name][0] + total, squares[name][1] + count)
        prior = self.prior_rows(point.theta)
        return Linearization(cost, tuple(grams), prior.T @ prior, squares)

    def window_rows(self, point: Point) -> Iterator[WindowRows]:
        """Residuals and Jacobians window by window, in the order of :attr:`windows`."""
        starts = iter(point.starts)
        for group, exact in zip(self.groups, self._exact, strict=True):
            deviations = [next(starts) for _ in group.windows]
            for window, deviation, derivatives in zip(
                group.windows,
                deviations,
                self._derivatives(group, exact, point.theta, deviations),
                strict=True,
            ):
                yield self._weighted(window, deviation, derivatives)

    def _derivatives(
        self,
        group: WindowGroup,
        exact: Sensitivities | None,
        theta: FloatArray,
        deviations: Sequence[FloatArray],
    ) -> Iterator[RunJacobian]:
        if exact is not None:
            return exact.derivatives(theta, deviations)
        columns = perturbed(group.builder, theta, self.upper, self.scale)
        return finite_differences(self._rollouts, group.windows, deviations, columns)

    def check_derivatives(self, point: Point) -> None:
        """Compare exact derivatives with rollouts in one direction; give up those that differ."""
        starts = iter(point.starts)
        for group, exact in zip(self.groups, self._exact, strict=True):
            deviations = [next(starts) for _ in group.windows]
            if exact is not None:
                exact.check(point.theta, deviations)

    def _exact_derivatives(self, group: WindowGroup, engine: str) -> Sensitivities | None:
        if engine != "auto":
            return None
        try:  # numba takes half a second to load, and does not run everywhere
            from sysid_ros.engine.derivatives import Sensitivities
        except ImportError:
            return None
        return Sensitivities(group, self._rollouts, self.upper, self.scale)

    def derivative_sources(self) -> Mapping[str, str]:
        """Return the origin of the Jacobian's columns, by parameter: exact, or why they are not."""
        names = self.params.scalar_names()
        sources = dict.fromkeys(names, "finite differences, as asked for")
        for exact in self._exact:
            if exact is not None:
                sources.update(zip(names, exact.sources(), strict=True))
        return sources

    def prior_rows(self, theta: FloatArray) -> FloatArray:
        """``[J_theta r]`` of the parameters' priors, shape (p, p + 1)."""
        return np.hstack([np.diag(self._prior_weight), self._prior_residual(theta)[:, None]])

    def _weighted(
        self,
        window: WindowSimulation,
        deviation: FloatArray,
        derivatives: RunJacobian,
    ) -> WindowRows:
        """Rows in units of noise, followed by those of the start's prior."""
        residual, sigma = derivatives.residual, window.sigma(self.noise)
        weight = np.sqrt(self.loss.gradient_weight(residual / sigma)) / sigma
        rows = np.column_stack([derivatives.jacobian, residual]) * weight[:, None]
        # A perturbation that diverges says nothing about the slope.
        rows = np.where(np.isfinite(rows), rows, 0.0)
        prior = np.zeros((window.n_start, rows.shape[1]))
        first = rows.shape[1] - 1 - window.n_start
        prior[:, first:-1] = np.diag(1.0 / window.spread)
        prior[:, -1] = deviation / window.spread
        cost = self.loss.cost(residual / sigma) + 0.5 * float(np.sum(prior[:, -1] ** 2))
        return WindowRows(np.vstack([rows, prior]), cost, window.squares(residual))

    def _prior_residual(self, theta: FloatArray) -> FloatArray:
        residual: FloatArray = (theta - self._prior_mean) * self._prior_weight
        return residual


def parameter_scale(lower: FloatArray, upper: FloatArray, value: FloatArray) -> FloatArray:
    """A typical magnitude per parameter, for finite-difference steps.

    A value near zero inside finite bounds is scaled by a fiftieth of their distance.

    Returns:
      Positive, shape (p,).
    """
    span = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    scale = np.maximum(np.abs(value), 0.02 * span)
    return np.where(scale > 0.0, scale, 1.0)
