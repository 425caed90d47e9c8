# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The directions of the parameters that a Jacobian of limited accuracy leaves open.

Columns are scaled to unit length, so that units do not matter. A relative error of each column
moves singular values by no more than about as much, so that those below a margin above it cannot be
told from zero. They are found from the Jacobian itself where it is at hand: J^T J has lost what is
below the root of the rounding error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray

# Relative errors of a Jacobian's columns: of forward differences whose step is the root of the
# rounding error, and of those of windows, whose larger step is safe against the constraint solver's
# early stops. Exact derivatives are no better where tables of the model are differences.
DIFFERENCES, WINDOW_DIFFERENCES = 1e-7, 3e-6
MARGIN = 10.0


@dataclass(frozen=True)
class Directions:
    """The singular vectors of a Jacobian with columns of unit length."""

    length: FloatArray  # of the columns, one where a column is zero, (p,)
    sizes: FloatArray  # singular values, descending, (p,)
    # orthonormal directions in parameters times ``length``, one per row, (p, p)
    vectors: FloatArray
    open: BoolArray  # which of them the Jacobian cannot tell from none, (p,)


def directions(jacobian: FloatArray, error: float) -> Directions:
    """Return the directions of a Jacobian.

    Args:
      jacobian: Shape (m, p).
      error: Relative error of its columns, such as :data:`DIFFERENCES`.
    """
    length = _positive(np.linalg.norm(jacobian, axis=0))
    triangle = np.linalg.qr(jacobian / length, mode="r")
    _, found, vectors = np.linalg.svd(triangle)
    sizes = np.zeros(len(length))
    sizes[: len(found)] = found
    return Directions(length, sizes, vectors, sizes <= MARGIN * error)


def directions_of_gram(gram: FloatArray, error: float) -> Directions:
    """Return the same where only ``J^T J`` is known, (p, p).

    Args:
      gram: Symmetric, positive semidefinite.
      error: Relative error of the Jacobian's columns, well above the root of the rounding error.
    """
    length = _positive(np.sqrt(np.diag(gram)))
    squares, vectors = np.linalg.eigh(gram / np.outer(length, length))
    sizes = np.sqrt(np.maximum(squares[::-1], 0.0))
    return Directions(length, sizes, vectors.T[::-1], sizes <= MARGIN * error)


def _positive(length: FloatArray) -> FloatArray:
    return np.where(length > 0.0, length, 1.0)
