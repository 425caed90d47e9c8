# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trends of all parameters of a series of results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.trend.changes import (
    FEWEST,
    Effect,
    Search,
    effects,
    scatter_of,
    search,
    steps_at,
    weights_of,
)
from sysid_ros.trend.dated_results import DatedResult, date_text
from sysid_ros.trend.parameter_trend import Change, Level, ParameterTrend, percent_of
from sysid_ros.trend.scatter import ScatterPrior, scatter_prior
from sysid_ros.trend.series import Series, series_of


@dataclass(frozen=True)
class _Course:
    """One parameter's estimates in order, those with a usable standard error."""

    name: str
    unit: str
    times: FloatArray
    values: FloatArray
    errors: FloatArray
    series: Series | None


def trends(results: Sequence[DatedResult], limit: float | None = None) -> list[ParameterTrend]:
    """Find changes and drift of every parameter.

    Args:
      results: In the order of their dates.
      limit: Percent beyond which a significant change is an error.

    Returns:
      One trend per parameter, in order of appearance. In at most one percent of robots that do not
      change is any of them judged other than OK.
    """
    names = dict.fromkeys(p.name for result in results for p in result.outcome.fit.parameters)
    courses = [_course(name, results) for name in names]
    usable = [course.series for course in courses if course.series is not None]
    scatters = {id(series): scatter_of(series, series.base()) for series in usable}
    found = []
    for course in courses:
        if course.series is None:
            found.append(_unknown(course))
            continue
        others = [scatters[id(series)] for series in usable if series is not course.series]
        prior = scatter_prior([v for v, _ in others], [d for _, d in others])
        found.append(_trend(course, course.series, prior, len(usable), limit))
    return found


def _course(name: str, results: Sequence[DatedResult]) -> _Course:
    known = [
        (result.time, p.value, p.standard_error, p.unit, result.covariate)
        for result in results
        for p in result.outcome.fit.parameters
        if p.name == name and p.standard_error and np.isfinite([p.value, p.standard_error]).all()
    ]
    units = [p.unit for r in results for p in r.outcome.fit.parameters if p.name == name]
    times, values, errors = (np.array([row[i] for row in known], dtype=float) for i in range(3))
    beside = [row[4] for row in known if row[4] is not None]
    covariate = np.array(beside) if len(beside) == len(known) and known else None
    enough = len(known) >= FEWEST
    series = series_of(times, values, errors, covariate) if enough else None
    return _Course(name, units[0], times, values, errors, series)


def _unknown(course: _Course) -> ParameterTrend:
    said = f"{course.values.size} results determine it; a trend needs {FEWEST}"
    return ParameterTrend(
        course.name, course.unit, Level.UNKNOWN, said, course.times, course.values, course.errors
    )


def _trend(
    course: _Course, series: Series, prior: ScatterPrior, count: int, limit: float | None
) -> ParameterTrend:
    found = search(series, prior, count)
    base = series.base()
    with_steps = np.column_stack([base, steps_at(series, list(found.steps))])
    line = (series.times - series.times[0])[:, None]
    (drift,) = effects(series, with_steps, line, prior)
    model = np.column_stack([with_steps, line]) if found.drift else with_steps
    values, explained, half_width = _expected(series, model, prior)
    made = ParameterTrend(
        course.name,
        course.unit,
        Level.OK,
        "",
        course.times,
        course.values,
        course.errors,
        series=series,
        course=values,
        course_at_mean=values - explained,
        half_width=half_width,
        changes=_changes(series, found, prior),
        drift=drift,
        drifting=found.drift,
        p=found.p,
        covariate=_covariate(model, series, prior),
    )
    return _judged(made, limit)


def _changes(series: Series, found: Search, prior: ScatterPrior) -> tuple[Change, ...]:
    """Every step with its size, beside the others."""
    made = []
    weights = weights_of(series)
    edges = (0, *found.steps, series.values.size)
    for number, place in enumerate(found.steps):
        others = [step for step in found.steps if step != place]
        base = np.column_stack([series.base(), steps_at(series, others)])
        (effect,) = effects(series, base, steps_at(series, [place]), prior)
        if effect is None:
            continue
        part = slice(edges[number], place)
        before = float(np.average(series.values[part], weights=weights[part]))
        times = series.times[place - 1], series.times[place]
        made.append(Change(float(times[0]), float(times[1]), before, effect))
    return tuple(made)


def _expected(
    series: Series, model: FloatArray, prior: ScatterPrior
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The model's value at each entry, the covariate's part in it, and half an entry's interval."""
    roots = np.sqrt(weights_of(series))
    solved = np.linalg.lstsq(model * roots[:, None], series.values * roots, rcond=None)[0]
    own, dof = scatter_of(series, model)
    total = dof + prior.dof
    scatter = (own * dof + prior.variance * prior.dof) / total if total else 1.0
    spread = np.sqrt(np.maximum(scatter / roots**2, series.errors**2))
    covariate = slice(1, series.base().shape[1])  # of which there may be none
    explained = model[:, covariate] @ solved[covariate]
    half_width = spread * float(scipy.special.stdtrit(max(total, 1.0), 0.975))
    return model @ solved, explained, half_width


def _covariate(model: FloatArray, series: Series, prior: ScatterPrior) -> Effect | None:
    """The effect of what else may explain the values, which is the second column."""
    if series.base().shape[1] < 2:
        return None
    (effect,) = effects(series, np.delete(model, 1, axis=1), model[:, 1:2], prior)
    return effect


def _judged(trend: ParameterTrend, limit: float | None) -> ParameterTrend:
    """The trend with its level and the reason in words."""
    if not trend.changes and not trend.drifting:
        said = "no change beyond the scatter of the results"
        return replace(trend, level=Level.OK, sentence=said)
    if trend.drifting and trend.drift is not None and trend.series is not None:
        low, high = trend.drift.interval()
        days = float(np.ptp(trend.series.times))
        said = (
            f"drifts by {trend.percent:+.1f} % in {days:.1f} days: {trend.drift.size:+.3g} per "
            f"day, 95 % interval {low:+.3g} to {high:+.3g}"
        )
    else:
        said = "; ".join(_step_text(change) for change in trend.changes)
    beyond = limit is not None and abs(trend.percent) > limit
    if beyond:
        said += f"; the limit is {limit:g} %"
    return replace(trend, level=Level.ERROR if beyond else Level.WARN, sentence=said)


def _step_text(change: Change) -> str:
    low, high = (percent_of(end, change.before) for end in change.effect.interval())
    first, last = date_text(change.last_before), date_text(change.first_after)
    when = f"on {last}" if first == last else f"between {first} and {last}"
    return f"{change.percent:+.1f} % {when} (95 % interval {low:+.1f} to {high:+.1f} %)"
