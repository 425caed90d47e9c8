# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Levenberg-Marquardt within bounds, on the parameters with the windows' starts eliminated.

Each iteration solves

    (A + lambda D - sum_w B_w C_w^-1 B_w^T) dtheta = -(g - sum_w B_w C_w^-1 c_w)

subject to the bounds, and recovers every start's step from its own small system. Damping is
relative to the curvature of each parameter (Marquardt 1963), so that units do not matter; after a
step that went as expected it falls at once, so that a step costs one or two evaluations instead of
a line of trials.

Where the Jacobian is kept, and once a step has brought less than half of what was expected, each is
bent along the curve that the residual follows (geodesic acceleration; Transtrum and Sethna 2012,
"Improvements to the Levenberg-Marquardt algorithm for nonlinear least-squares minimization",
equation 15). That costs one more evaluation, and spares half of the steps where parameters are
determined only together: the valley of the cost is curved then.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares.damped_steps import (
    GOOD_GAIN,
    GROWTH,
    NO_GAIN,
    ROUGHNESS,
    Damping,
    damped_move,
    moved,
)
from sysid_ros.engine.least_squares.gauss_newton import (
    Linearization,
    Point,
    eliminate_starts,
    free_gradient,
)
from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.engine.least_squares.slope_by_chance import Boxed, gain_by_chance, slope_in_errors
from sysid_ros.errors import StopRequestedError

INITIAL_DAMPING = 1e-3
MAX_DAMPING = 1e8
# Of a refused step's length, by curvature: one that is longer is refused without being tried.
SHORTER = 0.8
UNSEEN = 0.5  # of the slope that counts as chance: what is less is not gone after


@dataclass(frozen=True)
class SolverSettings:
    """The limits of a search and the care of its steps."""

    max_iterations: int = 100  # accepted steps at most
    # :func:`time.monotonic` after which no step is begun, or ``None``
    deadline: float | None = None
    # relative decrease of the cost below which the search has converged
    cost_tolerance: float = 1e-6
    step_tolerance: float = 0.0  # length of a step relative to that of the parameters, likewise
    # largest component of the gradient that the bounds leave free, likewise
    gradient_tolerance: float = 0.0
    damping: float = INITIAL_DAMPING  # of the first step
    least_damping: float = 1e-12  # of any step, relative to the curvature
    growth: float = GROWTH  # of the damping, by a refused step
    worth: float = 0.1  # share of the cost tolerance that a step must promise to be tried at all
    # where the cost is rough, the search has converged once the slope is zero to so many standard
    # errors of it (root mean square over the parameters), or once a step fails that promises no
    # more than such a slope would; 0 looks for the lowest point. Residuals are in units of noise
    # then
    chance: float = 0.0
    # of every parameter as far as damping goes, in costs per square of its magnitude: with some,
    # one that the cost hardly depends on does not run to where the linear model knows nothing.
    # Steps that are refused raise it. It leaves the minimum where it is
    least_curvature: float = 0.0
    # of steps from one point that end the search; ``None`` as many as it takes
    refusals: int | None = None


@dataclass(frozen=True)
class Step:
    """An accepted step, or the start."""

    number: int  # accepted steps so far
    point: Point  # where it led
    cost: float  # there
    # largest component there that the bounds leave free, by the parameters' scales
    gradient_norm: float
    damping: float  # of the next step


@dataclass(frozen=True)
class Solution:
    """The point at which a search stopped, and why."""

    point: Point
    linearization: Linearization | None  # None: stopped before the first one was complete
    status: FitStatus
    iterations: int
    message: str


class LeastSquares(Boxed, Protocol):
    """An objective with a Gauss-Newton model."""

    def cost(self, point: Point) -> float:
        """The objective; infinite where it is not defined."""

    def linearize(self, point: Point) -> Linearization:
        """The Gauss-Newton model around ``point``."""


CANCELED = "canceled; the best parameters so far"
_CONVERGED = FitStatus.CONVERGED, "the cost no longer decreases"
_WITHIN_CHANCE = FitStatus.CONVERGED, "the slope is zero to within chance"
_STALLED = FitStatus.STALLED, "no step lowers the cost any further"
_Ending = tuple[FitStatus, str]
_USUAL = SolverSettings()
Found = TypeVar("Found")


def minimize(
    problem: LeastSquares,
    point: Point,
    settings: SolverSettings,
    on_step: Callable[[Step], None] | None = None,
) -> Solution:
    """Minimize the objective from ``point`` within the parameters' bounds.

    ``on_step`` is called after the first linearization and after every accepted step.

    Returns:
      The best point found. An interrupted rollout ends the search with status CANCELED.
    """
    return finished(minimizing(problem, point, settings, on_step))


