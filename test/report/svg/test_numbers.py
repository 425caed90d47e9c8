# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numbers as people write them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.report.svg.numbers import number, percent_change, plural, to_error, unit


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0218, "0.0218"), (1.23456789, "1.235"), (123456.0, "123456"), (1.53e-6, "1.53e-06"),
     (0.0, "0"), (-2.5, "-2.5"), (None, "—"), (math.nan, "—"), (math.inf, "∞")],
)  # fmt: skip
def test_number(value: float | None, text: str) -> None:
    assert number(value) == text


def test_zeros_are_kept_on_request() -> None:
    assert number(0.017, zeros=True) == "0.01700"
    assert number(100.0, 3, zeros=True) == "100"


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [(0.00213, 2e-5, "0.002130"), (0.55, 0.08, "0.550"), (1234.5, 30.0, "1234"),
     (1234.5, 3000.0, "1.2e+03"), (0.0, 0.01, "0.000"), (3.21e-7, 4e-9, "3.210e-07"),
     (5e-18, 0.027, "0"),
     (0.5, None, "0.5"), (0.5, 0.0, "0.5"), (0.5, math.nan, "0.5"), (math.nan, 0.1, "—")],
)  # fmt: skip
def test_digits_follow_the_error(value: float, error: float | None, text: str) -> None:
    assert to_error(value, error) == text


@given(st.floats(-1e12, 1e12), st.floats(1e-12, 1e12))
def test_what_is_left_out_is_small_against_the_error(value: float, error: float) -> None:
    shown = float(to_error(value, error))
    assert abs(shown - value) <= 0.06 * max(error, 1e-15 * abs(value)) or error > abs(value)


def test_percent_change() -> None:
    assert percent_change(0.2, 0.1) == "\N{MINUS SIGN}50 %"
    assert percent_change(0.1, 0.102) == "+2.0 %"
    assert percent_change(1.0, 0.003) == "\N{MINUS SIGN}99.7 %"
    assert percent_change(1.0, 1e-4) == "\N{MINUS SIGN}99.9 %"
    assert percent_change(0.001, 1.0) == "1e+03 times"
    assert percent_change(0.0, 1.0) == percent_change(math.nan, 1.0) == "—"


def test_words() -> None:
    assert plural(1, "gap") == "1 gap"
    assert plural(2000, "gap") == "2,000 gaps"
    assert unit("kg m^2") == "kg m²"
