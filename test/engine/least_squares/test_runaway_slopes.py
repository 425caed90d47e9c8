# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Slopes of simulations that run away end no search: what rounding leaves of them is unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares.damped_steps import Damping
from sysid_ros.engine.least_squares.gauss_newton import Linearization, Point, eliminate_starts
from sysid_ros.engine.least_squares.slope_by_chance import gain_by_chance


@dataclass(frozen=True)
class Box:
    lower: FloatArray
    upper: FloatArray
    scale: FloatArray


def test_starts_whose_priors_drown_are_eliminated() -> None:
    rows = 1e12 * np.array([[1.0, 3.0, 3.0, 2.0]])  # theta, two starts alike, residual
    gram = rows.T @ rows + np.diag([0.0, 1.0, 1.0, 0.0])  # the priors, of which nothing is left
    assert np.linalg.matrix_rank(gram[1:3, 1:3]) == 1
    found = eliminate_starts(Linearization(0.0, (gram,), np.zeros((2, 2))))
    assert abs(found.hessian[0, 0]) < 1e-6 * gram[0, 0]  # the starts explain all
    assert abs(found.gradient[0]) < 1e-6 * gram[0, -1]


def test_a_curvature_that_rounds_below_zero_brings_nothing_by_chance() -> None:
    gram = np.array([[1.0, 1e200, 1.0], [1e200, -1e-3, 1.0], [1.0, 1.0, 1.0]])
    here = Linearization(1.0, (gram,), np.zeros((3, 3)))
    box = Box(np.full(2, -np.inf), np.full(2, np.inf), np.ones(2))
    assert gain_by_chance(box, Point(np.zeros(2)), here) == 0.5  # of the one that is known


def test_a_point_from_which_the_simulation_flies_apart_raises_no_curvature() -> None:
    damping = Damping(1e-3, 1e-12, np.ones(2))
    damping.see(Linearization(np.inf, (np.eye(3),), np.zeros((3, 3))), np.array([0.0, 1.0]))
    assert damping.scale == pytest.approx(np.ones(2))
