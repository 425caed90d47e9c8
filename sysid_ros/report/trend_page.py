# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trends of parameters over several days as one HTML page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np
from markupsafe import Markup

from sysid_ros.report.render import render_page
from sysid_ros.report.svg import Axis, Frame, element, group, number, to_error, unit, with_unit
from sysid_ros.trend import DatedResult, ParameterTrend, date_text, overall

_TONES = {"OK": "good", "WARN": "caution", "ERROR": "bad", "UNKNOWN": "caution"}
_SENTENCES = {
    "OK": "No parameter changes by more than the scatter of the results.",
    "WARN": "Parameters change by more than the scatter of the results.",
    "ERROR": "Parameters change by more than the limit.",
    "UNKNOWN": "Some parameters have too few results for a trend.",
}


@dataclass(frozen=True)
class TrendRow:
    """One parameter, in words."""

    name: str
    unit: str
    level: str
    first: str
    latest: str
    change: str
    drift: str
    scatter: str
    reason: str
    chart: Markup


class DateAxis(Axis):
    """An axis over days since 1970, with dates at its ticks."""

    def ticks(self, count: int = 5) -> list[float]:
        """About four whole days; whatever there is in a range of less."""
        days = range(math.ceil(self.low), math.floor(self.high) + 1)
        if len(days) < 2:
            return [0.5 * (self.low + self.high)]
        every = max(1, math.ceil(len(days) / (count - 1)))
        return [float(day) for day in days[::every]]

    def tick_text(self, tick: float) -> str:
        """Month and day."""
        return datetime.fromtimestamp(tick * 86_400.0, timezone.utc).strftime("%m-%d")


def render_trends(
    trends: Sequence[ParameterTrend], results: Sequence[DatedResult], limit: float | None
) -> str:
    """Render trends as one HTML document that loads nothing.

    Args:
      trends: One per parameter.
      results: Those that they rest on, in the order of their dates.
      limit: Percent beyond which a change is an error.
    """
    level = overall(trends).value
    return render_page(
        "trend.html.j2",
        title=f"Trend over {len(results)} results",
        tone=_TONES[level],
        level=level,
        sentence=_SENTENCES[level],
        first=date_text(results[0].time),
        last=date_text(results[-1].time),
        limit=limit,
        rows=[_row(trend) for trend in trends],
    )


def _row(trend: ParameterTrend) -> TrendRow:
    course = trend.values if trend.course is None else trend.course
    error = float(np.median(trend.errors)) if trend.errors.size else None
    ends = [to_error(float(value), error) for value in (*course[:1], *course[-1:])]
    first, latest = ends if ends else ("", "")
    drift = ""
    if trend.drift is not None:
        low, high = trend.drift.interval()
        drift = f"{number(low, 2)} … {number(high, 2)}"
    return TrendRow(
        name=trend.name,
        unit=unit(trend.unit),
        level=trend.level.value,
        first=first,
        latest=latest,
        change=f"{trend.percent:+.1f} %" if trend.percent else "",
        drift=drift,
        scatter=number(trend.series.scatter, 2) if trend.series is not None else "",
        reason=trend.sentence,
        chart=trend_over_days(trend),
    )


def trend_over_days(trend: ParameterTrend) -> Markup:
    """Every result with its interval, the course with its band, and the change points."""
    half = 1.96 * trend.errors
    ends = [*(trend.values - half), *(trend.values + half)]
    low, high = (trend.times.min(), trend.times.max()) if trend.times.size else (0.0, 1.0)
    pad = max(0.05 * (high - low), 0.02)
    frame = Frame(
        DateAxis(float(low - pad), float(high + pad), "date (UTC)"),
        Axis.over(ends, with_unit(trend.name, trend.unit)),
        f"{trend.name} against date: {trend.level.value}, {trend.sentence}",
    )
    parts = []
    series, course, width = trend.series, trend.course, trend.half_width
    if series is not None and course is not None and width is not None:
        times, middle, spread = _with_breaks(trend, series.times, course, width)
        lows = [m - s for m, s in zip(middle, spread, strict=True)]
        highs = [m + s for m, s in zip(middle, spread, strict=True)]
        parts += [frame.area(times, lows, highs), frame.path(times, middle, "fitted")]
    for change in trend.changes:
        x = frame.column(0.5 * (change.last_before + change.first_after))
        y = frame.row(frame.y.low), frame.row(frame.y.high)
        parts.append(element("line", css="mark", x1=x, x2=x, y1=y[0], y2=y[1]))
    whiskers = (
        element("line", css="line zero", x1=frame.column(t), x2=frame.column(t), y1=a, y2=b)
        for t, a, b in (
            (t, frame.row(v - h), frame.row(v + h))
            for t, v, h in zip(trend.times, trend.values, half, strict=True)
        )
    )
    dots = frame.dots(trend.times.tolist(), trend.values.tolist())
    return frame.svg(*parts, group(whiskers), dots)


def _with_breaks(
    trend: ParameterTrend, times: np.ndarray, course: np.ndarray, width: np.ndarray
) -> tuple[list[float], list[float], list[float]]:
    """The course with a gap at each change point."""
    breaks = {change.first_after for change in trend.changes}
    rows: list[tuple[float, float, float]] = []
    for row in zip(times.tolist(), course.tolist(), width.tolist(), strict=True):
        if row[0] in breaks:
            rows.append((math.nan,) * 3)
        rows.append(row)
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]
