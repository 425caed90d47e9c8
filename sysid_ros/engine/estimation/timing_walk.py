# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A walk along the parameters that say when something acts, where better optima are known to hide.

What acts late looks heavy: a delay trades with armature and friction along a valley that is long
and winding, and rough, as a joint sticks or a command changes a time step earlier or later. A
search that goes by slopes ends somewhere in it. So a walk leads from the estimate both ways along
each delay and time constant, in strides beyond its interval and beyond the time step, and all
other parameters and starts follow from place to place by a Gauss-Newton step (a profile of the
cost by continuation; Venzon & Moolgavkar 1988). It ends where it goes uphill twice in a row, and
uses some windows only. All windows decide about the places that these leave open, the most telling
ones first.

The costs of windows at two places are compared window by window (Vuong 1989). To first order the
difference at a distance d is d / (2 s) of its standard deviations, where s is the standard error;
so a place that is hardly worse tells an error as well, which counts where it is much larger. An
optimum that is surely better is where the fit goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.estimation.window_sample import (
    EVALUATION,
    part_of,
    searched,
    spread_evenly,
    window_costs,
)
from sysid_ros.engine.least_squares import (
    Point,
    Solution,
    SolverSettings,
    one_step,
    start_solutions,
)
from sysid_ros.engine.parameters import ParameterDict, written_by
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty import student_quantile

TIMING = (("signal", "delay"), ("actuator", "time_constant"))  # the most telling first
WALKS = 2.6  # linearizations that walks may take together, unless they find lower costs
PLACE = 1.0 + 4.0 * EVALUATION  # time that a place takes, in linearizations of its windows
FEWEST = 3  # windows, whose differences say which of two places is better
COMMON = 2.5 * 2.0  # places around an optimum that has none besides it
PLACES = 8  # in one direction at most
BEYOND = 3.0  # standard errors, the length of the first stride ...
OF_BOUNDS = 0.1  # ... but no more than this share of the distance between the bounds
ENOUGH = 2  # places in a row that are uphill: nothing better is expected beyond
LONGER = 1.5  # factor on each further one
LIKELY, SURE = 0.05, 0.001  # chance that windows show a lower cost where there is none
PRECISE = 1e-2  # relative decrease of the cost below which a place is about an optimum
JUDGED = 2  # places that all windows decide about
WORSE = 2.0  # standard deviations from which on a place is ruled out
WIDER = 1.25  # times the standard error that an error must be to count
REACHED = 0.5  # of a distance: the error with which a 95 % interval ends there
HELD = 1e-9  # of its scale: how far a parameter may move while it is held


@dataclass(frozen=True)
class Walk:
    """The places that walks from an optimum came to."""

    lower: Point | None  # an optimum of surely lower cost; ``None`` where there is none
    # from the optimum to a place that explains the data about as well, (p,); zero where none is
    # farther than the standard error allows
    values: FloatArray
    errors: FloatArray  # the standard errors that these tell, (p,)


@dataclass(frozen=True, eq=False)
class _Place:
    """A place on a walk: of some windows, with what each costs more than at the optimum, (m,)."""

    held: int  # the parameter that the walk led along
    point: Point
    excess: FloatArray
    prior: float

    def total(self, count: int) -> float:
        """The excess of all windows."""
        return count * float(np.mean(self.excess)) + self.prior

    def is_lower(self, chance: float) -> bool:
        """Return whether windows cost less than they would with this chance (paired t test)."""
        n = len(self.excess)
        if n < FEWEST or not np.all(np.isfinite(self.excess)):  # a model that flies apart there
            return False
        return self.total(n) < self.deviation(n) * student_quantile(n - 1, chance)

    def deviation(self, count: int) -> float:
        """Its standard deviation by noise, as windows show it."""
        few = len(self.excess) < 2
        return 0.0 if few else float(np.sqrt(count) * np.std(self.excess, ddof=1))


def timing_components(params: ParameterDict) -> IndexArray:
    """Free scalars that say when something acts: delays, then time constants, (k,)."""
    return _components(params, TIMING)


