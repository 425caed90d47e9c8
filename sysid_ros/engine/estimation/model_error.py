# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The error that noise does not explain: what choices that should not matter do to an estimate.

Noise makes estimates uncertain, and covariances say by how much. A time step that is too long, a
window that hides slow effects, a filter that distorts the starts, or an effect that the model lacks
moves estimates without widening any interval. One linearization of the changed problem at the
estimate says by how much: its Gauss-Newton step less that of the problem itself. So nothing is
fitted again, and where even that would take too long beside the fit, some windows stand for all.

What an estimate moves by is added to its standard error: for another time step the error that
the shift shows, which for a first-order integrator is twice the shift from h to h/2 (Richardson
1911) or 4/3 of that to h/4, whichever is larger: where a joint's own time constants are as short as
the step they differ, as errors of several orders cancel in part. Of a shift whose parts by window
scatter by more than all of it, as where a step meets each jump of a command at another place, the
error is as large as that scatter: that they cancel is chance. For other choices it is what is
beyond chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.estimation.alternatives import Alternative
from sysid_ros.engine.estimation.another_start import ANOTHER_START, Bowl, end_of_another_start
from sysid_ros.engine.estimation.other_interpolations import EVALUATIONS, shift_by_interpolations
from sysid_ros.engine.estimation.shifts import (
    OTHER_INTERPOLATION,
    ModelError,
    Shift,
    by_change,
    over_recordings,
    size_by_step,
)
from sysid_ros.engine.estimation.stalled_windows import Stretch, landing
from sysid_ros.engine.estimation.timing_walk import Walk, delay_components, time_step
from sysid_ros.engine.estimation.window_sample import (
    EVALUATION,
    Place,
    chosen_windows,
    followed_shift,
    part_of,
    places_of,
    search_time,
    spread_evenly,
)
from sysid_ros.engine.least_squares import (
    Linearization,
    Point,
    ReducedSystem,
    Solution,
    eliminate_starts,
    start_solutions,
)
from sysid_ros.engine.parameters import priors
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty import (
    Covariance,
    StepChange,
    beyond_chance,
    recording_scatter,
    step_change,
)
from sysid_ros.engine.windows import can_touch
from sysid_ros.errors import DataError, StopRequestedError, SysidError

SHARE = 0.25  # of a search's time that the linearizations of alternatives may take together
SHARE_OF_COSTLY = 0.1  # likewise of those that cost more than a few linearizations ...
COSTLY = 3.0  # ... which this is
SHARE_OF_A_START = 0.15  # of a search's time that another start may take; one step at least
SHARE_OF_INTERPOLATIONS = 0.1  # likewise all other interpolations of commands together
STEPS = 3  # of another start at most
MIN_WINDOWS, MIN_COSTLY = 6, 4
# A shift may not be of first order that is larger than so many errors by noise, ...
FAR = 2.0
OF_ITSELF, OF_A_STEP = 0.1, 0.2  # ... and than this share of the value, of a delay of the time step
SAME_INSTANT = 1e-6  # s


