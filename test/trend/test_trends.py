# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes of a robot's parameters are found, and none is where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from robot_days import made, robot

from sysid_ros.trend import Level, dated_results, trends

STATIONARY: dict[str, dict[str, float]] = {
    "errors explain the scatter": {},
    "errors are too small": {"error": 0.005},
    "one parameter": {"parameters": 1, "error": 0.005},
    "several recordings a day": {"days": 6, "recordings": 3, "day_effect": 0.02},
    "few days": {"days": 2, "recordings": 3},
}


def alarms(seed: int, count: int, **options: float) -> int:
    rng = np.random.default_rng(seed)
    fleets = (trends(robot(rng, **options)) for _ in range(count))  # type: ignore[arg-type]
    return sum(any(one.level is not Level.OK for one in found) for found in fleets)


def found_changes(seed: int, count: int, **options: float) -> int:
    rng = np.random.default_rng(seed)
    found = [trends(robot(rng, change=0.07, **options))[0] for _ in range(count)]  # type: ignore[arg-type]
    return sum(one.level is Level.WARN for one in found)


def test_stationary_robots_give_no_alarm() -> None:
    assert alarms(1, 25) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", STATIONARY)
def test_at_most_one_percent_of_stationary_robots_give_an_alarm(kind: str) -> None:
    # 1 % of 500 and two standard deviations of the count.
    assert alarms(2, 500, **STATIONARY[kind]) <= 9


def test_a_change_of_seven_percent_is_found_in_ten_recordings() -> None:
    assert found_changes(3, 20, parameters=7) >= 13


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.02, 0.005])
def test_most_changes_are_found(error: float) -> None:
    assert found_changes(4, 150, parameters=7, error=error) >= 105


def test_the_change_is_described() -> None:
    results = robot(np.random.default_rng(12), change=0.2, scatter=0.01, error=0.01)
    changed, *others = trends(results)
    (change,) = changed.changes
    assert change.last_before == results[4].time
    assert change.first_after == results[5].time
    low, high = change.effect.interval()
    assert low < 0.2 < high
    assert high - low < 0.08
    assert "2026-03-06" in changed.sentence
    assert "2026-03-07" in changed.sentence
    assert changed.percent == pytest.approx(20.0, abs=4.0)
    assert {one.level for one in others} == {Level.OK}


def test_two_changes() -> None:
    rng = np.random.default_rng(6)
    levels = [1.0] * 6 + [1.3] * 6 + [1.2] * 6
    results = {
        str(day): made([level, 1.0] + 0.01 * rng.standard_normal(2), day, 0.01)
        for day, level in enumerate(levels)
    }
    changed = trends(dated_results(results))[0]
    sizes = [change.effect.size for change in changed.changes]
    assert sizes == pytest.approx([0.3, -0.1], abs=0.03)
    assert changed.percent == pytest.approx(30.0, abs=3.0)  # the first and larger


def test_drift_is_told_from_a_step() -> None:
    drifting = trends(robot(np.random.default_rng(7), drift=0.02, scatter=0.01, error=0.01))[0]
    assert drifting.drifting
    assert not drifting.changes
    assert drifting.drift is not None
    low, high = drifting.drift.interval()
    assert low < 0.02 < high
    assert "drifts by +1" in drifting.sentence


def test_levels() -> None:
    results = robot(np.random.default_rng(8), change=0.2, scatter=0.01, error=0.01)
    assert trends(results)[0].level is Level.WARN
    assert trends(results, limit=30.0)[0].level is Level.WARN
    beyond = trends(results, limit=10.0)
    assert beyond[0].level is Level.ERROR
    assert beyond[1].level is Level.OK
    assert "the limit is 10 %" in beyond[0].sentence


def test_a_single_outlier_is_no_change() -> None:
    rng = np.random.default_rng(9)
    values = 1.0 + 0.01 * rng.standard_normal((10, 6))
    values[-1, 0] = 1.2
    results = {str(day): made(row, day, 0.01) for day, row in enumerate(values)}
    assert not trends(dated_results(results))[0].changes


@pytest.mark.filterwarnings("error")
def test_recordings_of_one_instant_tell_no_drift() -> None:
    values = 1.0 + 0.01 * np.random.default_rng(3).standard_normal((4, 8))
    results = {str(number): made(row, 0.7, 0.01) for number, row in enumerate(values)}
    assert [one.drift for one in trends(dated_results(results))] == [None] * 8


def test_recordings_of_one_day_count_as_one_value() -> None:
    rng = np.random.default_rng(10)
    trend = trends(robot(rng, days=6, recordings=4, scatter=0.03, error=0.005))[1]
    assert trend.series is not None
    assert trend.series.by_day
    assert trend.series.values.size == 6
    assert trend.series.scatter == pytest.approx(0.03, rel=0.5)
    assert trend.series.errors == pytest.approx(trend.series.scatter / 2.0, rel=0.1)


def test_a_condition_explains_a_change() -> None:
    rng = np.random.default_rng(11)
    warm = [20.0] * 6 + [40.0, 35.0, 20.0, 20.0, 42.0, 21.0]
    results = {
        str(day): made([1.0 + 0.01 * (t - 20.0), 1.0] + 0.01 * rng.standard_normal(2), day, 0.01, t)
        for day, t in enumerate(warm)
    }
    explained = trends(dated_results(results, "temperature"))[0]
    assert explained.level is Level.OK
    assert explained.covariate is not None
    assert explained.covariate.size == pytest.approx(0.01, abs=0.002)


def test_what_a_condition_explains_is_in_no_change() -> None:
    rng = np.random.default_rng(12)
    results = {}
    for day in range(12):  # it grows warmer by 40 degrees, and loses 6 % on the seventh day
        heat = 40.0 * day / 11.0
        value = 1.0 - 0.01 * heat - 0.06 * (day >= 6) + 0.002 * rng.standard_normal()
        results[str(day)] = made([value], day, 0.002, 20.0 + heat)
    found = trends(dated_results(results, "temperature"), limit=15.0)[0]
    assert len(found.changes) == 1
    assert found.percent == pytest.approx(-7.0, abs=1.5)
    assert found.level is Level.WARN


def test_too_few_results() -> None:
    found = trends(dated_results({"a": made([1.0], 0, 0.01), "b": made([1.1], 1, 0.01)}))
    assert found[0].level is Level.UNKNOWN
    assert "2 results" in found[0].sentence


def test_parameters_without_an_error_are_left_out() -> None:
    results = {str(day): made([1.0, 1.0], day, [0.01, 0.0]) for day in range(5)}
    first, second = trends(dated_results(results))
    assert first.level is Level.OK
    assert second.level is Level.UNKNOWN
