# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the objective by window: of its residuals, and of its start's prior."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import Loss
from sysid_ros.engine.simulation import RunJacobian
from sysid_ros.engine.windows import WindowBatch

MANY = 1 << 18  # numbers in a window's rows from which on zeros are looked for


def start_rows(batch: WindowBatch, starts: FloatArray, width: int) -> FloatArray:
    """Rows of the priors of a batch's starts, (w, n_start, width)."""
    n_start = batch.n_start
    rows = np.zeros((len(starts), n_start, width))
    own = np.arange(n_start)
    rows[:, own, width - 1 - n_start + own] = 1.0 / batch.spread
    rows[:, :, -1] = starts / batch.spread
    return rows


def weighted_rows(
    batch: WindowBatch, derivatives: RunJacobian, loss: Loss, noise: Mapping[str, float]
) -> FloatArray:
    """``[J_theta J_start r]`` in units of noise, weighted by the loss, (m, p + n_start + 1)."""
    residual, sigma = derivatives.residual, batch.sigma(noise)
    weight = np.sqrt(loss.gradient_weight(residual / sigma)) / sigma
    rows = np.empty((len(residual), derivatives.jacobian.shape[1] + 1))
    np.multiply(derivatives.jacobian, weight[:, None], out=rows[:, :-1])
    np.multiply(residual, weight, out=rows[:, -1])
    if not np.isfinite(rows.sum()):
        # A perturbation that diverges says nothing about the slope.
        rows[~np.isfinite(rows)] = 0.0
    return rows


def gram_of(rows: FloatArray, signals: IndexArray) -> FloatArray:
    """``rows.T @ rows`` of a window, without the columns that are zero in all rows of a signal.

    A leg's parameters do not move the joints of the others.

    Args:
      rows: Of the window, (m, n).
      signals: Which signal each compares, (m,).
    """
    if rows.size < MANY:
        return np.asarray(rows.T @ rows)
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for signal in np.unique(signals):
        own = rows[signals == signal]
        used = np.flatnonzero(np.einsum("ij,ij->j", own, own))
        own = own[:, used]
        total[np.ix_(used, used)] += own.T @ own
    return total
