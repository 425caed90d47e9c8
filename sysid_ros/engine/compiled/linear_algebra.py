# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small dense systems with many right-hand sides, as compiled loops over contiguous rows."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled.decorators import compiled, compiled_apart


@compiled
def factorize(matrix: FloatArray, factor: FloatArray) -> bool:
    """Cholesky factor (lower triangle) of a symmetric matrix; whether it is positive definite."""
    n = matrix.shape[0]
    for j in range(n):
        total = matrix[j, j]
        for k in range(j):
            total -= factor[j, k] * factor[j, k]
        if not total > 0.0:
            return False
        factor[j, j] = np.sqrt(total)
        for i in range(j + 1, n):
            total = matrix[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = total / factor[j, j]
    return True


@compiled
def solve_rows(factor: FloatArray, x: FloatArray) -> None:
    """Solve in place for all columns of ``x``, shape (n, columns)."""
    n, columns = x.shape
    for i in range(n):
        for k in range(i):
            add_scaled(x, i, -factor[i, k], x, k, columns)
        scale = 1.0 / factor[i, i]
        for c in range(columns):
            x[i, c] *= scale
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            add_scaled(x, i, -factor[k, i], x, k, columns)
        scale = 1.0 / factor[i, i]
        for c in range(columns):
            x[i, c] *= scale


@compiled
def solve_vector(factor: FloatArray, x: FloatArray) -> None:
    """Solve in place for one right-hand side, shape (n,)."""
    n = x.size
    for i in range(n):
        for k in range(i):
            x[i] -= factor[i, k] * x[k]
        x[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= factor[k, i] * x[k]
        x[i] /= factor[i, i]


@compiled_apart
def solve_with(matrix: FloatArray, x: FloatArray) -> bool:
    """Solve in place for all columns of ``x`` with a matrix near a positive definite one.

    Gauss's elimination without pivoting, as MuJoCo does it, overwrites the matrix.

    Returns:
      Whether that can be.
    """
    n, columns = x.shape
    for k in range(n):
        if not abs(matrix[k, k]) > 0.0:
            return False
        for i in range(k + 1, n):
            share = matrix[i, k] / matrix[k, k]
            if share != 0.0:
                for j in range(k + 1, n):
                    matrix[i, j] -= share * matrix[k, j]
                add_scaled(x, i, -share, x, k, columns)
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            add_scaled(x, k, -matrix[k, j], x, j, columns)
        scale = 1.0 / matrix[k, k]
        for c in range(columns):
            x[k, c] *= scale
    return True


@compiled
def add_scaled(
    target: FloatArray, row: int, scale: float, source: FloatArray, other: int, columns: int
) -> None:
    """``target[row, :columns] += scale * source[other, :columns]``."""
    if scale != 0.0:
        for c in range(columns):
            target[row, c] += scale * source[other, c]


@compiled
def clear_matrix(target: FloatArray) -> None:
    """``target[:] = 0.0``, as plain loops, which take half as long for small ones."""
    for i in range(target.shape[0]):
        for j in range(target.shape[1]):
            target[i, j] = 0.0


@compiled
def copy_vector(source: FloatArray, target: FloatArray) -> None:
    """``target[:] = source``, without the buffer that NumPy's rules for overlap need."""
    for i in range(source.size):
        target[i] = source[i]


@compiled
def copy_matrix(source: FloatArray, target: FloatArray) -> None:
    """The same for two axes."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@compiled
def interpolate(
    derivatives: FloatArray,
    rows: IntArray,
    weights: FloatArray,
    slots: IntArray,
    samples: IntArray,
    columns: IntArray,
    total: FloatArray,
    out: FloatArray,
) -> None:
    """Combine a few rows of a rollout for every sample and add them to its derivatives.

    Args:
      derivatives: Of the readings, (steps, n_reading, n).
      rows: The rows around each sample, (m, k).
      weights: Their weights, (m, k).
      slots: The reading of each sample, (m,).
      samples: Where each belongs in ``out``, (m,).
      columns: Where each direction does, (n,).
      total: Scratch, (n,).
      out: Added to.
    """
    for i in range(slots.size):
        total[:] = 0.0
        for k in range(rows.shape[1]):
            weight = weights[i, k]
            if weight != 0.0:
                row = derivatives[rows[i, k], slots[i]]
                for c in range(total.size):
                    total[c] += weight * row[c]
        target = out[samples[i]]
        for c in range(total.size):
            target[columns[c]] += total[c]
