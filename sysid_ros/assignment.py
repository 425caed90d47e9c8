# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The assignment of columns to rows that costs least."""

from __future__ import annotations

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray


def assigned(costs: FloatArray) -> IndexArray:
    """The column of each row, no two the same, so that they cost least together, (n,).

    Where each row has a cheapest column of its own, that is all; to import ``scipy.optimize`` for
    more takes a third of a second.

    Args:
      costs: Of each column for each row, finite, (n, n).
    """
    cheapest: IndexArray = np.argmin(costs, axis=1)
    if len(np.unique(cheapest)) == len(costs):
        return np.asarray(cheapest)
    return np.asarray(scipy.optimize.linear_sum_assignment(costs)[1])
