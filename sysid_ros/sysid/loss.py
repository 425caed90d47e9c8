"""Robust losses and the weights that turn them into least squares.

A loss acts on ``z = (r / c)^2`` with the residual r in units of its noise and the tuning constant
c, ``cost = 1/2 sum c^2 rho(z)``, as in :func:`scipy.optimize.least_squares`. Gauss-Newton with rows
scaled by ``sqrt(rho'(z))`` is iteratively reweighted least squares (Holland & Welsch 1977).
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
    """

    name: str
    scale: float
    rho: Callable[[FloatArray], FloatArray]
    slope: Callable[[FloatArray], FloatArray]

    def cost(self, residual: FloatArray) -> float:
        """Half the summed loss of residuals in units of their noise; infinite if any is NaN."""
        value = 0.5 * self.scale**2 * float(np.sum(self.rho((residual / self.scale) ** 2)))
        return value if np.isfinite(value) else np.inf

    def row_scale(self, residual: FloatArray) -> FloatArray:
        """Factor for each row of the residual and its Jacobian."""
        factor: FloatArray = np.sqrt(self.slope((residual / self.scale) ** 2))
        return factor


_LOSSES = (
    Loss("linear", 1.0, lambda z: z, np.ones_like),
    Loss(
        "huber",
        1.345,
        lambda z: np.where(z <= 1.0, z, 2.0 * np.sqrt(np.maximum(z, 1.0)) - 1.0),
        lambda z: 1.0 / np.sqrt(np.maximum(z, 1.0)),
    ),
    Loss(
        "soft_l1",
        1.345,
        lambda z: 2.0 * (np.sqrt(1.0 + z) - 1.0),
        lambda z: 1.0 / np.sqrt(1.0 + z),
    ),
    Loss("cauchy", 2.385, np.log1p, lambda z: 1.0 / (1.0 + z)),
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
