# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of numbers in the ``user`` data of a model's elements, found by the two marks before them.

Whatever else an element's ``user`` holds, in front of a row or behind it, stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray

Mark = tuple[float, float]


def user_data(users: Any) -> FloatArray:
    """An element's ``user`` data as numbers, (n,).

    To the end of a vector of MuJoCo's, where it raises an exception, NumPy would take a hundred
    times as long.

    Args:
      users: Of an element of a spec, or a row of a model's table.
    """
    return np.fromiter(users, np.float64, len(users))


def row_start(users: Any, mark: Mark, width: int) -> int | None:
    """Find where a row of this mark and width begins in ``user`` data, ``None`` where none does."""
    values = user_data(users)
    found = np.flatnonzero((values[:-1] == mark[0]) & (values[1:] == mark[1]))
    return int(found[0]) if found.size and found[0] + width <= values.size else None


def with_row(users: Any, mark: Mark, values: Sequence[float]) -> FloatArray:
    """Return the ``user`` data with a row's values: in its place, or behind all else."""
    row = np.array([*mark, *values], dtype=np.float64)
    written = user_data(users)
    start = row_start(written, mark, row.size)
    if start is None:
        return np.concatenate([written, row])
    written[start : start + row.size] = row
    return written
