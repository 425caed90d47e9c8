# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Student's t distribution; importing ``scipy.special`` for it takes a tenth of a second.

Its tails are incomplete beta functions, whose continued fraction is that of Press et al.,
"Numerical Recipes", 6.4. Quantiles follow by Newton's method on the logarithms of tail and value,
in which tails are nearly straight.
"""

from __future__ import annotations

import math
from functools import lru_cache

# Degrees of freedom from which on expansions are as good.
_MANY = 3000.0
_TERMS = 1000  # of the fraction at most
_STEPS, _SETTLED = 100, 1e-10  # of Newton's method at most, and the last one, whose square is left


def student_probability(dof: float, value: float) -> float:
    """Probability that a number of Student's t distribution stays below a value.

    Args:
      dof: Degrees of freedom, above zero, and a million at most or infinite.
      value: The value.
    """
    tail = _tail(dof, abs(value))
    return tail if value < 0.0 else 1.0 - tail


def student_quantile(dof: float, probability: float) -> float:
    """Return what a number of Student's t distribution stays below with this probability, 0 to 1.

    The degrees of freedom are infinite for the normal distribution; NaN without any.
    """
    if not (dof > 0.0 and 0.0 <= probability <= 1.0):
        return math.nan
    tail = min(probability, 1.0 - probability)
    size = math.inf if tail == 0.0 else 0.0 if tail == 0.5 else _exceeded_by(dof, tail)
    return math.copysign(size, probability - 0.5)


@lru_cache(maxsize=1024)
def _exceeded_by(dof: float, tail: float) -> float:
    """The value that is exceeded with a probability between zero and a half."""
    if math.isinf(dof):
        return _solved(dof, tail, 1.0)
    z = _exceeded_by(math.inf, tail)
    # Fisher & Cornish (1960), "The percentile points of distributions having known cumulants".
    first, second = (z**3 + z) / 4.0, (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0
    third = (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0
    near = z + (first + (second + third / dof) / dof) / dof
    return near if dof > _MANY else _solved(dof, tail, near if near > 0.0 else z)


def _solved(dof: float, tail: float, value: float) -> float:
    """The value with a tail, by Newton's method from another value."""
    for _ in range(_STEPS):
        there = _tail(dof, value)
        if not there:  # far beyond
            value *= 0.5
            continue
        step = math.log(there / tail) * there / (value * _density(dof, value))
        value *= math.exp(step)
        if abs(step) < _SETTLED:
            break
    return value


def _density(dof: float, value: float) -> float:
    if math.isinf(dof):
        return math.exp(-0.5 * value * value) / math.sqrt(2.0 * math.pi)
    away = -0.5 * (dof + 1.0) * math.log1p(value * value / dof)
    return math.exp(_log_factor(dof) + away) / math.sqrt(dof)


def _log_factor(dof: float) -> float:
    """The logarithm of 1 / B(dof / 2, 1 / 2)."""
    a = 0.5 * dof
    if dof > _MANY:  # where their difference is lost in the two
        ratio = 0.5 * math.log(a) - 1.0 / (8.0 * a)
    else:
        ratio = math.lgamma(a + 0.5) - math.lgamma(a)
    return ratio - 0.5 * math.log(math.pi)


def _tail(dof: float, value: float) -> float:
    """Probability of more than a value, which is not negative."""
    if math.isinf(dof):
        return 0.5 * math.erfc(value / math.sqrt(2.0))
    a, odds = 0.5 * dof, value * value / dof
    if math.isinf(odds):
        return 0.0
    x, rest = 1.0 / (1.0 + odds), odds / (1.0 + odds)
    factor = math.exp(_log_factor(dof) - a * math.log1p(odds)) * math.sqrt(rest)
    if x < (a + 1.0) / (a + 2.5):
        return 0.5 * factor * _fraction(a, 0.5, x) / a
    return 0.5 - factor * _fraction(0.5, a, rest)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, which is multiplied by ``a``."""
    upper, lower = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    total = lower
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        before = total
        for term in (even, odd):
            upper, lower = 1.0 + term / upper, 1.0 / (1.0 + term * lower)
            total *= upper * lower
        if abs(total - before) <= 1e-16 * abs(total):
            break
    return total
