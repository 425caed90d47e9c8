# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Weights from residuals, and uncertainties that hold under coloured residuals.

Residual torque of an arm is not white: friction that the law does not describe, gear ripple and the
low-pass itself tie neighbouring samples together for seconds. Intervals are therefore taken from a
delete-a-block jackknife (Kuensch, Annals of Statistics 17, 1989; Cameron & Miller, Journal of Human
Resources 50, 2015, "CR3"): with H_b, g_b the normal equations of block b, their sum H, g, and the
prior's curvature P,

    d_b = -(H - H_b + P)^-1 (g_b - H_b x),   C = (H + P)^-1,
    cov = (B - 1)/B sum_b d_b d_b^T + C P C,

with t quantiles of B - 1 degrees of freedom. The last term is the prior's own uncertainty, which
matters only for what the data leave open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IntArray
from sysid_ros.engine.inverse_dynamics.normal_equations import (
    inverse_root,
    least_squares,
    solve_symmetric,
)
from sysid_ros.engine.uncertainty import student_quantile

_LEAST_ROWS = 8
_QUIETEST = 1e-4  # of the torque
_TOLD = 0.9  # of the prior's variance, that data take from a parameter that they determine
_OPEN = 0.75  # of the prior's variance; a parameter that keeps more of it is open


@dataclass(frozen=True)
class Uncertainty:
    """The uncertainty of estimated parameters."""

    covariance: FloatArray  # (k, k), robust to coloured residuals
    # by how much data have narrowed each parameter's variance, (k,): 1 for one that they determine,
    # 0 for one of which only the prior speaks
    information: FloatArray
    inflation: float  # how much more the jackknife finds than white residuals would explain
    blocks: int  # of time, of the jackknife

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors in the units of the estimates, (k,)."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.covariance), 0.0)))

    def half_widths(self, level: float = 0.95) -> FloatArray:
        """Half the width of confidence intervals, (k,)."""
        return self.standard_errors * student_quantile(max(self.blocks - 1, 1), 0.5 + level / 2.0)

    @property
    def open(self) -> BoolArray:
        """Parameters that the prior determines rather than the data, (k,)."""
        return self.information < 1.0 - _OPEN


def residual_weights(
    squares: FloatArray, counts: IntArray, torque_squares: FloatArray
) -> FloatArray:
    """The inverse of each degree of freedom's residual variance, (nv,); zero without rows.

    Args:
      squares: Sum of squared residuals, (blocks, nv).
      counts: Rows, (blocks, nv).
      torque_squares: Sum of squared torques, (blocks, nv): a residual below a ten-thousandth of
        the torque counts as one, so that data without noise have a finite weight.
    """
    rows = counts.sum(axis=0)
    variance = squares.sum(axis=0) / np.maximum(rows, 1)
    least = _QUIETEST**2 * torque_squares.sum(axis=0) / np.maximum(rows, 1)
    variance = np.maximum(variance, np.maximum(least, 1e-18))
    return np.where(rows >= _LEAST_ROWS, 1.0 / variance, 0.0)


def jackknife(
    x: FloatArray,
    hessians: FloatArray,
    gradients: FloatArray,
    curvature: FloatArray,
    held: BoolArray,
) -> Uncertainty:
    """The uncertainty of an estimate.

    Args:
      x: The estimate, (k,).
      hessians: H_b by block, (blocks, k, k).
      gradients: g_b by block, (blocks, k).
      curvature: P of the prior at the estimate, (k, k).
      held: Parameters that a bound holds, (k,). They stay there if data tell them: what a bound
        takes from one of two that data tell only together is not thereby known of the other.
    """
    blocks, go = len(hessians), ~held
    if held.any():
        go |= _information(hessians.sum(axis=0), curvature)[0] < _TOLD
    total = hessians.sum(axis=0)[np.ix_(go, go)]
    prior = curvature[np.ix_(go, go)]
    scale = inverse_root(np.diag(total + prior))
    spread = np.outer(scale, scale)
    scores = (gradients - hessians @ x)[:, go]
    left = (total - hessians[:, go][:, :, go] + prior) * spread
    shifts = -scale * _solve_each(left, scale * scores)
    shifts -= shifts.mean(axis=0)
    told, inverse = _information(total, prior)
    robust = (blocks - 1) / blocks * shifts.T @ shifts
    covariance = np.zeros_like(curvature)
    covariance[np.ix_(go, go)] = robust + inverse @ prior @ inverse
    information = np.zeros(len(x))
    information[go] = told
    naive = inverse @ total @ inverse
    share = information[go] > _TOLD
    ratio = np.diag(robust)[share] / np.maximum(np.diag(naive)[share], 1e-300)
    inflation = float(np.median(ratio)) if share.any() else 1.0
    return Uncertainty(covariance, information, inflation, blocks)


def _information(total: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """By how much data narrow the variance of each parameter, (k,); and that of all, (k, k)."""
    scale = inverse_root(np.diag(total + prior))
    spread = np.outer(scale, scale)
    inverse = spread * solve_symmetric((total + prior) * spread, np.eye(len(scale)))
    small = 1.0 / np.sqrt(np.diag(prior).clip(1e-300))
    alone = small**2 * np.diag(np.linalg.pinv(prior * np.outer(small, small), hermitian=True))
    told = np.clip(1.0 - np.diag(inverse) / np.maximum(alone, 1e-30), 0.0, 1.0)
    return told, inverse


def _solve_each(matrices: FloatArray, sides: FloatArray) -> FloatArray:
    """Solutions (n, k) of symmetric equations (n, k, k) of like sizes, each with its side."""
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:  # something has no effect on some of these data
        pairs = zip(matrices, sides, strict=True)
        return np.array([solve_symmetric(one, side) for one, side in pairs])
    return np.asarray(np.linalg.solve(matrices, sides[:, :, None])[:, :, 0])


def quick_errors(x: FloatArray, hessians: FloatArray, gradients: FloatArray) -> FloatArray:
    """Standard errors (k,) from the scores of blocks, without refitting to all but one.

    Smaller than the jackknife's where a block has much leverage, and cheap: H^-1 S H^-1 with S the
    sum of squares of the blocks' scores.

    Args:
      x: The least-squares estimate, (k,).
      hessians: By block, (blocks, k, k).
      gradients: By block, (blocks, k).
    """
    total = hessians.sum(axis=0)
    moved = least_squares(total, gradients - hessians @ x)
    blocks = len(hessians)
    return np.asarray(np.sqrt(np.sum(moved**2, axis=0) * blocks / (blocks - 1)))
