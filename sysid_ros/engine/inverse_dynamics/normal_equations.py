# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Solving normal equations, also where a direction is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation import single_blas_thread

_OPEN = 1e-14  # of the largest eigenvalue; a direction with less is not moved in


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra in one thread: the matrices are so small that others only wait."""
    import scipy.linalg  # noqa: F401  only what is loaded can be limited

    with single_blas_thread():
        yield


def solve_symmetric(matrix: FloatArray, side: FloatArray) -> FloatArray:
    """Return the solution (k,) or (k, n) of symmetric equations (k, k) of like sizes."""
    try:
        return np.asarray(scipy.linalg.cho_solve(scipy.linalg.cho_factor(matrix), side))
    except np.linalg.LinAlgError:  # something has no effect on these data
        return np.asarray(np.linalg.lstsq(matrix, side, rcond=_OPEN)[0])


def least_squares(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """The solution (k,) or (n, k) of normal equations (k, k), whatever the parameters' units."""
    scale = inverse_root(np.diag(hessian))
    inner = hessian * np.outer(scale, scale)
    return np.asarray(scale * solve_symmetric(inner, (scale * gradient).T).T)


def inverse_root(squares: FloatArray) -> FloatArray:
    """The inverse of the root, zero for what is not positive."""
    usable = squares > 0.0
    return np.where(usable, 1.0 / np.sqrt(np.where(usable, squares, 1.0)), 0.0)
