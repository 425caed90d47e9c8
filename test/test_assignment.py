# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Columns are assigned to rows so that they cost least, by a search only where rows compete."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from sysid_ros.assignment import assigned


def test_what_is_assigned_costs_least() -> None:
    random = np.random.default_rng(0)
    for size in range(1, 8):
        costs = random.random((size, size))
        rows, columns = scipy.optimize.linear_sum_assignment(costs)
        np.testing.assert_array_equal(rows, np.arange(size))
        np.testing.assert_array_equal(assigned(costs), columns)


def test_nothing_is_searched_where_each_row_has_a_column_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(scipy.optimize, "linear_sum_assignment")
    costs = np.array([[0.5, 0.1, 0.9], [0.0, 0.1, 0.2], [0.4, 0.3, 0.2]])
    assert assigned(costs).tolist() == [1, 0, 2]
