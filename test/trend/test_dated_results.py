# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Dates of results."""

from __future__ import annotations

from dataclasses import replace

import pytest
from robot_days import FIRST, made

from sysid_ros.errors import DataError
from sysid_ros.trend import date_text, dated_results

ONE, LATER = made([1.0], 0, 0.1), made([1.0], 3, 0.1)


def test_order_is_that_of_recording() -> None:
    results = dated_results({"a": LATER, "b": ONE})
    assert [one.label for one in results] == ["b", "a"]
    assert date_text(results[0].time) == f"{FIRST:%Y-%m-%d}"
    assert results[1].time - results[0].time == pytest.approx(3.0)


def test_the_name_of_a_folder_tells_the_date_where_nothing_else_does() -> None:
    undated = replace(ONE, provenance={})
    results = dated_results({"2026-03-01_12-00-00_arm": undated, "b": ONE})
    assert date_text(results[0].time) == "2026-03-01"
    with pytest.raises(DataError, match="monday has no date"):
        dated_results({"monday": undated, "b": ONE})
    with pytest.raises(DataError, match="2026-13-01"):
        dated_results({"2026-13-01_12-00-00_arm": undated, "b": ONE})


def test_one_result_is_no_trend() -> None:
    with pytest.raises(DataError, match="1 is given: a"):
        dated_results({"a": ONE})


def test_conditions() -> None:
    assert [one.covariate for one in dated_results({"a": ONE, "b": LATER}, "temperature")] == [
        20,
        20,
    ]
    with pytest.raises(DataError, match="'load'"):
        dated_results({"a": ONE, "b": LATER}, "load")
