# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Least squares whose unknowns are not negative."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray

_TOLERANCE = 10.0 * float(np.finfo(float).eps)
_ROUNDS = 30  # per unknown; Lawson and Hanson's method ends after one or two


def non_negative_least_squares(matrix: FloatArray, target: FloatArray) -> FloatArray:
    """Minimize ``|A x - b|`` over ``x >= 0`` (Lawson & Hanson 1974, chapter 23).

    Args:
      matrix: (m, p).
      target: (m,).

    Returns:
      (p,). Where rounding keeps the method from ending, the best point so far.
    """
    p = matrix.shape[1]
    gram, right = matrix.T @ matrix, matrix.T @ target
    tolerance = _TOLERANCE * max(matrix.shape) * float(np.abs(gram).sum(axis=0).max(initial=0.0))
    x, used = np.zeros(p), np.zeros(p, dtype=bool)
    slope = right.copy()
    for _ in range(_ROUNDS * p):
        blocked = used | (slope <= tolerance)
        if blocked.all():
            break
        used[np.argmax(np.where(blocked, -np.inf, slope))] = True
        while True:
            tried = np.zeros(p)
            tried[used] = np.linalg.lstsq(matrix[:, used], target, rcond=None)[0]
            if tried[used].min(initial=np.inf) > 0.0:
                break
            falls = used & (tried <= 0.0)
            room = x[falls] / np.maximum(x[falls] - tried[falls], 1e-300)
            x = x + float(room.min()) * (tried - x)
            used &= x > _TOLERANCE * float(np.abs(x).max(initial=0.0))
            x[~used] = 0.0
            if not used.any():
                break
        x = np.where(used, tried, 0.0)
        slope = right - gram @ x
    return x
