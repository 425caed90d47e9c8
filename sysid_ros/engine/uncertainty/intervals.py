# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Confidence intervals of ``mujoco.sysid``: one level of white noise for all residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray


def calculate_intervals(
    residuals_star: Sequence[FloatArray],
    J: FloatArray | None,  # noqa: N803  (the reference's name)
    alpha: float = 0.05,
    lambda_zero_thresh: float = 1e-15,
    v_zero_thresh: float = 1e-8,
) -> tuple[FloatArray, FloatArray]:
    """Covariance and half widths of the parameters' confidence intervals.

    The residuals' variance estimates that of the noise, which is taken as white and equal in all
    of them: for recordings, whose errors are correlated, these intervals are too narrow; see the
    windowed fit for honest ones. A direction that the data leaves open (an eigenvalue of J^T J
    that is zero to rounding) makes every parameter with a part in it infinitely uncertain.

    Args:
      residuals_star: Residuals at the solution.
      J: Jacobian there, (n, p).
      alpha: One minus the level, 0.05 for 95 %.
      lambda_zero_thresh: Eigenvalues below this fraction of the largest count as zero.
      v_zero_thresh: Eigenvector components below this fraction of the parameter's largest too.

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
    eigenvalues, vectors = np.linalg.eigh(J.T @ J)
    open_ = eigenvalues <= lambda_zero_thresh * max(float(eigenvalues.max()), 0.0)
    share = np.abs(vectors) > v_zero_thresh * np.abs(vectors).max(axis=1, keepdims=True)
    undetermined = (share & open_).any(axis=1)
    inverse = np.where(open_, 0.0, 1.0 / np.where(open_, 1.0, eigenvalues))
    covariance = variance * (vectors * inverse) @ vectors.T
    half_width = np.sqrt(np.diag(covariance)) * scipy.stats.t.ppf(1.0 - alpha / 2.0, freedom)
    covariance[undetermined, :] = covariance[:, undetermined] = np.nan
    covariance[undetermined, undetermined] = np.inf
    return covariance, np.where(undetermined, np.inf, half_width)