def delay_components(params: ParameterDict) -> IndexArray:
    """Free scalars that are delays, (k,)."""
    return _components(params, TIMING[:1])


def _components(params: ParameterDict, wanted: Sequence[tuple[str, str]]) -> IndexArray:
    targets = [written_by(p) for p in params.free() for _ in range(p.size)]
    kinds = [(target.element, target.attribute) for target in targets]
    return np.array([j for kind in wanted for j, k in enumerate(kinds) if k == kind], dtype=int)


def can_walk(problem: WindowedProblem) -> bool:
    """Return whether a walk can tell anything: there are delays, and windows to compare by."""
    return timing_components(problem.params).size > 0 and len(problem.windows) >= FEWEST


def walk_around(problem: WindowedProblem, solution: Solution, errors: FloatArray) -> Walk:
    """Walk along the delays and time constants of an optimum.

    Args:
      problem: The problem, with such parameters.
      solution: Its optimum, with a linearization.
      errors: Standard errors there, (p,); NaN where none is claimed.

    Raises:
      StopRequestedError: It was asked for.
    """
    timing, known = timing_components(problem.params), np.nan_to_num(errors)
    n = len(problem.windows)
    used = spread_evenly(n, np.sqrt(n), FEWEST)
    part = part_of(problem, used)
    base = Point(solution.point.theta, tuple(solution.point.starts[k] for k in used))
    part.check_derivatives(base)
    widest = OF_BOUNDS * (problem.upper - problem.lower)
    seen: list[_Place] = []
    affordable = int(WALKS / (COMMON * PLACE * len(used) / n))
    for component in timing[: max(1, affordable)]:
        stride = BEYOND * known[component] * np.sqrt(n / len(used))
        stride = max(2.0 * time_step(problem), min(stride, widest[component]))
        seen += _walk(part, base, int(component), stride)
    found = Walk(None, np.zeros(len(known)), np.zeros(len(known)))
    lower = [place for place in seen if place.is_lower(LIKELY)]
    if lower:
        best = _refined(problem, solution, min(lower, key=lambda place: place.total(n)), used)
        if best.is_lower(SURE):
            return replace(found, lower=best.point)
        seen = [place for place in seen if place not in lower] + [best]
    for place in _judged(problem, solution, seen, used, known):
        found = _widened(found, place, n, base.theta, known)
    return found


def _refined(
    problem: WindowedProblem, solution: Solution, lower: _Place, used: IndexArray
) -> _Place:
    """The optimum near a place of some windows, by all windows."""
    start = _all_starts(solution, lower.point, used)
    settings = SolverSettings(max_iterations=10, cost_tolerance=PRECISE)
    point = searched(problem, start, settings).point
    there, here = window_costs(problem, point), window_costs(problem, solution.point)
    prior = _prior_cost(problem, point) - _prior_cost(problem, solution.point)
    return _Place(lower.held, point, there - here, prior)


def _judged(
    problem: WindowedProblem,
    solution: Solution,
    seen: Sequence[_Place],
    used: IndexArray,
    errors: FloatArray,
) -> list[_Place]:
    """The places, by all windows, that would widen an interval the most by some of them.

    Which few windows are used would decide about the interval otherwise.
    """
    rest, judged, n = list(seen), [], len(problem.windows)
    own: FloatArray | None = None
    told = np.where(errors > 0.0, WIDER * errors, np.inf)  # of the others none is claimed
    for _ in range(JUDGED):
        wider = [np.max(_told(place, n, solution.point.theta) / told) for place in rest]
        if not rest or max(wider) <= 1.0:
            break
        place = rest.pop(int(np.argmax(wider)))
        if len(place.excess) != n:
            own = window_costs(problem, solution.point) if own is None else own
            place = _of_all(problem, solution, own, place, used)
        judged.append(place)
        told = np.maximum(told, _told(judged[-1], n, solution.point.theta))
    return judged


