# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Types of arrays: their names, and numbers as the compiled functions take them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


def floats(values: npt.ArrayLike) -> FloatArray:
    """Contiguous numbers of double precision."""
    return np.ascontiguousarray(values, dtype=np.float64)


def integers(values: npt.ArrayLike) -> IntArray:
    """Contiguous integers of 64 bits."""
    return np.ascontiguousarray(values, dtype=np.int64)


def zeros(*shapes: int | tuple[int, ...]) -> tuple[FloatArray, ...]:
    """An array of zeros of each shape: room that compiled functions write into."""
    return tuple(np.zeros(shape) for shape in shapes)
