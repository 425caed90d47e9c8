# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles agree with SciPy's, which would take longer to import than all of them to compute."""

from __future__ import annotations

import math

import pytest
import scipy

from sysid_ros.engine.uncertainty import normal_quantile, student_quantile

DOFS = (0.3, 1.0, 1.5, 2.0, 4.4, 10.0, 31.7, 299.0, 9999.0, 1e4, 12345.6, 1e6, math.inf)


@pytest.mark.parametrize("dof", DOFS)
@pytest.mark.parametrize("probability", [0.6, 0.9, 0.965, 0.975, 0.9999, 0.025])
def test_students_quantile_is_scipys(dof: float, probability: float) -> None:
    expected = float(scipy.special.stdtrit(dof, probability))
    assert student_quantile(dof, probability) == pytest.approx(expected, rel=1e-10)


def test_the_median_is_zero_and_without_freedom_nothing_is_known() -> None:
    assert student_quantile(3.0, 0.5) == 0.0
    assert math.isnan(student_quantile(0.0, 0.975))


def test_normal_quantile_is_scipys() -> None:
    for probability in (1e-6, 0.025, 0.5, 0.8, 0.999):
        expected = float(scipy.special.ndtri(probability))
        assert normal_quantile(probability) == pytest.approx(expected, rel=1e-9, abs=1e-15)