def model_error(
    problem: WindowedProblem,
    solution: Solution,
    covariance: Covariance,
    alternatives: Sequence[Alternative],
    walk: Walk | None,
    left_out: Sequence[Stretch],
) -> ModelError:
    """Find out what an estimate depends on that it should not.

    Args:
      problem: The problem.
      solution: Its optimum, with a linearization.
      covariance: The statistical uncertainty there.
      alternatives: What to change; fewer are tried if the rollouts are asked to stop.
      walk: What walks along delays found around the optimum.
      left_out: Windows that the problem goes without, as the alternatives have to.
    """
    base = _Base.at(problem, solution, left_out)
    p = len(base.precision)
    chosen = np.flatnonzero(np.isfinite(np.diag(covariance.matrix)))
    scatter = np.ones(p)
    scatter[chosen] = recording_scatter(
        base.part(np.arange(len(base.places))),
        chosen,
        covariance.errors[chosen],
        [place.recording for place in base.places],
    )
    trials: list[tuple[str, float, Callable[[], Shift]]] = []
    time = search_time(problem, solution.status)
    ways = [each for each in alternatives if each.inputs]
    choices = [each for each in alternatives if not each.inputs]
    for each in choices:
        used = _sample(problem, each, choices, time)
        if claims := _claims(covariance, chosen, each.order):
            shifted = partial(_shift, base, each, used, claims, covariance.errors)
            trials.append((each.change, each.order, shifted))
    if chosen.size:
        again = partial(_another_start, base, covariance, chosen, walk, time)
        trials.append((ANOTHER_START, 0.0, again))
    if ways and problem.added is None:  # whose rows know of no way
        otherwise = partial(_another_way, base, ways, covariance.errors, time)
        trials.append((OTHER_INTERPOLATION, 0.0, otherwise))
    shifts = []
    for change, order, trial in trials:
        try:
            shifts.append(trial())
        except StopRequestedError:
            break
        except (SysidError, np.linalg.LinAlgError) as error:
            nothing = np.full(p, math.nan)
            shifts.append(Shift(change, order, nothing, nothing, nothing, str(error)))
    changed, since = over_recordings(problem, solution, covariance)
    return ModelError(scatter, covariance.errors, by_change(shifts), changed, since)


def _another_start(
    base: _Base, covariance: Covariance, chosen: IndexArray, walk: Walk | None, time: float
) -> Shift:
    """Search again from elsewhere within the intervals, with some windows where there are many.

    Where a walk along delays found values that explain the data as well, those count.
    """
    problem = base.problem
    n = len(problem.windows)
    allowed = SHARE_OF_A_START * time / (1.0 + 2.0 * EVALUATION)  # a step is checked as well
    used = spread_evenly(n, n * allowed / STEPS, MIN_WINDOWS)
    part = part_of(problem, used)
    steps = max(1, min(STEPS, round(n * allowed / len(used))))

    def linearize(point: Point) -> Linearization:
        part.check_derivatives(point)
        return part.linearize(point)

    own = covariance.matrix[np.ix_(chosen, chosen)]
    end = end_of_another_start(base.bowl, chosen, own, used, linearize, steps)
    p = len(base.precision)
    values, chance = np.full(p, np.nan), np.full(p, np.nan)
    values[chosen], chance[chosen] = end.values, end.chance
    error = beyond_chance(values, chance)
    if walk is not None:
        farther = walk.errors > error  # never of what no error is claimed of
        values = np.where(farther, walk.values, values)
        error = np.where(farther, walk.errors, error)
    return Shift(ANOTHER_START, 0.0, values, chance, error)


@dataclass(frozen=True)
class _Base:
    """The problem at its optimum."""

    problem: WindowedProblem
    bowl: Bowl  # its Gauss-Newton model at the optimum
    precision: FloatArray  # inverse variances of the parameters' priors, (p,)
    pull: FloatArray  # the priors' gradient, (p,)
    places: list[Place]  # of the windows
    left_out: Sequence[Stretch]  # windows that do not count

    @classmethod
    def at(cls, problem: WindowedProblem, solution: Solution, left_out: Sequence[Stretch]) -> _Base:
        """The problem at a solution, which has a linearization."""
        if solution.linearization is None:
            raise ValueError("the solver never got to a Jacobian")
        mean, precision = priors(problem.params)
        return cls(
            problem,
            Bowl(
                solution.point,
                solution.linearization,
                eliminate_starts(solution.linearization),
                problem.lower,
                problem.upper,
            ),
            precision,
            precision * (solution.point.theta - mean),
            places_of(problem.groups),
            left_out,
        )

    @cached_property
    def lands(self) -> BoolArray:
        """Marks of the windows in which bodies come to touch, (w,)."""
        if not any(can_touch(window.model) for window in self.problem.windows):
            return np.zeros(len(self.places), dtype=np.bool_)
        return landing(self.problem, self.bowl.point)

    def part(self, used: IndexArray) -> ReducedSystem:
        """The system of some windows, with their share of the priors."""
        system = self.bowl.system
        return self.of(system.window_hessians[used], system.window_gradients[used], len(used))

    def of(self, hessians: FloatArray, gradients: FloatArray, windows: int) -> ReducedSystem:
        """A system of other sums that stand for so many of the windows."""
        share = windows / len(self.places)
        return ReducedSystem(
            hessians.sum(axis=0) + share * np.diag(self.precision),
            gradients.sum(axis=0) + share * self.pull,
            hessians,
            gradients,
        )


