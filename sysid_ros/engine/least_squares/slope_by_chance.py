# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The distance of a slope from what chance alone makes of it, and what such slopes bring."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares.gauss_newton import (
    Linearization,
    Point,
    eliminate_starts,
    free_gradient,
)

# Windows per parameter from which on their scatter tells how exact the slope is.
ENOUGH_WINDOWS = 2


class Boxed(Protocol):
    """Parameters within bounds."""

    @property
    def lower(self) -> FloatArray:
        """Lower bounds of the parameters, (p,)."""

    @property
    def upper(self) -> FloatArray:
        """Upper bounds of the parameters, (p,)."""

    @property
    def scale(self) -> FloatArray:
        """Magnitudes that make slopes comparable, (p,)."""


def slope_in_errors(problem: Boxed, point: Point, here: Linearization) -> float:
    """Return how far the slope is from zero: its standard errors, root mean square.

    This is Rao's score statistic per parameter. The slope is a sum over windows, whose scatter
    shows its error; where there are too few, residuals are taken for noise of size one.

    Args:
      problem: With bounds; what pushes against one does not count.
      point: Where the slope is.
      here: The Gauss-Newton model there, residuals in units of noise.
    """
    slope, _, variance = _free_system(problem, point, here)
    if not slope.size:
        return 0.0
    square = float(slope @ _solved(variance, slope))
    return float(np.sqrt(max(0.0, square) / len(slope)))


def gain_by_chance(problem: Boxed, point: Point, here: Linearization) -> float:
    """Return what steps bring on average whose slopes are chance alone, in units of the cost.

    Takes what :func:`slope_in_errors` takes. It is half the trace of the slope's variance by the
    curvature; half the number of parameters where residuals are noise of size one.
    """
    slope, hessian, variance = _free_system(problem, point, here)
    if not slope.size:
        return 0.0
    return 0.5 * float(np.trace(_solved(hessian, variance)))


def _free_system(
    problem: Boxed, point: Point, here: Linearization
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Slope (k,), curvature (k, k) and the slope's variance (k, k), where no bound is pushed."""
    system = eliminate_starts(here)
    free = free_gradient(system.gradient, point.theta, problem.lower, problem.upper) != 0.0
    slope, parts = system.gradient[free], system.window_gradients[:, free]
    hessian = system.hessian[np.ix_(free, free)]
    enough = len(parts) >= ENOUGH_WINDOWS * len(slope)
    return slope, hessian, parts.T @ parts if enough else hessian


def _solved(matrix: FloatArray, side: FloatArray) -> FloatArray:
    """The solution of symmetric equations whose unknowns have any units; the least of many."""
    size = np.diag(matrix)
    # What eliminated starts leave of a curvature may round to less than nothing: nothing is known.
    scale = np.where(size > 0.0, np.sqrt(np.abs(size)), np.inf)
    scaled = (side.T / scale).T
    found = np.linalg.lstsq(matrix / np.outer(scale, scale), scaled, rcond=None)[0]
    return np.asarray((found.T / scale).T)
