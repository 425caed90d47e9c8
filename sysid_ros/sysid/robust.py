# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robust losses for every optimizer, with the definitions of :func:`scipy.optimize.least_squares`.

The cost is ``1/2 sum c^2 rho((r / c)^2)`` with the residual r and its scale c. Its gradient is
``J^T (rho' r)``; as its Hessian serves ``J^T diag(max(rho' + 2 rho'' z, eps)) J`` with
``z = (r / c)^2`` (Triggs et al. 2000, "Bundle adjustment", section 4.3). The loss ``absolute`` is
the sum of absolute residuals, whose optimum is that of the mean absolute error; it has no second
derivative to speak of and is minimized by reweighting (rho'' counts as zero).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import mujoco.minimize
import numpy as np
import numpy.typing as npt

from sysid_ros.errors import unknown_name
from sysid_ros.sysid.parameter import ParameterError

FloatArray = npt.NDArray[np.float64]

# z -> (rho, rho', rho'')
_Rho = Callable[[FloatArray], "tuple[FloatArray, FloatArray, FloatArray]"]

_SCIPY = ("linear", "huber", "soft_l1", "cauchy", "arctan")
_FLAT = 1e-3  # of the root mean square residual: closer to zero a kink is rounded off
_USABLE = 0.1  # curvature relative to that of reweighting
_EPS = float(np.finfo(np.float64).eps)


def _linear(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return z, np.ones_like(z), np.zeros_like(z)


def _huber(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    outside = np.maximum(z, 1.0)
    inlier = z <= 1.0
    return (
        np.where(inlier, z, 2.0 * np.sqrt(outside) - 1.0),
        np.where(inlier, 1.0, outside**-0.5),
        np.where(inlier, 0.0, -0.5 * outside**-1.5),
    )


def _soft_l1(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    t = 1.0 + z
    return 2.0 * (np.sqrt(t) - 1.0), t**-0.5, -0.5 * t**-1.5


def _cauchy(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    t = 1.0 + z
    return np.log1p(z), 1.0 / t, -1.0 / t**2


def _absolute(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The absolute residual, its kink rounded off; no curvature but that of reweighting."""
    floor = _FLAT**2 * float(np.mean(z)) if z.size else 0.0
    size = np.sqrt(np.maximum(z, max(floor, float(np.finfo(np.float64).tiny))))
    return 2.0 * np.sqrt(z), 1.0 / size, np.zeros_like(z)


def _arctan(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    t = 1.0 + z**2
    return np.arctan(z), 1.0 / t, -2.0 * z / t**2


_LOSSES: MappingProxyType[str, _Rho] = MappingProxyType(
    {
        "linear": _linear,
        "absolute": _absolute,
        "huber": _huber,
        "soft_l1": _soft_l1,
        "cauchy": _cauchy,
        "arctan": _arctan,
    }
)


@dataclass(frozen=True)
class RobustLoss:
    """One of the losses with its scale.

    Attributes:
      name: linear, absolute, huber, soft_l1, cauchy or arctan.
      scale: Residuals well below it count as inliers.
    """

    name: str = "linear"
    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check.

        Raises:
          ParameterError: There is no such loss, or the scale is not positive.
        """
        if self.name not in _LOSSES:
            raise ParameterError(unknown_name("loss", str(self.name), _LOSSES))
        if not self.scale > 0.0:
            raise ParameterError(f"the scale of a loss must be above zero, got {self.scale}")

    @property
    def for_scipy(self) -> str | Callable[[FloatArray], FloatArray]:
        """The loss as ``scipy.optimize.least_squares`` takes it."""
        return self.name if self.name in _SCIPY else lambda z: np.stack(_LOSSES[self.name](z))

    def cost(self, residual: FloatArray) -> float:
        """The cost of residuals of any shape."""
        rho = _LOSSES[self.name]((residual / self.scale) ** 2)[0]
        return float(0.5 * self.scale**2 * np.sum(rho))

    def gradient_weight(self, residual: FloatArray) -> FloatArray:
        """Rho' by element: ``gradient = J^T (weight r)``."""
        return _LOSSES[self.name]((residual / self.scale) ** 2)[1]

    def hessian_weight(self, residual: FloatArray) -> FloatArray:
        """Weight by element of ``J^T diag(weight) J``, never below the rounding error."""
        z = (residual / self.scale) ** 2
        _, first, second = _LOSSES[self.name](z)
        return np.maximum(first + 2.0 * second * z, _EPS)

    def weighted_jacobian(self, jacobian: FloatArray, residual: FloatArray) -> FloatArray:
        """``W`` of ``W^T W``, a Hessian of the cost to search with, (m, n).

        Far outliers have next to no curvature of their own, or a negative one. Theirs is that of
        reweighting (rho'), which lies above the cost everywhere, so that no step is too long.
        """
        if self.name == "linear":
            return jacobian
        z = (residual / self.scale) ** 2
        _, first, second = _LOSSES[self.name](z)
        own = first + 2.0 * second * z
        weight = np.where(own > _USABLE * first, own, first)
        weighted: FloatArray = jacobian * np.sqrt(weight)[:, np.newaxis]
        return weighted


class RobustNorm(mujoco.minimize.Norm):  # type: ignore[misc]
    """A robust loss as ``mujoco.minimize`` wants it."""

    def __init__(self, loss: RobustLoss) -> None:
        """Wrap ``loss``."""
        self._loss = loss

    def value(self, r: FloatArray) -> Any:
        """Cost of a column of residuals, (m, 1)."""
        return np.float64(self._loss.cost(r))

    def grad_hess(self, r: FloatArray, proj: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (n, 1) and Hessian (n, n) for the Jacobian ``proj``, (m, n)."""
        gradient = proj.T @ (self._loss.gradient_weight(r) * r)
        return gradient, proj.T @ (self._loss.hessian_weight(r) * proj)