def _of_all(
    problem: WindowedProblem, solution: Solution, own: FloatArray, place: _Place, used: IndexArray
) -> _Place:
    """A place that some windows led to, by all windows, which cost ``own`` at the optimum."""
    value = float(place.point.theta[place.held])
    known = (solution.point, _all_starts(solution, place.point, used))
    point = _held_at(problem, known, place.held, value)
    excess = window_costs(problem, point) - own
    prior = _prior_cost(problem, point) - _prior_cost(problem, solution.point)
    return _Place(place.held, point, excess, prior)


def _told(place: _Place, count: int, theta: FloatArray) -> FloatArray:
    """The standard errors that a place tells, (p,); zeros where windows rule it out."""
    if len(place.excess) < FEWEST or not np.all(np.isfinite(place.excess)):
        return np.zeros(len(theta))
    total = max(0.0, place.total(count))
    deviation = place.deviation(count)
    if total >= WORSE * deviation:
        return np.zeros(len(theta))
    share = min(REACHED, deviation / max(2.0 * total, 1e-300))
    return np.asarray(share * np.abs(place.point.theta - theta))


def _widened(found: Walk, place: _Place, count: int, theta: FloatArray, errors: FloatArray) -> Walk:
    """Return what was found, or the errors that a place tells where those are larger."""
    told = _told(place, count, theta)
    larger = (told > WIDER * errors) & (told > found.errors)
    return replace(
        found,
        values=np.where(larger, place.point.theta - theta, found.values),
        errors=np.where(larger, told, found.errors),
    )


def _walk(part: WindowedProblem, base: Point, component: int, stride: float) -> list[_Place]:
    """Walk both ways along one parameter until it goes uphill."""
    own, prior = window_costs(part, base), _prior_cost(part, base)
    places = []
    for direction in (-1.0, 1.0):
        here, length, lowest, uphill = base, stride, 0.0, 0
        for _ in range(PLACES):
            low, high = part.lower[component], part.upper[component]
            value = float(np.clip(here.theta[component] + direction * length, low, high))
            if abs(value - here.theta[component]) < 0.5 * length:
                break
            here = _held_at(part, (base, here), component, value)
            excess = window_costs(part, here) - own
            if not np.all(np.isfinite(excess)):
                break
            places.append(_Place(component, here, excess, _prior_cost(part, here) - prior))
            total = places[-1].total(len(excess))
            uphill = uphill + 1 if total > lowest + np.sqrt(len(excess)) * np.std(excess) else 0
            if uphill == ENOUGH:
                break
            lowest, length = min(lowest, total), LONGER * length
    return places


def _held_at(part: WindowedProblem, known: Sequence[Point], component: int, value: float) -> Point:
    """One step of everything else from the best of some points, with one parameter at a value.

    The last of them is the likeliest: its rollouts are known when the step begins.
    """
    held = np.arange(len(part.scale)) == component
    room = HELD * part.scale
    lower, upper = part.lower, part.upper
    begins = [Point(np.where(held, value, each.theta), each.starts) for each in known]
    begin = min(begins, key=part.cost)
    part.lower = np.where(held, value - room, lower)
    part.upper = np.where(held, value + room, upper)
    try:
        found = one_step(part, begin)
    finally:
        part.lower, part.upper = lower, upper
    return replace(found, theta=np.clip(found.theta, lower, upper))


def _all_starts(solution: Solution, place: Point, used: IndexArray) -> Point:
    """A place of some windows with the starts of all, the others' to first order."""
    assert solution.linearization is not None  # noqa: S101
    theta, point = place.theta, solution.point
    grams = solution.linearization.grams
    away = np.append(theta - point.theta, 1.0)
    shifts = start_solutions(grams, theta.size, 0.0)
    starts = [start - shift @ away for start, shift in zip(point.starts, shifts, strict=True)]
    for k, start in zip(used, place.starts, strict=True):
        starts[k] = start
    return Point(theta, tuple(starts))


def _prior_cost(problem: WindowedProblem, point: Point) -> float:
    return 0.5 * float(np.sum(problem.prior_rows(point.theta)[:, -1] ** 2))


def time_step(problem: WindowedProblem) -> float:
    """The time step that a problem is simulated with, s."""
    return float(problem.groups[0].batches[0].model.opt.timestep)
