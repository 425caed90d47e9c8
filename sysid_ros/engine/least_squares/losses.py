# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The losses by name, their weights, and how scipy and mujoco.minimize take them.

A loss acts on ``z = (r / c)^2`` with the residual r and the tuning constant c,
``cost = 1/2 sum c^2 rho(z)``, as in :func:`scipy.optimize.least_squares`. Gauss-Newton with rows
scaled by ``sqrt(rho'(z))`` is iteratively reweighted least squares (Holland & Welsch 1977); the
curvature of the cost itself is ``rho' + 2 rho'' z`` (Triggs et al. 2000, "Bundle adjustment", 4.3).

The loss ``absolute`` is the sum of absolute residuals: with one noise level for all signals its
optimum is that of the mean absolute error. At its kink it has no second derivative and is minimized
by reweighting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mujoco.minimize
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ExperimentError, ParameterError, unknown_name

_BAND = 0.25  # of the median absolute residual: where the density at zero is read off
_FLAT = 1e-3  # of the root mean square residual: closer to zero a kink is rounded off
_USABLE = 0.1  # curvature relative to that of reweighting
_EPS = float(np.finfo(np.float64).eps)


class LossError(ExperimentError, ParameterError):
    """There is no such loss, or its scale is not positive."""


@dataclass(frozen=True)
class Loss:
    """One loss with its scale."""

    name: str  # as the experiment file and ``optimize`` spell it
    scale: float  # tuning constant c; in the table the customary 95 % efficiency on Gaussian noise
    rho: Callable[[FloatArray], FloatArray]  # the loss as a function of z
    slope: Callable[[FloatArray], FloatArray]  # its derivative
    # its second derivative; ``None`` where the loss has a kink at zero
    bend: Callable[[FloatArray], FloatArray] | None
    # whether a far sample counts ever less, so that a search may start on the flat
    redescending: bool = False

    def cost(self, residual: FloatArray) -> float:
        """Half the summed loss of residuals of any shape; infinite if any is NaN."""
        value = 0.5 * self.scale**2 * float(np.sum(self.rho((residual / self.scale) ** 2)))
        return value if np.isfinite(value) else np.inf

    def gradient_weight(self, residual: FloatArray) -> FloatArray:
        """Rho' by element: ``gradient = J^T (weight r)``."""
        return self.slope((residual / self.scale) ** 2)

    def hessian_weight(self, residual: FloatArray) -> FloatArray:
        """Weight by element of ``J^T diag(weight) J``, never below the rounding error."""
        return np.maximum(self._weights(residual)[1], _EPS)

    def search_weight(self, residual: FloatArray) -> FloatArray:
        """The same for a Hessian to search with.

        Far outliers have next to no curvature of their own, or a negative one. Theirs is that of
        reweighting (rho'), which lies above the cost everywhere, so that no step is too long.
        """
        first, own = self._weights(residual)
        return np.where(own > _USABLE * first, own, first)

    def _weights(self, residual: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rho', and the cost's own curvature ``rho' + 2 rho'' z``."""
        z = (residual / self.scale) ** 2
        first = self.slope(z)
        return first, first if self.bend is None else first + 2.0 * z * self.bend(z)

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
        first, own = self._weights(residual)
        weight = float(np.mean(first))
        if self.bend is not None:
            return float(np.mean(own)) / weight
        size = np.abs(residual) / self.scale
        band = max(_BAND * float(np.median(size)), float(np.finfo(np.float64).tiny))
        return float(np.mean(size <= band)) / band / weight

    def white_square(self, residual: FloatArray) -> float:
        """The sum of squared residuals that white noise of the same effect would leave.

        That is ``sum psi^2 / (curvature mean rho')`` with the influence ``psi = rho' r``, so that
        ``J^T diag(rho') J`` times the curvature serves as information matrix.
        """
        slope = self.gradient_weight(residual)
        influence = float(np.sum((slope * residual) ** 2))
        return influence / (self.curvature(residual) * float(np.mean(slope)))

    def for_scipy(self, z: FloatArray) -> FloatArray:
        """The loss as ``scipy.optimize.least_squares`` takes it, (3, m)."""
        bend = np.zeros_like(z) if self.bend is None else self.bend(z)
        return np.stack([self.rho(z), self.slope(z), bend])


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
    Loss(
        "cauchy",
        2.385,
        np.log1p,
        lambda z: 1.0 / (1.0 + z),
        lambda z: -((1.0 + z) ** -2),
        redescending=True,
    ),
    Loss(
        "arctan",
        2.571,
        np.arctan,
        lambda z: 1.0 / (1.0 + z**2),
        lambda z: -2.0 * z / (1.0 + z**2) ** 2,
        redescending=True,
    ),
)
LOSSES = {loss.name: loss for loss in _LOSSES}


def loss_named(name: str, scale: float | None = None) -> Loss:
    """Return the loss called ``name``, of another scale than the table's where one is given.

    Raises:
      LossError: There is no such loss, or the scale is not positive.
    """
    if name not in LOSSES:
        raise LossError(unknown_name("loss", str(name), LOSSES))
    if scale is None:
        return LOSSES[name]
    if not scale > 0.0:
        raise LossError(f"the scale of a loss must be above zero, got {scale}")
    return replace(LOSSES[name], scale=scale)


class LossNorm(mujoco.minimize.Norm):  # type: ignore[misc]
    """A loss as ``mujoco.minimize`` wants it."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def value(self, r: FloatArray) -> Any:
        """Cost of a column of residuals, (m, 1)."""
        return np.float64(self._loss.cost(r))

    def grad_hess(self, r: FloatArray, proj: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (n, 1) and Hessian (n, n) for the Jacobian ``proj``, (m, n)."""
        gradient = proj.T @ (self._loss.gradient_weight(r) * r)
        return gradient, proj.T @ (self._loss.hessian_weight(r) * proj)
