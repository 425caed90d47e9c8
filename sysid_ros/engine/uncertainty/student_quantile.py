# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of Student's t; importing ``scipy.special`` takes longer than a fit's intervals."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

_FEW, _MANY = 2.0, 1e5  # degrees of freedom
_FAR = 0.4999  # of the probability beside the median
_POINTS = 801  # of Simpson's rule, odd
_ROUNDING = 1e-14


@lru_cache(maxsize=4096)
def student_quantile(dof: float, probability: float) -> float:
    """Return what a number of Student's t distribution stays below with this probability, 0 to 1.

    With t = sqrt(dof) tan(phi) its density is that of phi, cos(phi)^(dof - 1) up to a constant,
    whose integral Newton's method inverts, to eight digits.

    Args:
      dof: Degrees of freedom, infinite for the normal distribution; NaN without any.
      probability: Of what is below.
    """
    aside = probability - 0.5
    if dof < _FEW or math.isnan(dof) or not abs(aside) < _FAR:
        from scipy.special import stdtrit

        return float(stdtrit(dof, probability))
    if dof > _MANY:
        t = student_quantile(_MANY, probability)
        return t * (1.0 + (t * t + 1.0) * (0.25 / dof - 0.25 / _MANY))  # to first order in 1 / dof
    constant = math.exp(math.lgamma(0.5 * dof + 0.5) - math.lgamma(0.5 * dof)) / math.sqrt(math.pi)
    wanted = abs(aside) / constant
    shares = np.linspace(0.0, 1.0, _POINTS)
    weights = np.full(_POINTS, 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    weights /= weights.sum()
    phi, step = 0.0, wanted  # the integral is concave: from below no step is too long
    while step > _ROUNDING * phi:
        phi += step
        density = np.cos(phi * shares) ** (dof - 1.0)
        step = (wanted - phi * float(weights @ density)) / float(density[-1])
    return math.copysign(math.sqrt(dof) * math.tan(phi), aside)
