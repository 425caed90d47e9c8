# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Quantiles of Student's distribution are those of tables, from one degree of freedom to many."""

from __future__ import annotations

import math

import pytest

from sysid_ros.engine.uncertainty import student_quantile


def test_students_quantiles_are_those_of_tables() -> None:
    assert student_quantile(1.0, 0.975) == pytest.approx(12.7062047, rel=1e-8)
    assert student_quantile(10.0, 0.975) == pytest.approx(2.2281389, rel=1e-7)
    assert student_quantile(math.inf, 0.975) == pytest.approx(1.9599640, rel=1e-7)


def test_the_median_is_zero_and_without_freedom_nothing_is_known() -> None:
    assert student_quantile(3.0, 0.5) == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(student_quantile(0.0, 0.975))
