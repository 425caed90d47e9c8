# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Priors that keep directions which the data leave open near the model.

For bodies the *entropic* distance of pseudo-inertias (Lee, Wensing & Park, Geometric robot dynamic
identification: a convex programming approach, IEEE T-RO 36, 2020),

    D(J, J_0) = tr(J_0^-1 J) - log det(J_0^-1 J) - 4,

which does not depend on frames or units and grows without bound towards bodies that cannot exist,
or its second order, the *Gaussian* |L^-1 (J - J_0) L^-T|^2 / 2 with J_0 = L L^T. Both are in units
of a negative log-likelihood; with a spread s they enter as D / s^2. For what joints and tendons
have, a Gaussian about the model's value.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics.consistency import BodyScale
from sysid_ros.engine.inverse_dynamics.normal_equations import inverse_root, solve_symmetric


class PriorKind(Enum):
    """The distance of bodies from the model's."""

    ENTROPIC = "entropic"
    GAUSSIAN = "gaussian"


@dataclass(frozen=True)
class BodyTerm:
    """One body's place in the estimated parameters.

    Attributes:
      condition: In which it has them.
      body: Its id.
      matrix: Ten parameters = matrix x + fixed, (10, k).
      fixed: (10,).
      scale: The model's own body.
    """

    condition: str
    body: int
    matrix: FloatArray
    fixed: FloatArray
    scale: BodyScale

    def parameters(self, x: FloatArray) -> FloatArray:
        """Ten parameters, (10,)."""
        return self.matrix @ x + self.fixed

    def relative(self, x: FloatArray) -> FloatArray:
        """L^-1 J L^-T, (4, 4)."""
        return self.scale.relative(self.parameters(x))


@dataclass(frozen=True)
class Prior:
    """The negative log-density of the estimated parameters, up to a constant.

    Attributes:
      bodies: Bodies with free parameters.
      kind: Their distance.
      spread: Of bodies, relative: 1 says that the model may be wrong by its own size.
      mean: Of a Gaussian on each parameter besides, (k,).
      precision: Of the same, (k,); zero for parameters of bodies.
    """

    bodies: tuple[BodyTerm, ...]
    kind: PriorKind
    spread: float
    mean: FloatArray
    precision: FloatArray

    def value(self, x: FloatArray) -> float:
        """At x; infinite for bodies that cannot exist, if entropic."""
        return 0.5 * float(self.precision @ (x - self.mean) ** 2) + (
            self.distance(x) / self.spread**2
        )

    def distance(self, x: FloatArray) -> float:
        """Of all bodies from the model's at x; infinite for some that cannot exist, if entropic."""
        total = 0.0
        for term in self.bodies:
            relative = term.relative(x)
            if self.kind is PriorKind.GAUSSIAN:
                total += 0.5 * float(np.sum((relative - np.eye(4)) ** 2))
                continue
            sign, logarithm = np.linalg.slogdet(relative)
            if sign <= 0.0 or np.linalg.eigvalsh(relative)[0] <= 0.0:
                return np.inf
            total += float(np.trace(relative)) - float(logarithm) - 4.0
        return total

    def needed_spread(self, x: FloatArray, hessian: FloatArray) -> float:
        """The spread that an estimate shows where the model is more wrong than the prior says.

        That with the largest evidence, to first order (MacKay, Bayesian interpolation, 1992): twice
        the distance of the bodies is as large as the number of their parameters that data tell.

        Args:
          x: The estimate, (k,).
          hessian: Of the data there, (k, k).

        Returns:
          No less than the present one.
        """
        if not self.bodies:
            return self.spread
        own = np.any([np.any(term.matrix, axis=0) for term in self.bodies], axis=0)
        _, curvature = self.derivatives(x)
        scale = inverse_root(np.diag(hessian + curvature))
        whole = solve_symmetric((hessian + curvature) * np.outer(scale, scale), np.diag(scale))
        open_ = float(np.sum(np.diag(scale[:, None] * whole @ curvature)[own]))
        told = max(float(own.sum()) - open_, 1.0)
        return max(self.spread, float(np.sqrt(2.0 * self.distance(x) / told)))

    def derivatives(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (k,) and Hessian (k, k) at x."""
        gradient: FloatArray = self.precision * (x - self.mean)
        hessian: FloatArray = np.diag(self.precision)
        for term in self.bodies:
            one = np.einsum("ik,ijl->kjl", term.matrix, term.scale.scaled)
            used = np.flatnonzero(np.any(term.matrix, axis=0))
            one = one[used]
            relative = term.relative(x)
            inverse: npt.NDArray[Any]
            if self.kind is PriorKind.GAUSSIAN:
                inverse, slope = np.eye(4), relative - np.eye(4)
            else:
                inverse = np.linalg.inv(relative)
                slope = np.eye(4) - inverse
            left = np.einsum("jl,klm->kjm", inverse, one)
            gradient[used] += np.einsum("jl,klj->k", slope, one) / self.spread**2
            hessian[np.ix_(used, used)] += np.einsum("kjm,nmj->kn", left, left) / self.spread**2
        return gradient, hessian
