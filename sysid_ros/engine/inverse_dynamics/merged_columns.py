# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of rows with one column in the place of all whose parameters are not estimated.

With theta = M x + f, only columns in which M is not zero are needed one by one; the torque of all
others is a single column, R f, whose factor is 1. Sums are a fraction as large, and say the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.regressor import Columns

_REST = "the rest"


@dataclass(frozen=True)
class MergedColumns:
    """One condition's columns, less those that are known.

    Attributes:
      whole: The estimated parameters with all columns.
      free: The same with merged columns.
      used: Columns that are kept, (u,).
      matrix: From merged columns to all of them, (p, u + 1).
    """

    whole: FreeParameters
    free: FreeParameters
    used: IndexArray
    matrix: FloatArray

    @classmethod
    def of(cls, free: FreeParameters) -> MergedColumns:
        """Merge the columns of parameters of a single condition."""
        (condition,) = free.conditions
        whole, fixed = free.matrix[condition], free.fixed[condition]
        used = np.flatnonzero(np.any(whole != 0.0, axis=1))
        size = len(used)
        matrix = np.zeros((len(whole), size + 1))
        matrix[used, range(size)] = 1.0
        matrix[:, size] = fixed
        matrix[used, size] = 0.0
        merged = replace(
            free,
            columns=_columns(free.columns, used),
            matrix={condition: np.vstack([whole[used], np.zeros(whole.shape[1])])},
            fixed={condition: np.append(fixed[used], 1.0)},
        )
        return cls(free, merged, used, matrix)

    def theta(self, whole: FloatArray) -> FloatArray:
        """Factors of merged columns, (u + 1,), of all parameters (p,)."""
        return np.append(whole[self.used], 1.0)


def _columns(whole: Columns, used: IndexArray) -> Columns:
    kinds = (*(whole.kinds[c] for c in used), _REST)
    owners = (*(whole.owners[c] for c in used), 0)
    return Columns(
        (*(whole.names[c] for c in used), _REST),
        kinds,
        owners,
        np.append(whole.nominal[used], 1.0),
        {pair: i for i, pair in enumerate(zip(owners, kinds, strict=True))},
    )
