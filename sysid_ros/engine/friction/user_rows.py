# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of numbers in the ``user`` data of a model's elements, found by the two marks before them.

Whatever else an element's ``user`` holds, in front of a row or behind it, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray

Mark = tuple[float, float]


def row_start(users: npt.ArrayLike, mark: Mark, width: int) -> int | None:
    """Find the beginning of a row, ``None`` where there is none.

    Args:
      users: The element's ``user`` data.
      mark: The row's first two numbers.
      width: Of the row, marks included.
    """
    values = np.asarray(users, dtype=np.float64)
    found = np.flatnonzero((values[:-1] == mark[0]) & (values[1:] == mark[1]))
    return int(found[0]) if found.size and found[0] + width <= values.size else None


def with_row(users: npt.ArrayLike, mark: Mark, values: Sequence[float]) -> FloatArray:
    """Return the ``user`` data with a row's values: in its place, or behind all else."""
    row = np.array([*mark, *values], dtype=np.float64)
    written: FloatArray = np.array(users, dtype=np.float64)
    start = row_start(written, mark, row.size)
    if start is None:
        return np.concatenate([written, row])
    written[start : start + row.size] = row
    return written
