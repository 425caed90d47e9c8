# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A few windows that are fitted quickly, for what is asked of what they leave.

Every step is tried, so that derivatives may miss what happens in a few steps of simulation
(:func:`sysid_ros.engine.problem.tolerating`), and windows of which they would miss more are not
taken where there are others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.engine.least_squares import (
    INITIAL_DAMPING,
    Point,
    SolverSettings,
    loss_named,
    minimize,
    one_step,
)
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import FEW_STEPS, Chord, WindowedProblem, squares_left, tolerating
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.uncertainty import first_noise
from sysid_ros.engine.windows import WindowGroup, model_group

_VELOCITY_FILTER = 30.0  # Hz
_LOOKED_AT = 3  # times as many windows as are taken, where those of some would be missed
_LESS_DAMPED, _DAMPED_MORE = 0.1, 100.0  # behind a step, and where none was found
# Steps of simulation, times columns of the Jacobian, of windows that the pass covers in part only:
# they are differenced whole where a step has no derivative.
_DIFFERENCED = 80_000
_ROUNDS = 4  # steps, behind each of which noise levels are known better
# Of damping, by a refused step: where bodies touch, a step that is hardly shorter fails as well.
STEEP = 16.0
# Of what is about to be said: before noise levels are known, and after.
_TO_THE_END = SolverSettings(
    max_iterations=20, cost_tolerance=1e-3, growth=STEEP, worth=1.0, refusals=3
)  # fmt: skip
_ONE_STEP = replace(_TO_THE_END, refusals=2)  # the next begins where this one ends


def well_covered(
    group: WindowGroup, most: int, params: ParameterDict, pool: RolloutPool
) -> tuple[WindowedProblem, list[int]] | None:
    """A problem of some windows of all, and their places.

    Where bodies touch so that the pass does not cover some of them, others are looked for: they
    would cost as many simulations as there are columns. ``None`` where these are too many.
    """
    doubts: dict[int, float] = {}
    every = range(len(group.windows))
    for number in (most, _LOOKED_AT * most):
        new = [place for place in _evenly(every, number) if place not in doubts]
        if not new:
            break
        problem = tolerating(problem_of(group.select(new), params, pool), 1.0)
        exact = problem.exact[0]
        if exact is None or exact.gave_up:
            return problem, new
        problem.differentiate(problem.initial_point())
        doubts |= dict(zip(new, exact.uncovered.tolist(), strict=True))
        if max(doubts.values()) <= FEW_STEPS:
            return tolerating(problem), new
    covered = sorted(place for place, doubt in doubts.items() if doubt <= FEW_STEPS)
    if len(covered) < most:
        covered = sorted(sorted(doubts, key=doubts.__getitem__)[:most])
    places = _evenly(covered, most)
    steps = sum(group.windows[k].window.steps for k in places if doubts[k] > FEW_STEPS)
    if steps * (params.size + group.batches[0].spread.shape[1]) > _DIFFERENCED:
        return None
    return problem_of(group.select(places), params, pool), places


def _evenly(places: Sequence[int], most: int) -> list[int]:
    """So many of some places at most, spread over all."""
    chosen = np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(int)
    return [places[k] for k in np.unique(chosen).tolist()]


def windows_of(
    sequences: ModelSequences,
    params: ParameterDict,
    length: float,
) -> WindowGroup:
    """All windows of a length [s], their starts estimated."""
    return model_group(
        sequences, params, window_length=length, estimate_starts=True,
        velocity_filter=_VELOCITY_FILTER,
    )  # fmt: skip


def problem_of(
    group: WindowGroup,
    params: ParameterDict,
    pool: RolloutPool,
    noise: Mapping[str, float] | None = None,
) -> WindowedProblem:
    """The problem of some windows, with the first noise levels where none are known."""
    levels = first_noise([group], {}) if noise is None else noise
    problem = WindowedProblem([group], params, pool, loss=loss_named("linear"), noise=levels)
    return tolerating(problem)


def fitted(
    problem: WindowedProblem,
    point: Point | None = None,
    *,
    patient: bool = False,
    chords: bool = False,
) -> tuple[WindowedProblem, Point, bool]:
    """The windows after a fit, and whether it came to its end.

    Noise levels are what each part of it left, a step or, if it is patient, a search. With
    ``chords`` every other step is taken with the derivatives of the one before it, which goes about
    as far and costs simulations only.
    """
    point, settled = problem.initial_point() if point is None else point, False
    damping, known = INITIAL_DAMPING, point
    for left in reversed(range(2 if patient else _ROUNDS)):
        before, weighed = point, problem
        cost = math.nan if patient or left else problem.cost(point)  # it was simulated just now
        if patient:
            solution = minimize(problem, point, _TO_THE_END)
            settled = solution.iterations < _TO_THE_END.max_iterations
            point = solution.point
        else:
            known = known if chords and left % 2 == 0 and _is_linearized(problem, known) else before
            near = problem if known is before else Chord(problem, [*problem.window_rows(known)])
            point = one_step(near, before, replace(_ONE_STEP, damping=damping))
            # As in a search, without which steps creep where parameters are alike.
            damping *= _DAMPED_MORE if point is before else _LESS_DAMPED
        problem = with_noise_left(problem, point)
    if not patient:
        settled = 0.0 < cost - weighed.cost(point) <= _TO_THE_END.cost_tolerance * cost
    return problem, point, settled


def _is_linearized(problem: WindowedProblem, point: Point) -> bool:
    """Return whether the derivatives at a point are still kept."""
    return problem.linearized is not None and problem.linearized.is_at(point)


def with_noise_left(problem: WindowedProblem, point: Point) -> WindowedProblem:
    """The problem whose noise levels are what a point leaves of each signal."""
    noise = dict(problem.noise)
    for name, (square, count) in squares_left(problem, point).items():
        unexplained = math.sqrt(square / max(count, 1))
        if math.isfinite(unexplained):
            noise[name] = max(unexplained, 1e-6 * noise[name])
    return problem.with_noise(noise)
