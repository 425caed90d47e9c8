# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the objective by window: of its residuals, and of its start's prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import Loss
from sysid_ros.engine.simulation import RunJacobian, run_slices
from sysid_ros.engine.windows import WindowBatch

MANY = 1 << 18  # numbers in a window's Jacobian from which on zeros are looked for


def rows_of(
    batch: WindowBatch,
    starts: FloatArray,
    found: RunJacobian,
    loss: Loss,
    noise: Mapping[str, float],
) -> Iterator[FloatArray]:
    """``[J_theta J_start r]`` of every window of a batch, the prior's rows last.

    In units of noise, (m + n_start, p + n_start + 1).

    Args:
      batch: The windows, of m samples.
      starts: The deviations of their starts, (w, n_start).
      found: Their residuals and Jacobian.
      loss: Weighs residuals in units of noise.
      noise: Standard deviation per signal name, in the signal's unit.
    """
    weights = _weights(batch, found.residual, loss, noise)
    prior = _start_rows(batch, starts, found.jacobian.shape[1] + 1)
    for own, rest in zip(run_slices(batch.samples), prior, strict=True):
        yield weighted_rows(found.jacobian[own], found.residual[own], weights[own], rest)


def grams_of(
    batch: WindowBatch,
    starts: FloatArray,
    found: RunJacobian,
    loss: Loss,
    noise: Mapping[str, float],
) -> list[FloatArray]:
    """``rows.T @ rows`` of every window of a batch; takes what :func:`rows_of` takes."""
    weights = _weights(batch, found.residual, loss, noise)
    prior = _start_rows(batch, starts, found.jacobian.shape[1] + 1)
    sums = sums_by_window(found, weights, [*run_slices(batch.samples)], batch.signals)
    return [own + rest.T @ rest for own, rest in zip(sums, prior, strict=True)]


def _start_rows(batch: WindowBatch, starts: FloatArray, width: int) -> FloatArray:
    """Rows of the priors of a batch's starts, (w, n_start, width)."""
    n_start = batch.n_start
    rows = np.zeros((len(starts), n_start, width))
    own = np.arange(n_start)
    rows[:, own, width - 1 - n_start + own] = 1.0 / batch.spread
    rows[:, :, -1] = starts / batch.spread
    return rows


def _weights(
    batch: WindowBatch, residual: FloatArray, loss: Loss, noise: Mapping[str, float]
) -> FloatArray:
    """The factors of residuals and their derivatives: units of noise, and the loss, (m,)."""
    sigma = batch.sigma(noise)
    weights: FloatArray = np.sqrt(loss.gradient_weight(residual / sigma)) / sigma
    return weights


def weighted_rows(
    jacobian: FloatArray, residual: FloatArray, weights: FloatArray, prior: FloatArray | None = None
) -> FloatArray:
    """``[J_theta J_start r]`` with weights, (m, n + 1), and a prior's rows, (k, n + 1), below."""
    below = 0 if prior is None else len(prior)
    whole = np.empty((len(residual) + below, jacobian.shape[1] + 1))
    rows = whole[: len(residual)]
    np.multiply(jacobian, weights[:, None], out=rows[:, :-1])
    np.multiply(residual, weights, out=rows[:, -1])
    if not np.isfinite(rows.sum()):
        # A perturbation that diverges says nothing about the slope.
        rows[~np.isfinite(rows)] = 0.0
    if prior is not None:
        whole[len(residual) :] = prior
    return whole


def sums_by_window(
    found: RunJacobian, weights: FloatArray, windows: Sequence[slice], signals: IndexArray
) -> list[FloatArray]:
    """``rows.T @ rows`` with rows as of :func:`weighted_rows`, (n + 1, n + 1) for every window.

    Args:
      found: Residuals and Jacobian of a batch, of m samples.
      weights: Shape (m,).
      windows: The samples of each.
      signals: Which signal each sample compares, (m,).
    """
    if found.jacobian.size < MANY * len(windows):
        rows = weighted_rows(found.jacobian, found.residual, weights)
        return [rows[own].T @ rows[own] for own in windows]
    return [
        _sums(found.jacobian[own], found.residual[own], weights[own], signals[own])
        for own in windows
    ]


def _sums(
    jacobian: FloatArray, residual: FloatArray, weights: FloatArray, signals: IndexArray
) -> FloatArray:
    """The same of a long window, without the columns that are zero in all rows of a signal.

    A leg's parameters do not move the joints of the others.
    """
    n = jacobian.shape[1]
    total = np.zeros((n + 1, n + 1))
    for signal in np.unique(signals):
        own = np.flatnonzero(signals == signal)
        rows = jacobian[own]
        used = np.flatnonzero(np.einsum("ij,ij->j", rows, rows))
        rows = weighted_rows(rows[:, used], residual[own], weights[own])
        used = np.append(used, n)
        total[np.ix_(used, used)] += rows.T @ rows
    return total
