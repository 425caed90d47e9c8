# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A problem with derivatives that are known already, from a problem that hardly differs.

Steps with them cost simulations only (the chord method; Kelley, "Iterative Methods for Linear and
Nonlinear Equations", 5.4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Linearization, Point
from sysid_ros.engine.problem.windowed_problem import WindowedProblem


class Chord:
    """The windows of a problem with derivatives of their residuals that are known already.

    Args:
      problem: The windows.
      rows: ``[J_theta J_start r]`` of each in units of noise, as some point of it or of a problem
        much like it has them.
    """

    def __init__(self, problem: WindowedProblem, rows: Sequence[FloatArray]) -> None:
        self._problem = problem
        self.lower, self.upper, self.scale = problem.lower, problem.upper, problem.scale
        self._slopes = [one[:, :-1] for one in rows]
        self._squares = [one.T @ one for one in rows]

    def cost(self, point: Point) -> float:
        """The objective; infinite where it is not defined."""
        return self._problem.cost(point)

    def linearize(self, point: Point) -> Linearization:
        """The objective at a point, with the derivatives that are known."""
        weight = self._problem.loss.gradient_weight
        residuals = in_units_of_noise(self._problem, point)
        for square, slopes, one, start in zip(
            self._squares, self._slopes, residuals, point.starts, strict=True
        ):
            own = len(one) - len(start)
            weighed = np.concatenate([np.sqrt(weight(one[:own])) * one[:own], one[own:]])
            square[-1, :-1] = square[:-1, -1] = slopes.T @ weighed
            square[-1, -1] = weighed @ weighed
        prior = self._problem.prior_rows(point.theta)
        grams = tuple(one.copy() for one in self._squares)
        cost, trial = self.cost(point), self._problem.trial(point)
        return Linearization(cost, grams, prior.T @ prior, trial=trial)


def in_units_of_noise(problem: WindowedProblem, point: Point) -> list[FloatArray]:
    """Residuals of each window in units of noise, then its start in units of its prior's."""
    found = zip(problem.windows, problem.residuals(point), point.starts, strict=True)
    return [
        np.concatenate([residual / window.sigma(problem.noise), start / window.spread])
        for window, residual, start in found
    ]
