# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Contributions of windows to the knowledge of the parameters, and their sum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import (
    Linearization,
    ReducedSystem,
    eliminate_starts,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty.noise_levels import MIN_RELATIVE_NOISE, sensor_of, signal_spread


@dataclass(frozen=True)
class WindowSum:
    """The contribution of some windows at one point.

    Attributes:
      problem: The latest of them, for names, bounds and units.
      prior: The parameters' priors as in a linearization, (p + 1, p + 1).
      system: Gauss-Newton model with starts eliminated, priors included.
      squares: Per signal the sum of squared unexplained residuals and their number.
      spreads: Per signal its standard deviation.
      starts: Unknowns of the windows' starts.
    """

    problem: WindowedProblem
    prior: FloatArray
    system: ReducedSystem
    squares: Mapping[str, tuple[float, int]]
    spreads: Mapping[str, float]
    starts: int

    @classmethod
    def of(
        cls,
        problem: WindowedProblem,
        linearization: Linearization,
        squares: Mapping[str, tuple[float, int]],
    ) -> WindowSum:
        """Return the contribution of a problem's windows at the point of its linearization."""
        return cls(
            problem,
            linearization.prior,
            eliminate_starts(linearization),
            squares,
            {name: signal_spread(problem, name) for name in squares},
            sum(window.n_start for window in problem.windows),
        )

    def plus(self, new: WindowSum) -> WindowSum:
        """Both together; priors count once."""
        p = self.prior.shape[0] - 1
        old, added = self.system, new.system
        squares = dict(self.squares)
        for name, (square, count) in new.squares.items():
            before = squares.get(name, (0.0, 0))
            squares[name] = (before[0] + square, before[1] + count)
        return WindowSum(
            new.problem,
            self.prior,
            ReducedSystem(
                old.hessian + added.hessian - self.prior[:p, :p],
                old.gradient + added.gradient - self.prior[:p, p],
                np.concatenate([old.window_hessians, added.window_hessians]),
                np.concatenate([old.window_gradients, added.window_gradients]),
            ),
            squares,
            {name: max(self.spreads.get(name, 0.0), new.spreads[name]) for name in new.spreads},
            self.starts + new.starts,
        )

    def noise(self, known: Mapping[str, float], parameters: int) -> dict[str, float]:
        """Root mean square of what stays unexplained, for signals whose noise is not known."""
        total = sum(count for _, count in self.squares.values())
        correction = total / max(1, total - parameters - self.starts)
        return {
            name: max(
                math.sqrt(correction * square / count), MIN_RELATIVE_NOISE * self.spreads[name]
            )
            for name, (square, count) in self.squares.items()
            if count and square > 0.0 and sensor_of(name) not in known
        }
