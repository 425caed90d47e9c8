# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Least squares whose unknowns are limited, from inner products."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import bounded_quadratic_step

_RIDGE = 1e-10  # of the columns' power: columns that repeat each other have no factor


def bounded_fit(gram: FloatArray, target: FloatArray, limit: float = np.inf) -> FloatArray:
    """Fit unknowns between zero and a limit; MuJoCo does it without SciPy's optimizers.

    Args:
      gram: Inner products of the columns, (p, p).
      target: Those of the columns with what is fitted, (p,).
      limit: Of every unknown.

    Returns:
      (p,).
    """
    ridge = _RIDGE * max(float(np.trace(gram)), 1e-300)
    p = len(target)
    hessian = gram + ridge * np.eye(p)
    return bounded_quadratic_step(hessian, -target, np.zeros(p), np.full(p, limit))


def left_by_any(columns: FloatArray, target: FloatArray) -> float:
    """Share of a signal's variation that is left of it, whatever each column adds or takes away.

    Args:
      columns: The most that each may add, (n, p).
      target: The signal, (n,).
    """
    both = np.column_stack([columns, -columns])
    both, moved = both - both.mean(axis=0), target - target.mean()
    found = bounded_fit(both.T @ both, both.T @ moved, 1.0)
    return float(np.std(moved - both @ found) / max(float(np.std(moved)), 1e-12))
