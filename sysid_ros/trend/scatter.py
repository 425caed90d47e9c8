# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Scatter of repeated estimates: beyond their standard errors, and as other parameters have it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray

# With fewer other parameters nothing can be said about how alike their scatter is.
_FEWEST_OTHERS = 4
# Standard errors by which parameters are taken to differ more in their scatter than is seen: where
# they do and it is overlooked, alarms are false.
_CAUTION = 1.0
_MOST = 3.0  # times what a parameter shows itself: the most that others count


def variance_between(values: FloatArray, errors: FloatArray, groups: Sequence[int]) -> float:
    """Variance of recordings of one day beyond what their standard errors explain.

    The moment estimator of DerSimonian and Laird (Meta-analysis in clinical trials, Controlled
    Clinical Trials 7, 1986), with a mean of its own for each group.

    Args:
      values: Estimates, (n,).
      errors: Their standard errors, (n,), positive.
      groups: The day of each; a group of one says nothing.

    Returns:
      The variance, zero where the standard errors explain the scatter.
    """
    weights = 1.0 / errors**2
    _, members = np.unique(np.asarray(groups), return_inverse=True)
    total = np.bincount(members, weights)
    means = np.bincount(members, weights * values) / total
    excess = float(np.sum(weights * (values - means[members]) ** 2)) - (values.size - total.size)
    share = float(total.sum() - np.sum(np.bincount(members, weights**2) / total))
    return max(0.0, excess / share) if share > 1e-9 * total.sum() else 0.0


@dataclass(frozen=True)
class ScatterPrior:
    """The scatter to be expected of one parameter, from what the others show."""

    variance: float = 1.0  # in units of the squared standard errors
    dof: float = 0.0  # as many degrees of freedom this knowledge is worth; zero: none


def scatter_prior(variances: Sequence[float], dofs: Sequence[float]) -> ScatterPrior:
    """Return how parameters scatter, fitted to the scatter of several.

    A scaled inverse chi-square law, by the first two moments of the logarithms (G. K. Smyth,
    Linear models and empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3, 2004, section 6.2).

    Args:
      variances: Of each parameter, in units of its squared standard errors.
      dofs: Their degrees of freedom.

    Returns:
      The law; its degrees of freedom are limited, as parameters never scatter quite alike.
    """
    known = [(v, d) for v, d in zip(variances, dofs, strict=True) if v > 0.0 and d > 0.0]
    if len(known) < _FEWEST_OTHERS:
        return ScatterPrior()
    half = 0.5 * np.array([d for _, d in known])
    logs = np.log([v for v, _ in known]) - scipy.special.digamma(half) + np.log(half)
    spread = float(np.var(logs, ddof=1)) * (1.0 + _CAUTION * math.sqrt(2.0 / (len(known) - 1)))
    spread -= float(np.mean(scipy.special.polygamma(1, half)))
    most = _MOST * 2.0 * float(half.mean())
    dof = min(most, 2.0 * _trigamma_inverse(spread)) if spread > 0.0 else most
    mean = float(np.mean(logs)) + float(scipy.special.digamma(0.5 * dof)) - math.log(0.5 * dof)
    return ScatterPrior(math.exp(mean), dof)


def _trigamma_inverse(value: float) -> float:
    """Return the argument at which the trigamma function has a value, by Newton's method."""
    if value < 1e-6:
        return 1.0 / value
    found = 0.5 + 1.0 / value
    for _ in range(50):
        height = float(scipy.special.polygamma(1, found))
        step = height * (1.0 - height / value) / float(scipy.special.polygamma(2, found))
        found += step
        if abs(step) < 1e-9 * found:
            break
    return found
