# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows and columns paired at the least cost."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray


def least_assignment(cost: FloatArray) -> tuple[IndexArray, IndexArray]:
    """Give every row a column of its own, or every column a row, at the least sum of costs.

    Shortest augmenting paths (Jonker & Volgenant 1987; Crouse 2016, "On implementing 2D rectangular
    assignment algorithms").

    Args:
      cost: Finite, (n, m).

    Returns:
      The rows, increasing, and the column of each, (min(n, m),) each.
    """
    if cost.shape[0] > cost.shape[1]:
        columns, rows = least_assignment(cost.T)
        order = np.argsort(rows)
        return rows[order], columns[order]
    n, m = cost.shape
    of_row, of_column = np.full(n, -1), np.full(m, -1)
    row_price, column_price = np.zeros(n), np.zeros(m)
    for start in range(n):
        shortest, before = np.full(m, np.inf), np.full(m, -1)
        seen_rows, seen = np.zeros(n, dtype=bool), np.zeros(m, dtype=bool)
        row, length, column = start, 0.0, -1
        while column < 0:
            seen_rows[row] = True
            ahead = length + cost[row] - row_price[row] - column_price
            nearer = ~seen & (ahead < shortest)
            shortest[nearer], before[nearer] = ahead[nearer], row
            open_ = np.flatnonzero(~seen)
            least = shortest[open_].min()
            nearest = open_[shortest[open_] == least]
            free = nearest[of_column[nearest] < 0]
            found = int(free[0]) if free.size else int(nearest[0])
            length, seen[found] = float(least), True
            if of_column[found] < 0:
                column = found
            else:
                row = int(of_column[found])
        others = np.flatnonzero(seen_rows & (np.arange(n) != start))
        row_price[start] += length
        row_price[others] += length - shortest[of_row[others]]
        column_price[seen] -= length - shortest[seen]
        while True:
            row = int(before[column])
            of_column[column] = row
            of_row[row], column = column, int(of_row[row])
            if row == start:
                break
    return np.arange(n), of_row
