# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Confidence intervals of ``mujoco.sysid``: one level of white noise for all residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.uncertainty.rank import DIFFERENCES, MARGIN, directions


def calculate_intervals(
    residuals_star: Sequence[FloatArray],
    J: FloatArray | None,  # noqa: N803  (the reference's name)
    alpha: float = 0.05,
    lambda_zero_thresh: float = (MARGIN * DIFFERENCES) ** 2,
    v_zero_thresh: float = 1e-3,
) -> tuple[FloatArray, FloatArray]:
    """Covariance and half widths of the parameters' confidence intervals.

    The residuals' variance estimates that of the noise, which is taken as white and equal in all
    of them: for recordings, whose errors are correlated, these intervals are too narrow; see the
    windowed fit for honest ones. A direction that the data leaves open (a singular value of J, its
    columns scaled to unit length, that is zero to its accuracy) makes every parameter with a part
    in it infinitely uncertain.

    Args:
      residuals_star: Residuals at the solution.
      J: Jacobian there, (n, p).
      alpha: One minus the level, 0.05 for 95 %.
      lambda_zero_thresh: Squared singular values up to this count as zero; by default what the
        error of finite differences asks for.
      v_zero_thresh: Components of directions below this fraction of the parameter's largest too.

    Returns:
      Covariance (p, p), with infinite variances and NaN covariances of undetermined parameters,
      and half widths (p,), infinite where undetermined or where there are no more residuals than
      parameters.
    """
    if J is None or J.size == 0:
        return np.empty((0, 0)), np.empty((0,))
    residual = np.concatenate([np.ravel(part) for part in residuals_star])
    freedom = residual.size - J.shape[1]
    if freedom <= 0:
        return np.full((J.shape[1],) * 2, np.nan), np.full(J.shape[1], np.inf)
    variance = float(residual @ residual) / freedom
    found = directions(J, lambda_zero_thresh**0.5 / MARGIN)
    share = np.abs(found.vectors) > v_zero_thresh * np.abs(found.vectors).max(axis=0)
    undetermined = (share & found.open[:, np.newaxis]).any(axis=0)
    inverse = np.where(found.open, 0.0, 1.0 / np.where(found.open, 1.0, found.sizes))
    factor = inverse[:, np.newaxis] * found.vectors / found.length
    covariance = variance * factor.T @ factor
    half_width = np.sqrt(np.diag(covariance)) * scipy.special.stdtrit(freedom, 1.0 - alpha / 2.0)
    covariance[undetermined, :] = covariance[:, undetermined] = np.nan
    covariance[undetermined, undetermined] = np.inf
    return covariance, np.where(undetermined, np.inf, half_width)
