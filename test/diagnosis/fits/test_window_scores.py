# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits of windows go on from where others ended, but for what made up for a wrong mass."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from sysid_ros.diagnosis.fits import WindowScores
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.problem import WindowedProblem


class _Bounded:
    """A problem's bounds and start: a delay's and a friction's."""

    upper = np.array([0.3, 5.0])

    def initial_point(self) -> Point:
        return Point(np.array([0.01, 0.5]), ())


@pytest.mark.parametrize(("ended", "begins"), [(True, 0.01), (False, 0.3)])
def test_a_delay_that_ran_to_its_end_beside_a_wrong_mass_begins_anew(
    ended: bool, begins: float
) -> None:
    scores = WindowScores(
        (), frozenset(), np.zeros(0), np.zeros(0), (), {}, *np.zeros((2, 0, 1, 1)),
        Point(np.array([0.3, 0.0]), ()), {}, False, ended, (), [],
    )  # fmt: skip
    resumed = scores.resumed(cast("WindowedProblem", _Bounded()))
    assert resumed.theta == pytest.approx([begins, 0.0])