def _sample(
    problem: WindowedProblem, each: Alternative, alternatives: Sequence[Alternative], time: float
) -> IndexArray:
    """Choose the windows that stand for all, spread evenly, so that a share of the time is kept."""
    n, costly = len(problem.windows), each.cost > COSTLY
    cost = sum(one.cost for one in alternatives if (one.cost > COSTLY) is costly)
    allowed = (SHARE_OF_COSTLY if costly else SHARE) * time
    least = MIN_COSTLY if costly else MIN_WINDOWS
    return spread_evenly(n, n if cost <= allowed else n * allowed / cost, least)


@dataclass(frozen=True)
class _Claim:
    """Some of the parameters that have an error, and those that are free when theirs is judged."""

    told: IndexArray
    free: IndexArray


def _claims(covariance: Covariance, chosen: IndexArray, order: float) -> list[_Claim]:
    """Those inside their bounds together, and each that is pushed against one free with them.

    Other windows and filters say nothing of the latter: their optimum is far away.
    """
    inside = [_Claim(chosen, chosen)] if chosen.size else []
    if order == 0.0:
        return inside
    pushed = np.setdiff1d(np.flatnonzero(np.isfinite(covariance.errors)), chosen)
    return inside + [_Claim(np.array([j]), np.sort(np.append(chosen, j))) for j in pushed]


def _shift(
    base: _Base,
    alternative: Alternative,
    used: IndexArray,
    claims: Sequence[_Claim],
    errors: FloatArray,
) -> Shift:
    """Linearize an alternative at the optimum and compare the Gauss-Newton steps.

    Where those of a costly one are far beyond the errors by noise, (p,), they are followed.
    """
    problem, parents = _changed(base, alternative, used)
    changed = _linearized(problem, base, alternative, parents)
    if not math.isfinite(changed.cost):
        raise DataError("the simulation diverges")
    reduced = eliminate_starts(changed)
    values, chance = _told(base, alternative, reduced, parents, used, claims)
    error = np.full_like(values, np.nan)
    if alternative.order > 0.0:
        few = alternative.cost > COSTLY  # windows, of which chance alone may make a large shift
        theta = base.bowl.point.theta
        far = np.maximum(FAR * np.maximum(errors, chance), _far(base.problem, theta))
        if few and np.any(np.abs(values) > far):
            starts = tuple(base.bowl.point.starts[k] for k in used)
            own_part = part_of(base.problem, used)
            farther = followed_shift(problem, own_part, Point(theta, starts))
            values = np.where(np.abs(farther) > np.abs(values), farther, values)
        error = alternative.order * size_by_step(values, chance, few=few)
    else:
        error = beyond_chance(values, chance)
    return Shift(alternative.change, alternative.order, values, chance, error)


def _far(problem: WindowedProblem, theta: FloatArray) -> FloatArray:
    """Changes of the parameters, (p,), within which one linearization holds."""
    far = OF_ITSELF * np.abs(theta)
    far[delay_components(problem.params)] = OF_A_STEP * time_step(problem)
    return far


