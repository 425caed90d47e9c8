# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trends as plain numbers and words, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sysid_ros.trend.changes import Effect
from sysid_ros.trend.dated_results import DatedResult, date_text
from sysid_ros.trend.parameter_trend import Change, Level, ParameterTrend

_ORDER = (Level.ERROR, Level.WARN, Level.UNKNOWN, Level.OK)


def overall(trends: Sequence[ParameterTrend]) -> Level:
    """Return the gravest judgement of several parameters."""
    levels = {trend.level for trend in trends}
    return next((level for level in _ORDER if level in levels), Level.UNKNOWN)


def trend_document(
    trends: Sequence[ParameterTrend],
    results: Sequence[DatedResult],
    limit: float | None,
    condition: str | None,
) -> dict[str, Any]:
    """Return what ``sysid_ros trend --json`` prints."""
    return {
        "level": overall(trends).value,
        "limit_percent": limit,
        "condition": condition,
        "results": {result.label: {"date": date_text(result.time)} for result in results},
        "parameters": {trend.name: _entry(trend) for trend in trends},
    }


def _entry(trend: ParameterTrend) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "unit": trend.unit,
        "level": trend.level.value,
        "reason": trend.sentence,
        "p": trend.p,
        "percent": trend.percent,
        "dates": [date_text(time) for time in trend.times],
        "values": trend.values,
        "standard_errors": trend.errors,
        "drifting": trend.drifting,
        "drift_per_day": _effect(trend.drift),
        "per_unit_of_condition": _effect(trend.covariate),
        "changes": [_change(change) for change in trend.changes],
    }
    if trend.series is not None:
        entry["scatter_within_days"] = trend.series.scatter
        entry["expected"] = {
            "dates": [date_text(time) for time in trend.series.times],
            "values": trend.series.values,
            "standard_errors": trend.series.errors,
            "course": trend.course,
            "half_interval": trend.half_width,
        }
    return entry


def _change(change: Change) -> dict[str, Any]:
    return {
        "last_before": date_text(change.last_before),
        "first_after": date_text(change.first_after),
        "before": change.before,
        "percent": change.percent,
        **(_effect(change.effect) or {}),
    }


def _effect(effect: Effect | None) -> dict[str, Any] | None:
    if effect is None:
        return None
    return {
        "value": effect.size,
        "standard_error": effect.error,
        "dof": effect.dof,
        "interval": effect.interval(),
    }
