# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Criteria that a design makes small: numbers from the covariance that a motion promises.

Criteria of optimal experiments (Pukelsheim, Optimal Design of Experiments, 2006) for parameters
in units of their scale, so that kg and N m s can be compared. With C the covariance of the
parameters of interest: D is log det C / p, twice the logarithm of the geometric mean of standard
errors along the axes of the ellipsoid; A is log of the mean variance; "worst" is the logarithm of
a p-norm of the variances, which approaches the largest. DA is D with a share of A (a compound
criterion: Atkinson, Donev and Tobias, Optimum Experimental Designs, 2007, chapter 21): D alone may
buy what is well known already with long axes of the ellipsoid, and an error of one parameter by
itself is made of these. "condition" is the logarithm of the
condition number of the information, which the literature on excitation uses (Swevers et al. 1997)
though it says nothing about how much information there is.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray

CriterionName = Literal["DA", "D", "A", "worst", "condition"]
CRITERIA: tuple[CriterionName, ...] = ("DA", "D", "A", "worst", "condition")
_SHARE_OF_A = 0.3  # in DA
_POWER = 6.0  # of the norm that stands for the largest variance


def criterion(
    name: CriterionName,
    information: FloatArray,
    scale: FloatArray,
    interest: IndexArray | None = None,
) -> tuple[float, FloatArray]:
    """A design criterion and its derivative.

    Args:
      name: One of ``CRITERIA``.
      information: (p, p), in the parameters' own units.
      scale: Sizes (p,) in which errors are counted.
      interest: Parameters that count, the others being free all the same; all if None.

    Returns:
      The criterion, infinite where a parameter cannot be had; and its derivative W (p, p),
      so that it changes by ``tr(W d information)``.
    """
    unit = np.outer(scale, scale)
    try:
        covariance = np.linalg.inv(np.linalg.cholesky(information * unit))
    except np.linalg.LinAlgError:
        return np.inf, np.zeros_like(information)
    covariance = covariance.T @ covariance
    chosen = np.arange(len(scale)) if interest is None else interest
    part = covariance[np.ix_(chosen, chosen)]
    value, slope = _of_covariance(name, part)
    along = covariance[:, chosen]
    return value, -(along @ slope @ along.T) * unit


def _of_covariance(name: CriterionName, c: FloatArray) -> tuple[float, FloatArray]:
    if name == "DA":
        (d, by_d), (a, by_a) = _of_covariance("D", c), _of_covariance("A", c)
        return d + _SHARE_OF_A * (a - d), by_d + _SHARE_OF_A * (by_a - by_d)
    size = len(c)
    if name == "D":
        return float(np.linalg.slogdet(c)[1]) / size, np.linalg.inv(c) / size
    variances = np.diag(c)
    if name == "A":
        return float(np.log(variances.mean())), np.eye(size) / variances.sum()
    if name == "condition":
        values, axes = np.linalg.eigh(c)
        largest, smallest = axes[:, -1], axes[:, 0]
        slope = np.outer(largest, largest) / values[-1] - np.outer(smallest, smallest) / values[0]
        return float(np.log(values[-1] / values[0])), slope
    largest = variances.max()
    shares = (variances / largest) ** _POWER
    value = float(np.log(largest) + np.log(shares.mean()) / _POWER)
    return value, np.diag(shares / shares.sum() / variances)
