# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A search in pieces starts from the best of some points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sysid_ros.engine.least_squares import Linearization, Point, SolverSettings
from sysid_ros.engine.moving_horizon.horizon_search import HorizonSearch


class Quartic:
    """A cost with minima at -1 and 2, the latter the lower."""

    lower, upper, scale = np.full(1, -9.0), np.full(1, 9.0), np.ones(1)

    def __init__(self) -> None:
        self.evaluated: list[float] = []

    def cost(self, point: Point) -> float:
        x = float(point.theta[0])
        self.evaluated.append(x)
        return 0.5 * (((x + 1.0) * (x - 2.0)) ** 2 + (0.1 * (x - 2.0)) ** 2)

    def linearize(self, point: Point) -> Linearization:
        x = float(point.theta[0])
        residual = np.array([(x + 1.0) * (x - 2.0), 0.1 * (x - 2.0)])
        rows = np.column_stack([[2.0 * x - 1.0, 0.1], residual])
        return Linearization(0.5 * float(residual @ residual), (), rows.T @ rows)


@pytest.mark.parametrize("others", [[], [2.3]])
def test_it_starts_from_the_best_point(others: list[float]):
    problem: Any = Quartic()
    points = [Point(np.array([x]), ()) for x in [-1.5, *others]]
    search = HorizonSearch(problem, points, SolverSettings(), [])
    pieces = 0
    while (found := search.go_on(0.0)) is None:
        pieces += 1
        assert len(problem.evaluated) <= pieces + 1
    assert found.point.theta[0] == pytest.approx(2.0 if others else -1.0, abs=0.02)
    whole = HorizonSearch(problem, points, SolverSettings(), []).go_on(math.inf)
    assert whole is not None
    assert whole.point.theta == pytest.approx(found.point.theta)
