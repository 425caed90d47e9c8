# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of the normal and of Student's distribution.

SciPy has them too, but importing that part of it takes as long as scoring a fit.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_NORMAL = NormalDist()
_MANY = 1e4  # degrees of freedom, from which on an expansion around the normal quantile is exact
_SETTLED = 1e-14


def normal_quantile(probability: float) -> float:
    """Return what a standard normal number stays below with this probability, in (0, 1)."""
    return _NORMAL.inv_cdf(probability)


@lru_cache(maxsize=256)
def student_quantile(dof: float, probability: float) -> float:
    """Return what a number of Student's t distribution stays below with this probability.

    Args:
      dof: Degrees of freedom; infinite for the normal distribution.
      probability: In (0, 1).

    Returns:
      NaN without any degree of freedom.
    """
    if not dof > 0.0:
        return math.nan
    if probability < 0.5:
        return -student_quantile(dof, 1.0 - probability)
    if math.isinf(dof):
        return normal_quantile(probability)
    if dof >= _MANY:
        return _around_normal(dof, normal_quantile(probability))
    if probability == 0.5:
        return 0.0
    # Newton's method on logarithms, between which the relation is concave and soon a straight line.
    wanted = math.log(2.0 * (1.0 - probability))
    t = normal_quantile(probability)
    for _ in range(100):
        beyond = _beyond(dof, t)
        change = (math.log(beyond) - wanted) * beyond / (2.0 * t * _density(dof, t))
        t *= math.exp(change)
        if abs(change) < 10.0 * _SETTLED:
            break
    return t


def _around_normal(dof: float, z: float) -> float:
    """The quantile by its expansion in powers of 1/dof (Abramowitz & Stegun 26.7.5)."""
    s = z * z
    terms = (
        (s + 1.0) / 4.0,
        ((5.0 * s + 16.0) * s + 3.0) / 96.0,
        (((3.0 * s + 19.0) * s + 17.0) * s - 15.0) / 384.0,
    )
    return z * (1.0 + sum(term / dof**k for k, term in enumerate(terms, start=1)))


def _density(dof: float, t: float) -> float:
    """The density of Student's t."""
    size = math.lgamma(0.5 * dof + 0.5) - math.lgamma(0.5 * dof)
    shape = -0.5 * (dof + 1.0) * math.log1p(t * t / dof)
    return math.exp(size + shape) / math.sqrt(math.pi * dof)


def _beyond(dof: float, t: float) -> float:
    """The probability that the size of Student's t exceeds ``t`` >= 0."""
    x = dof / (dof + t * t)
    a, b = 0.5 * dof, 0.5
    size = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(size + a * math.log(x)) * math.sqrt(1.0 - x)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1.0 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, after Lentz (A. & S. 26.5.8)."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, 400):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / (1.0 + term * d)
            c = 1.0 + term / c
            value *= c * d
        if abs(c * d - 1.0) < _SETTLED:
            break
    return value
