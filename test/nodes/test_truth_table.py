# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The comparison with the truth that decides the demo's exit status."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pytest
from outcomes import fit_result
from rich.console import Console

from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.nodes.identify.truth_table import all_close, compare, truth_table


def fit(value: float, error: float | None, *flags: str) -> FitResult:
    estimate = ParameterEstimate(
        "mass", "kg", 1.0, value, 0.0, 10.0, standard_error=error, dof=50.0, flags=flags
    )
    return dataclasses.replace(fit_result(np.random.default_rng(0)), parameters=(estimate,))


@pytest.mark.parametrize(
    ("value", "error", "good"),
    [
        (2.09, 1e-6, True),  # within 5 %
        (1.91, None, True),
        (2.11, 1e-6, False),  # beyond, and sure of it
        (2.30, 0.2, True),  # beyond, but within the 99 % interval
        (2.30, None, False),
    ],
)
def test_parameter_is_judged_by_tolerance_or_interval(value, error, good):
    assert all_close(compare(fit(value, error), {"mass": 2.0})) is good


def test_parameter_that_the_data_leaves_open_is_not_judged_but_one_must_be():
    rows = compare(fit(9.0, None, "unidentifiable"), {"mass": 2.0})
    assert not rows[0].identifiable
    assert not all_close(rows)


def test_parameter_that_was_not_identified_fails():
    assert not all_close(compare(fit(2.0, 0.1), {"mass": 2.0, "damping": 1.0}))


def test_table_shows_truth_estimate_and_mark():
    stream = io.StringIO()
    rows = compare(fit(2.3, 1e-3), {"mass": 2.0, "damping": 1.0})
    Console(file=stream, width=200).print(truth_table(rows))
    text = stream.getvalue()
    assert "2.3" in text and "+15.00%" in text and "off" in text and "missing" in text
