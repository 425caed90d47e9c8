# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of Student's distribution are those of tables, from one degree of freedom to many."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import scipy

from sysid_ros.engine.uncertainty import student_probability, student_quantile


def test_students_quantiles_are_those_of_tables() -> None:
    assert student_quantile(1.0, 0.975) == pytest.approx(12.7062047, rel=1e-8)
    assert student_quantile(10.0, 0.975) == pytest.approx(2.2281389, rel=1e-7)
    assert student_quantile(math.inf, 0.975) == pytest.approx(1.9599640, rel=1e-7)


def test_the_median_is_zero_and_without_freedom_nothing_is_known() -> None:
    assert student_quantile(3.0, 0.5) == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(student_quantile(0.0, 0.975))


@pytest.mark.parametrize("dof", [0.3, 1.0, 2.5, 7.0, 120.0, 2999.0, 3001.0, 1e6, math.inf])
def test_quantiles_and_probabilities_are_scipy_s(dof: float) -> None:
    for probability in (1e-12, 0.001, 0.3, 0.6, 0.965, 0.975, 0.9995, 1.0 - 1e-9):
        expected = float(scipy.special.stdtrit(dof, probability))
        assert student_quantile(dof, probability) == pytest.approx(expected, rel=1e-9)
    for value in (-1e5, -3.0, -0.01, 0.0, 0.5, 2.0, 40.0):
        expected = float(scipy.special.stdtr(dof, value))
        assert student_probability(dof, value) == pytest.approx(expected, rel=1e-8)


def test_ends_of_the_distribution() -> None:
    assert student_quantile(3.0, 0.0) == -math.inf
    assert student_quantile(3.0, 1.0) == math.inf
    assert student_probability(3.0, -math.inf) == 0.0
    assert student_probability(3.0, 1e200) == 1.0
    assert math.isnan(student_quantile(math.nan, 0.9))


def test_scipy_s_functions_are_not_loaded() -> None:
    """That takes longer than all quantiles of a fit."""
    program = """import sys
from sysid_ros.engine.uncertainty import student_quantile
student_quantile(5.0, 0.975)
print("scipy.special" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False"
