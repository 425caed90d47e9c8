# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From shares of information to values with standard errors, flags and remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import ReducedSystem, bounded_quadratic_step
from sysid_ros.engine.moving_horizon.arrival_cost import Share, added
from sysid_ros.engine.parameters import ParameterDict, priors
from sysid_ros.engine.problem import parameter_scale
from sysid_ros.engine.uncertainty import BOUND_MARGIN, Covariance, bounds_width, covariance

EXCESS = 2.0  # times its noise: a residual that noise does not explain


@dataclass(frozen=True)
class Box:
    """Parameters within bounds.

    Attributes:
      params: The parameters, at their initial values.
      lower: Lower bounds of the free scalars, (p,).
      upper: Upper bounds, (p,).
      scale: A typical magnitude of each, (p,).
    """

    params: ParameterDict
    lower: FloatArray
    upper: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, params: ParameterDict) -> Box:
        """Return the bounds of parameters."""
        lower, upper = params.get_bounds()
        return cls(params, lower, upper, parameter_scale(lower, upper, params.as_vector()))

    def inside(self, theta: FloatArray, inset: float) -> FloatArray:
        """A point that is some magnitudes inside the bounds, (p,)."""
        wanted = inset * parameter_scale(self.lower, self.upper, theta)
        wanted = np.minimum(wanted, 0.5 * (self.upper - self.lower))
        return np.asarray(np.clip(theta, self.lower + wanted, self.upper - wanted))

    def optimum(self, gram: FloatArray, theta: FloatArray) -> FloatArray:
        """The minimum of a quadratic function within the bounds, (p,).

        Args:
          gram: ``[J r]^T [J r]`` at ``theta``, (p + 1, p + 1).
          theta: Shape (p,).
        """
        p = theta.size
        low, high = self.lower - theta, self.upper - theta
        moved: FloatArray = theta + bounded_quadratic_step(gram[:p, :p], gram[:p, p], low, high)
        return moved


def covariance_of(
    box: Box, theta: FloatArray, shares: Sequence[Share], method: str, noise: Mapping[str, float]
) -> Covariance:
    """Return the covariance that the fit would report.

    Args:
      box: The parameters.
      theta: The optimum, (p,).
      shares: All that is known.
      method: ``"clustered"`` by share, or ``"white"``.
      noise: Level of every signal, in its unit.
    """
    _, precision = priors(box.params)
    margin = BOUND_MARGIN * bounds_width(box)
    hessians = np.stack([share.hessian for share in shares])
    gradients = np.stack([share.gradient_at(theta) for share in shares])
    system = ReducedSystem(
        hessians.sum(axis=0) + np.diag(precision), gradients.sum(axis=0), hessians, gradients
    )
    squares = added(share.squares for share in shares)
    return covariance(
        system,
        bounds_width(box),
        (theta > box.lower + margin) & (theta < box.upper - margin),
        method=method,
        n_samples=round(sum(count for _, count in squares.values())),
        residual_square=sum(square / noise[name] ** 2 for name, (square, _) in squares.items()),
        prior=precision,
    )


def noise_levels(
    shares: Sequence[Share], parameters: int, least: Mapping[str, float]
) -> dict[str, float]:
    """Root mean square of what stays unexplained, by signal, in its unit.

    Args:
      shares: All that is known.
      parameters: How many were fitted.
      least: The least level of every signal.
    """
    squares = added(share.squares for share in shares)
    total = sum(count for _, count in squares.values())
    correction = total / max(1.0, total - parameters)
    return {
        name: max(float(np.sqrt(correction * square / count)), least[name])
        for name, (square, count) in squares.items()
        if count > 0.0
    }


def unexplained(levels: Mapping[str, float], noise: Mapping[str, float]) -> tuple[str, ...]:
    """Sentences on signals whose residual is larger than their noise.

    Args:
      levels: Of the residual, by signal.
      noise: Of the signal, by signal, where it is known.
    """
    return tuple(
        f"{name}: the model leaves {level / noise[name]:.2g} times the noise of the signal"
        for name, level in levels.items()
        if name in noise and level > EXCESS * noise[name]
    )
