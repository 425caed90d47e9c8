# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of Student's distribution are those of tables, from one degree of freedom to many."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest
import scipy

from sysid_ros.engine.uncertainty import student_quantile


def test_students_quantiles_are_those_of_tables() -> None:
    assert student_quantile(1.0, 0.975) == pytest.approx(12.7062047, rel=1e-8)
    assert student_quantile(10.0, 0.975) == pytest.approx(2.2281389, rel=1e-7)
    assert student_quantile(math.inf, 0.975) == pytest.approx(1.9599640, rel=1e-7)


def test_the_median_is_zero_and_without_freedom_nothing_is_known() -> None:
    assert student_quantile(3.0, 0.5) == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(student_quantile(0.0, 0.975))


@pytest.mark.parametrize("dof", [0.7, 1.0, 2.0, 4.5, 9.0, 63.0, 999.0, 1001.0, 1e6])
@pytest.mark.parametrize("probability", [0.3, 0.6, 0.975, 0.9825, 0.9999])
def test_quantiles_are_those_of_scipy(dof: float, probability: float) -> None:
    expected = scipy.special.stdtrit(dof, probability)
    assert student_quantile(dof, probability) == pytest.approx(expected, rel=1e-10)


def test_estimates_with_their_intervals_do_without_scipy_special() -> None:
    told = (
        "import sys; from sysid_ros.engine.uncertainty import student_quantile as quantile; "
        "quantile(7.0, 0.975); print('scipy.special' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
