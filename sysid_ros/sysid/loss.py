# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robust losses and the weights that turn them into least squares.

A loss acts on ``z = (r / c)^2`` with the residual r in units of its noise and the tuning constant
c, ``cost = 1/2 sum c^2 rho(z)``, as in :func:`scipy.optimize.least_squares`. Gauss-Newton with rows
scaled by ``sqrt(rho'(z))`` is iteratively reweighted least squares (Holland & Welsch 1977).

The loss ``absolute`` is the sum of absolute residuals: with one noise level for all signals its
optimum is that of the mean absolute error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.errors import ExperimentError, unknown_name

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """One robust loss.

    Attributes:
      name: As the experiment file spells it.
      scale: Tuning constant c; the customary 95 % efficiency on Gaussian noise.
      rho: The loss as a function of z.
      slope: Its derivative.
      bend: Its second derivative; ``None`` where the loss has a kink at zero.
    """

    name: str
    scale: float
    rho: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]
    bend: Callable[[FloatArray], FloatArray] | None

    def cost(self, residual: FloatArray) -> float:
        """Half the summed loss of residuals in units of their noise; infinite if any is NaN."""
        value = 0.5 * self.scale**2 * float(np.sum(self.rho((residual / self.scale) ** 2)))
        return value if np.isfinite(value) else np.inf

    def row_scale(self, residual: FloatArray) -> FloatArray:
        """Factor for each row of the residual and its Jacobian."""
        factor: FloatArray = np.sqrt(self.slope((residual / self.scale) ** 2))
        return factor

    def curvature(self, residual: FloatArray) -> float:
        """The cost's mean curvature relative to that of reweighted least squares.

        Covariances need the former (Huber 1981, "Robust Statistics", 7.6); it is smaller, as
        outliers lose weight when they move out. At a kink the curvature is twice the density of
        the residuals at zero, estimated by their share in a narrow band (Powell 1984).

        Args:
          residual: In units of noise, (m,).

        Returns:
          Between 0 and 1 for every loss but ``linear``, where it is 1.
        """
        z = (residual / self.scale) ** 2
        weight = float(np.mean(self.slope(z)))
        if self.bend is not None:
            return float(np.mean(self.slope(z) + 2.0 * z * self.bend(z))) / weight
        size = np.sqrt(z)
        band = max(_BAND * float(np.median(size)), float(np.finfo(np.float64).tiny))
        return float(np.mean(size <= band)) / band / weight

    def white_square(self, residual: FloatArray) -> float:
        """The sum of squared residuals that white noise of the same effect would leave.

        That is ``sum psi^2 / (curvature mean rho')`` with the influence ``psi = rho' r``, so that
        ``J^T diag(rho') J`` times the curvature serves as information matrix.
        """
        slope = self.slope((residual / self.scale) ** 2)
        influence = float(np.sum((slope * residual) ** 2))
        return influence / (self.curvature(residual) * float(np.mean(slope)))


_BAND = 0.25  # of the median absolute residual: where the density at zero is read off
_FLAT = 1e-3  # of the root mean square residual: closer to zero a kink is rounded off


def _reciprocal_root(z: FloatArray) -> FloatArray:
    """``1 / sqrt(z)``, kept finite near zero."""
    floor = _FLAT**2 * float(np.mean(z)) if z.size else 0.0
    return 1.0 / np.sqrt(np.maximum(z, max(floor, np.finfo(np.float64).tiny)))


_LOSSES = (
    Loss("linear", 1.0, lambda z: z, np.ones_like, np.zeros_like),
    Loss("absolute", 1.0, lambda z: 2.0 * np.sqrt(z), _reciprocal_root, None),
    Loss(
        "huber",
        1.345,
        lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(np.maximum(z, 1.0)) - 1.0),
        lambda z: 1.0 / np.sqrt(np.maximum(z, 1.0)),
        lambda z: np.where(z <= 1.0, 0.0, -0.5 * np.maximum(z, 1.0) ** -1.5),
    ),
    Loss(
        "soft_l1",
        1.345,
        lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
        lambda z: 1.0 / np.sqrt(1.0 + z),
        lambda z: -0.5 * (1.0 + z) ** -1.5,
    ),
    Loss("cauchy", 2.385, np.log1p, lambda z: 1.0 / (1.0 + z), lambda z: -((1.0 + z) ** -2)),
)
LOSSES = {loss.name: loss for loss in _LOSSES}


def loss_named(name: str) -> Loss:
    """The loss called ``name``.

    Raises:
      ExperimentError: There is no such loss; the message lists those there are.
    """
    if name not in LOSSES:
        raise ExperimentError(unknown_name("loss", name, LOSSES))
    return LOSSES[name]
