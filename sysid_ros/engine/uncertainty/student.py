# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of Student's t distribution; importing ``scipy.special`` takes longer than all of them.

With t = sqrt(n) sinh(s) its density is proportional to 1 / cosh(s)^n, whose integral from zero is
concave: Newton's method cannot miss its way from any place below, such as the normal quantile.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from sysid_ros.arrays import FloatArray

_COUNT = 64  # places of the quadrature, exact to rounding in all that is asked for
_LARGE = 1e3  # degrees of freedom from which on the distance to the normal quantile is a series
_ROUNDS = 100  # of Newton's method, which takes four to ten


@lru_cache(maxsize=4096)
def student_quantile(dof: float, probability: float) -> float:
    """Return what a number of Student's t distribution stays below with this probability, 0 to 1.

    The degrees of freedom are infinite for the normal distribution; NaN without any.
    """
    if not dof > 0.0:
        return math.nan
    if probability < 0.5:
        return -student_quantile(dof, 1.0 - probability)
    normal = NormalDist().inv_cdf(probability)
    if dof > _LARGE:  # Abramowitz & Stegun 26.7.5
        first, square = normal / dof, normal**2
        second, third = first / dof, first / dof**2
        return (
            normal + first * (square + 1.0) / 4.0
            + second * ((5.0 * square + 16.0) * square + 3.0) / 96.0
            + third * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0
        )  # fmt: skip
    height = math.exp(math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * dof)) / math.sqrt(math.pi)
    wanted, place = (probability - 0.5) / height, math.asinh(normal / math.sqrt(dof))
    nodes, weights = _gauss_legendre()
    for _ in range(_ROUNDS):
        area = 0.5 * place * float(weights @ np.cosh(0.5 * place * (1.0 + nodes)) ** -dof)
        step = (wanted - area) * math.cosh(place) ** dof
        place += step
        if abs(step) <= 1e-15 * place:
            break
    return math.sqrt(dof) * math.sinh(place)


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    """Places between -1 and 1, and their weights (Golub & Welsch, Math. Comp. 23, 1969)."""
    k = np.arange(1.0, _COUNT)
    beside = k / np.sqrt(4.0 * k**2 - 1.0)
    nodes, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    return nodes, 2.0 * vectors[0] ** 2