def minimizing(
    problem: LeastSquares,
    point: Point,
    settings: SolverSettings,
    on_step: Callable[[Step], None] | None = None,
) -> Generator[None, None, Solution]:
    """Minimize as :func:`minimize` does, with a pause after every evaluation."""
    try:
        here = problem.linearize(point)
    except StopRequestedError:
        return Solution(point, None, FitStatus.CANCELED, 0, CANCELED)
    damping = _first_damping(point, settings)
    ending: _Ending | None = None
    number = 0
    while True:
        damping.see(here, settings.least_curvature / problem.scale**2)
        slope = gradient_norm(problem, point, eliminate_starts(here).gradient)
        if on_step is not None:
            on_step(Step(number, point, here.cost, slope, damping.factor))
        yield
        try:
            ending = ending or _ending(settings, number, slope)
            step = None
            if ending is None:
                step, ending = yield from _step(problem, point, here, damping, settings)
            if step is None:
                status, message = ending or _STALLED
                return Solution(point, here, status, number, message)
            ahead = problem.linearize(step)
        except StopRequestedError:
            return Solution(point, here, FitStatus.CANCELED, number, CANCELED)
        if here.cost - ahead.cost <= settings.cost_tolerance * here.cost:
            ending = _CONVERGED
        point, here, number = step, ahead, number + 1


def one_step(problem: LeastSquares, point: Point, settings: SolverSettings = _USUAL) -> Point:
    """The point that the first step of a search leads to; ``point`` where none lowers the cost.

    Raises:
      StopRequestedError: A rollout was interrupted.
    """
    here = problem.linearize(point)
    damping = _first_damping(point, settings)
    damping.see(here, np.zeros(len(point.theta)))
    step, _ = finished(_step(problem, point, here, damping, settings))
    return point if step is None else step


def expected_gains(problem: LeastSquares, point: Point) -> FloatArray:
    """The decreases of the windows' costs that the linear model expects of a first step, (w,).

    Raises:
      StopRequestedError: A rollout was interrupted.
    """
    here, damping = problem.linearize(point), _first_damping(point, _USUAL)
    damping.see(here, np.zeros(len(point.theta)))
    return damped_move(problem, point, here, damping)[2]


def _first_damping(point: Point, settings: SolverSettings) -> Damping:
    scale = np.zeros(len(point.theta))
    return Damping(settings.damping, settings.least_damping, scale, settings.growth)


def finished(steps: Generator[None, None, Found]) -> Found:
    """Go through a computation with pauses, and return what it finds."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Found = end.value
            return found


def gradient_norm(problem: Boxed, point: Point, gradient: FloatArray) -> float:
    """Return the largest scaled gradient component that does not push against an active bound."""
    free = free_gradient(gradient, point.theta, problem.lower, problem.upper)
    return float(np.max(np.abs(free * problem.scale), initial=0.0))


def _ending(settings: SolverSettings, number: int, slope: float) -> _Ending | None:
    """Return how the search ends at a point that was reached, if it does."""
    if slope <= settings.gradient_tolerance and settings.gradient_tolerance > 0.0:
        return FitStatus.CONVERGED, "the gradient vanishes"
    if number >= settings.max_iterations:
        limit = settings.max_iterations
        return FitStatus.MAX_ITERATIONS, f"the limit of {limit} iterations is reached"
    if settings.deadline is not None and time.monotonic() > settings.deadline:
        return FitStatus.TIME_LIMIT, "the time limit has passed"
    return None


def _step(
    problem: LeastSquares,
    point: Point,
    here: Linearization,
    damping: Damping,
    settings: SolverSettings,
) -> Generator[None, None, tuple[Point | None, _Ending | None]]:
    """Return where the next step leads, if anywhere, and how the search ends, if it does.

    There is a pause after every point that is tried.
    """
    size = float(np.linalg.norm(point.theta))
    tolerance = settings.step_tolerance
    refused, plainly, refusals = math.inf, math.inf, 0
    by_chance = gain_by_chance(problem, point, here) if settings.chance else 0.0
    while damping.factor <= MAX_DAMPING:
        move, expected, by_window = damped_move(problem, point, here, damping)
        length = float(np.linalg.norm(np.sqrt(damping.scale) * move.theta))
        if np.linalg.norm(move.theta) < tolerance * (tolerance + size):
            return None, (FitStatus.CONVERGED, "the step vanishes")
        if expected <= settings.worth * settings.cost_tolerance * here.cost:
            return None, _CONVERGED
        if expected <= (UNSEEN * settings.chance) ** 2 * by_chance:
            return None, _WITHIN_CHANCE
        plain = float(np.linalg.norm(move.theta / problem.scale))
        if damping.before is not None and plain > SHORTER * plainly:
            damping.raised_in_vain()
            damping.failed(expected / here.cost)
            continue
        if here.pull is None and length > SHORTER * refused:
            damping.failed(expected / here.cost)
            continue
        refused, plainly, damping.before = length, plain, None
        trial = moved(problem, point, move)
        cost = problem.cost(trial) if here.trial is None else here.trial(trial, by_window)
        gain = (here.cost - cost) / expected
        yield
        ending = None
        if gain < GOOD_GAIN and expected <= ROUGHNESS * here.cost:
            near = slope_in_errors(problem, point, here) <= settings.chance
            ending = _WITHIN_CHANCE if near else None
        if gain > NO_GAIN:
            damping.succeeded(gain)
            return trial, ending
        if ending is None and expected <= settings.chance**2 * by_chance:
            ending = _WITHIN_CHANCE
        if ending is not None:
            return None, ending
        refusals += 1
        if refusals == settings.refusals:
            return None, _STALLED
        damping.failed(expected / here.cost)
    return None, _STALLED