def _told(
    base: _Base,
    alternative: Alternative,
    reduced: ReducedSystem,
    parents: IndexArray,
    used: IndexArray,
    claims: Sequence[_Claim],
) -> tuple[FloatArray, FloatArray]:
    """The shifts by an alternative, (p,), and their standard deviations by chance.

    Where bodies meet a step earlier or later, residuals jump by more than a time step moves them
    elsewhere, and the linear model of such a window holds nowhere: what it adds to a shift may hide
    what all others say. So of another time step these are asked alone as well.
    """
    calm = used[~base.lands[used]] if alternative.order > 0.0 else used
    values, chance = np.full((2, len(base.precision)), np.nan)

    def moved(windows: IndexArray, free: IndexArray) -> StepChange:
        within = np.isin(parents, windows)
        hessians, gradients = reduced.window_hessians[within], reduced.window_gradients[within]
        there = base.of(hessians, gradients, len(windows))
        places = np.searchsorted(windows, parents[within])
        return step_change(base.part(windows), there, places, free)

    for claim in claims:
        change = moved(used, claim.free)
        if MIN_WINDOWS <= len(calm) < len(used):
            change = change.or_farther(moved(calm, claim.free))
        places = np.searchsorted(claim.free, claim.told)
        values[claim.told], chance[claim.told] = change.values[places], change.chance[places]
    return values, chance


def _changed(
    base: _Base, alternative: Alternative, used: IndexArray
) -> tuple[WindowedProblem, IndexArray]:
    """An alternative's problem, and the window of the fit in which each of its windows begins."""
    groups = alternative.groups(base.problem.params, base.problem.groups)
    for group, known in zip(groups, base.problem.groups, strict=True):
        group.builder.trust(known.builder)
    cuts = places_of(groups)
    parents = _parents(cuts, base.places)
    leaps = [any(one.holds(at.recording[1], at.start) for one in base.left_out) for at in cuts]
    kept = np.isin(parents, used) & ~np.array(leaps)
    windows = chosen_windows(groups, kept)
    return base.problem.with_groups(windows, engine=base.problem.engine), parents[kept]


def _another_way(
    base: _Base, ways: Sequence[Alternative], errors: FloatArray, time: float
) -> Shift:
    """Compare other interpolations of commands, with some windows where there are many."""
    n, each = len(base.places), EVALUATION * EVALUATIONS
    used = spread_evenly(n, n * SHARE_OF_INTERPOLATIONS * time / (len(ways) * each), MIN_WINDOWS)
    point = base.bowl.point
    rows = [own for k, own in enumerate(base.problem.window_rows(point)) if k in used]
    part = Point(point.theta, tuple(point.starts[k] for k in used))
    others = ((way, _same_windows(base, way, used)) for way in ways)
    own = base.problem if len(used) == n else part_of(base.problem, used)
    return shift_by_interpolations(own, part, rows, others, errors)


def _same_windows(base: _Base, way: Alternative, used: IndexArray) -> WindowedProblem:
    problem, parents = _changed(base, way, used)
    if not np.array_equal(parents, used):
        raise DataError(f"{way.change} makes other windows")
    return problem


def _linearized(
    problem: WindowedProblem, base: _Base, alternative: Alternative, parents: IndexArray
) -> Linearization:
    """Linearize an alternative at the optimum, and at starts that suit its windows."""
    theta = base.bowl.point.theta
    if alternative.same_starts:
        point = Point(theta, tuple(base.bowl.point.starts[parent] for parent in parents))
    else:  # the measured ones are too noisy to linearize at: one step of the starts alone
        point = Point(theta, tuple(np.zeros(window.n_start) for window in problem.windows))
        if any(start.size for start in point.starts):
            grams = problem.linearize(point).grams
            steps = start_solutions(grams, theta.size, 0.0)
            point = Point(theta, tuple(-step[:, -1] for step in steps))
    problem.check_derivatives(point)
    return problem.linearize(point)


def _parents(places: Sequence[Place], base: Sequence[Place]) -> IndexArray:
    """The window of the fit in which each window of an alternative begins, (n,)."""
    by_recording: dict[tuple[int, str], list[int]] = {}
    for i, place in enumerate(base):
        by_recording.setdefault(place.recording, []).append(i)
    found = []
    for place in places:
        candidates = by_recording[place.recording]
        starts = [base[i].start for i in candidates]
        k = int(np.searchsorted(starts, place.start + SAME_INSTANT, side="right")) - 1
        found.append(candidates[max(0, k)])
    return np.array(found, dtype=np.intp)
