# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of the normal distribution and of Student's t."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from sysid_ros.arrays import FloatArray

_TERMS = 300  # of a continued fraction, which converges after a few dozen
_TINY = 1e-300
_MANY = 1e4  # degrees of freedom from which t is nearly normal


def normal_quantiles(levels: FloatArray) -> FloatArray:
    """The values that a standard normal variable stays below with these probabilities."""
    normal = NormalDist()
    return np.array([normal.inv_cdf(level) for level in np.ravel(levels).tolist()])


@lru_cache(256)
def student_quantile(dof: float, level: float) -> float:
    """The value that Student's t stays below with a probability.

    Args:
      dof: Degrees of freedom, above zero.
      level: The probability, within (0, 1).

    Returns:
      Accurate to ten digits; NaN where there are no degrees of freedom.
    """
    if not dof > 0.0 or not 0.0 < level < 1.0:
        return math.nan
    if level < 0.5:
        return -student_quantile(dof, 1.0 - level)
    if dof > _MANY:
        return _nearly_normal(dof, NormalDist().inv_cdf(level))
    low, high = 0.0, 1.0
    while _upper_tail(high, dof) > 1.0 - level:
        low, high = high, 2.0 * high
    value = 0.5 * (low + high)
    for _ in range(200):
        excess = _upper_tail(value, dof) - (1.0 - level)
        low, high = (value, high) if excess > 0.0 else (low, value)
        ahead = value + excess / _density(value, dof)  # Newton, kept between what encloses it
        ahead = ahead if low < ahead < high else 0.5 * (low + high)
        if abs(ahead - value) <= 1e-15 * abs(value):
            break
        value = ahead
    return value


def _nearly_normal(dof: float, z: float) -> float:
    """Fisher's expansion (Abramowitz & Stegun 26.7.5) from the normal quantile."""
    w = z * z
    terms = (
        (w + 1.0) / 4.0,
        ((5.0 * w + 16.0) * w + 3.0) / 96.0,
        (((3.0 * w + 19.0) * w + 17.0) * w - 15.0) / 384.0,
    )
    return z * (1.0 + sum(term / dof**k for k, term in enumerate(terms, 1)))


def _density(t: float, dof: float) -> float:
    scale = math.lgamma(0.5 * (dof + 1.0)) - math.lgamma(0.5 * dof) - 0.5 * math.log(math.pi * dof)
    return math.exp(scale - 0.5 * (dof + 1.0) * math.log1p(t * t / dof))


def _upper_tail(t: float, dof: float) -> float:
    """The probability of more than t, at least zero."""
    square = t * t
    if square < dof:  # where the fraction below converges
        return 0.5 - 0.5 * _incomplete_beta(0.5, 0.5 * dof, square / (dof + square))
    return 0.5 * _incomplete_beta(0.5 * dof, 0.5, dof / (dof + square))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function by its continued fraction (DLMF 8.17.22)."""
    if x <= 0.0:
        return 0.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(b, a, 1.0 - x)
    beta = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(beta + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1.0 / _apart(1.0 - (a + b) * x / (a + 1.0))
    fraction = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d, c = 1.0 / _apart(1.0 + term * d), _apart(1.0 + term / c)
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return front * fraction


def _apart(value: float) -> float:
    """The value, away from zero (Lentz's method)."""
    return value if abs(value) > _TINY else _TINY
