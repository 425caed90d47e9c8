# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rounds of a fit: optimize, estimate the noise anew, and when it has settled, to the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.alternatives import Alternative
from sysid_ros.engine.estimation.error_growth import growing_errors
from sysid_ros.engine.estimation.fit_landscape import landscapes_of
from sysid_ros.engine.estimation.fit_result import CHAOTIC, MESSAGES, FitResult
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.estimation.fit_start import first_point
from sysid_ros.engine.estimation.fit_state import FitState
from sysid_ros.engine.estimation.friction_parameters import late_components, without_meaningless
from sysid_ros.engine.estimation.model_error import SHARE, model_error
from sysid_ros.engine.estimation.shifts import ModelError, by_derivatives, widened, with_model_error
from sysid_ros.engine.estimation.stalled_windows import TrustedWindows, may_land
from sysid_ros.engine.estimation.stuck_friction import held_by_friction, leap
from sysid_ros.engine.estimation.timing_walk import Walk, can_walk, walk_around
from sysid_ros.engine.estimation.unfinished_search import unfinished_search
from sysid_ros.engine.least_squares import (
    INITIAL_DAMPING,
    LOSSES,
    FitStatus,
    Iteration,
    Linearization,
    Point,
    Solution,
    SolverSettings,
    Step,
)
from sysid_ros.engine.problem import WindowedProblem, minimize_with
from sysid_ros.engine.uncertainty import (
    UNRESOLVED,
    Covariance,
    describe_open_directions,
    estimated_noise,
    estimates,
    is_known,
    residual_sizes,
    uncertainty_of,
)
from sysid_ros.engine.windows import WindowGroup
from sysid_ros.errors import StopRequestedError, SysidError

NOISE_ROUNDS = 3
MOVES = 2  # to places of lower cost that walks find
HELD = 1e-6  # of its scale: how far a parameter may move while it is held
NOISE_SETTLED = 0.05  # relative change of every noise level below which no further round is run
NOISE_TOLERANCE = 1e-3  # relative decrease of the cost that ends a round with unsettled noise
# Standard errors to which the cost's slope is made zero where it is rough: adds 2 % to each error.
CHANCE = 0.2
Told = TypeVar("Told")


@dataclass(frozen=True)
class Listeners:
    """The listeners to a fit's progress."""

    iteration: Callable[[Iteration], None] | None
    state: Callable[[FitState], None] | None


class FitRounds:
    """The rounds of one fit: optimize, re-estimate the noise, repeat until it settles."""

    def __init__(
        self,
        problem: WindowedProblem,
        settings: FitSettings,
        known: SignalNoise,
        listeners: Listeners,
        began: float,
        alternatives: Sequence[Alternative],
        initial: list[FloatArray] | None,
        finer: Callable[[], list[WindowGroup]] | None = None,
    ) -> None:
        self._problem = problem
        self._initial = initial  # residuals with the initial parameters, where they are known
        self._settings = settings
        self._levels = known.levels
        self._alternatives = alternatives
        self._finer = finer  # windows to end the search with, see :meth:`_without_time_step`
        self._listeners = listeners
        self._began = began
        self._trace: list[Iteration] = []
        self._late = late_components(problem.params) & (settings.optimizer == "auto")
        self._flat = problem.loss.redescending
        self._lands = settings.optimizer == "auto" and may_land(problem)
        self._approaching = self._flat or self._lands or bool(self._late.any())
        self._before = 0  # iterations of earlier rounds
        self._walk: Walk | None = None  # around the latest optimum
        self._moves = MOVES
        self._damping = INITIAL_DAMPING  # after the latest step
        self._rounds = NOISE_ROUNDS if self._unknown_noise() else 0
        self._windows = TrustedWindows(problem)

    def run(self, resume: FitState | None, start: FloatArray | None) -> FitResult:
        """Fit with provisional noise levels until they settle, then to full precision."""
        point = first_point(self._problem, start)
        iterations, damping = 0, INITIAL_DAMPING
        if resume is not None:
            point, iterations, damping = resume.point, resume.iteration, resume.damping
            self._restore(resume)
        self._check_derivatives(point)
        if self._approaching:
            approach = self._approach(point, iterations, damping)
            point, damping = approach.point, INITIAL_DAMPING
            iterations += approach.iterations
        while True:
            solution = self._minimize(point, iterations, damping, precise=not self._rounds)
            point, damping = solution.point, max(INITIAL_DAMPING, self._damping)
            iterations += solution.iterations
            stopped = solution.status not in (FitStatus.CONVERGED, FitStatus.STALLED)
            if stopped or solution.linearization is None:
                if solution.status is not FitStatus.CANCELED:
                    self._check_derivatives(point)
                return self._result(solution, iterations)
            trusted = self._with_other_windows(solution)
            if trusted is not None:
                point, damping = trusted, INITIAL_DAMPING
                continue
            if self._rounds < NOISE_ROUNDS:  # noise levels are not those that were guessed at first
                self._windows.leave_unseen(solution.linearization)
            if not self._rounds:
                better = self._better_place(solution, iterations)
                if better is None:
                    further = self._without_time_step(solution, iterations)
                    if further is not None:
                        better, iterations = further.point, iterations + further.iterations
                    elif self._check_derivatives(point):
                        return self._result(solution, iterations)
                    else:  # the search saw residuals that MuJoCo does not confirm
                        better = point
                point, damping = better, INITIAL_DAMPING
                self._rounds = NOISE_ROUNDS if self._unknown_noise() else 0
                continue
            moved = self._update_noise(solution.linearization)
            self._rounds = self._rounds - 1 if moved else 0

    def _with_other_windows(self, solution: Solution) -> Point | None:
        """The point to go on from without windows that hold the search up, or with some again."""
        if self._settings.optimizer != "auto":
            return None
        try:
            point = self._windows.without_hindrance(solution)
            if point is None and not self._rounds:
                point = self._windows.with_returned(solution)
                self._rounds = int(point is not None and self._unknown_noise())
        except StopRequestedError:
            return None
        self._problem = self._windows.problem
        return point

    def _restore(self, state: FitState) -> None:
        """Take over what an earlier run found out, its last step aside, which comes again."""
        self._problem.noise = dict(state.noise)
        self._trace = list(state.trace[:-1])
        self._approaching, self._rounds = state.approaching, state.rounds

    def _approach(self, point: Point, iterations: int, damping: float) -> Solution:
        """Minimize something easier first.

        A convex loss that grows slowly, where far from the optimum the wanted one is flat, or where
        windows may begin beside a touch-down, whose squares are thousands of times those of others
        at first and lead to a second optimum; and without the parameters that say where an effect
        acts as long as its size is not known.
        """
        problem = self._problem
        wanted = problem.loss, problem.lower, problem.upper
        if self._flat or self._lands:
            problem.loss = LOSSES["huber"]
        held = HELD * problem.scale  # the solver needs room between bounds
        problem.lower = np.where(self._late, point.theta - held, problem.lower)
        problem.upper = np.where(self._late, point.theta + held, problem.upper)
        try:
            return self._minimize(point, iterations, damping, precise=False)
        finally:
            problem.loss, problem.lower, problem.upper = wanted
            self._approaching = False

    def _minimize(
        self, point: Point, iterations: int, damping: float, *, precise: bool
    ) -> Solution:
        limit = self._settings.time_limit
        settings = SolverSettings(
            max_iterations=self._settings.max_iterations - iterations,
            deadline=None if limit is None else self._began + limit * self._share_of_search,
            damping=damping,
            chance=CHANCE,
        )
        if not precise:
            # Other levels come next: a step that promises less than the tolerance is left to them.
            settings = replace(settings, cost_tolerance=NOISE_TOLERANCE, worth=1.0, chance=0.0)
        self._before = iterations
        return minimize_with(self._settings.optimizer, self._problem, point, settings, self._tell)

    @property
    def _share_of_search(self) -> float:
        """The share of a limited time that is left by what says how wrong the result may be."""
        return 1.0 / (1.0 + SHARE) if self._alternatives else 1.0

    def _check_derivatives(self, point: Point) -> bool:
        """Check them; return whether the residuals that a search saw are still MuJoCo's."""
        with suppress(StopRequestedError):  # whoever simulates next is stopped as well
            return self._problem.check_derivatives(point)
        return True

    def _unknown_noise(self) -> bool:
        return any(not is_known(name, self._levels) for name in self._problem.noise)

    def _tell(self, step: Step) -> None:
        """Have the state kept first, so that no step that was announced can be lost."""
        self._damping, params = step.damping, self._problem.params
        noted = Iteration(
            self._before + step.number, step.cost, step.gradient_norm,
            tuple(params.scalar_names()), step.point.theta.copy(), time.monotonic() - self._began,
            tuple(params.scalar_units()),
        )  # fmt: skip
        self._trace.append(noted)
        if self._listeners.state is not None:
            self._listeners.state(self._state(self._windows.whole(step.point), step.damping))
        if self._listeners.iteration is not None:
            self._listeners.iteration(noted)

    def _state(self, point: Point, damping: float) -> FitState:
        return FitState(
            point=point,
            damping=damping,
            iteration=self._trace[-1].iteration,
            approaching=self._approaching,
            rounds=self._rounds,
            noise=dict(self._problem.noise),
            trace=tuple(self._trace),
            elapsed=time.monotonic() - self._began,
        )

    def _better_place(self, solution: Solution, iterations: int) -> Point | None:
        """Return where a leap or a walk finds a lower cost; ``None`` ends the search."""
        problem, self._walk = self._problem, None
        if not self._alternatives:  # a walk is of what is beyond noise
            return None
        if self._no_time(solution) or iterations >= self._settings.max_iterations:
            return None
        try:
            if self._moves and (place := leap(problem, solution)) is not None:
                self._moves -= 1
                return place
            if not can_walk(problem):
                return None
            errors = uncertainty_of(problem, solution, self._settings.intervals).errors
            optimum = problem.linearized
            found = walk_around(problem, solution, errors)
            problem.linearized = optimum  # which the result asks for next
        except StopRequestedError:
            return None
        if found.lower is not None and self._moves:
            self._moves -= 1
            return found.lower
        self._walk = found
        return None

    def _without_time_step(self, solution: Solution, iterations: int) -> Solution | None:
        """The optimum of residuals as they would be at a time step of zero.

        What the time step does to simulated motion is no noise. Rows that know of no time step, as
        those of measured torque, would have to make up for it where they share parameters.
        ``None`` where that is not asked for, or explains the data worse, as it does where friction
        or contacts make what a time step does a matter of chance.
        """
        finer, self._finer = self._finer, None
        if finer is None or solution.linearization is None or self._no_time(solution):
            return None
        if self._windows.left_out:
            return None
        problem = self._problem
        try:
            self._problem = problem.with_groups(finer(), engine=problem.engine)
            self._windows = TrustedWindows(self._problem)
            self._check_derivatives(solution.point)
            found = self._minimize(solution.point, iterations, INITIAL_DAMPING, precise=False)
        except SysidError:
            found = None
        system = None if found is None else found.linearization
        if found is None or system is None or system.cost > solution.linearization.cost:
            self._problem, self._windows = problem, TrustedWindows(problem)
            return None
        self._alternatives = [one.of_no_time_step() for one in self._alternatives]
        return found

    def _update_noise(self, linearization: Linearization) -> bool:
        """Re-estimate unknown noise levels; whether any moved enough for another round."""
        before = self._problem.noise
        noise = estimated_noise(self._problem, linearization, self._levels)
        self._problem.noise = noise
        return any(abs(noise[name] / before[name] - 1.0) > NOISE_SETTLED for name in noise)

    def _result(self, solution: Solution, iterations: int) -> FitResult:
        problem = self._problem
        uncertainty = uncertainty_of(problem, solution, self._settings.intervals)
        residuals = self._of_the_end(residual_sizes, solution) or {}  # while the rollouts are known
        growing = self._of_the_end(growing_errors, solution)
        beyond_noise = self._model_error(solution, uncertainty)
        if beyond_noise is not None:
            uncertainty = widened(uncertainty, beyond_noise)
        status, message = solution.status, MESSAGES[solution.status]
        if uncertainty.method == UNRESOLVED:
            message = CHAOTIC
            if status is FitStatus.CONVERGED:  # nowhere can be told from an optimum
                status = FitStatus.STALLED
        parameters = estimates(problem.params, solution.point.theta, uncertainty)
        if beyond_noise is not None:
            parameters = with_model_error(parameters, beyond_noise)
        return FitResult(
            status=status,
            message=message + self._windows.in_words(),
            parameters=without_meaningless(parameters, problem.params),
            covariance=uncertainty.matrix,
            cost_initial=self._initial_cost(solution),
            cost_final=solution.linearization.cost if solution.linearization else math.nan,
            iterations=iterations,
            evaluations=problem.evaluations,
            jacobians=problem.jacobians,
            elapsed=time.monotonic() - self._began,
            trace=tuple(self._trace),
            noise=dict(problem.noise),
            interval_method=uncertainty.method,
            singular_values=uncertainty.singular_values,
            unidentifiable=describe_open_directions(
                uncertainty,
                problem.params.scalar_names(),
                solution.point.theta,
                problem.bounds.width,
            ),
            optimizer=self._settings.optimizer,
            landscapes=landscapes_of(problem, solution, uncertainty, self._settings.landscapes),
            derivatives=problem.derivative_sources(),
            simulated=problem.simulator.used,
            model_error=beyond_noise,
            residuals=residuals,
            growing=growing,
        )

    def _model_error(self, solution: Solution, uncertainty: Covariance) -> ModelError | None:
        """None of a fit that was stopped, and no more than there is time left for."""
        if not self._alternatives or np.isnan(uncertainty.errors).all():
            return None
        found = None
        if not self._no_time(solution):
            found = model_error(
                self._problem, solution, uncertainty, self._alternatives, self._walk,
                self._windows.left_out,
            )  # fmt: skip
        known = found or ModelError(np.ones(len(uncertainty.errors)), uncertainty.errors, ())
        errors = np.hypot(uncertainty.errors, known.systematic)
        rest = (
            unfinished_search(self._problem, solution, uncertainty),
            held_by_friction(self._problem, solution.point.theta, errors),
            *(by_derivatives(self._problem, solution, uncertainty) if found else ()),
        )
        more = tuple(shift for shift in rest if shift is not None)
        return replace(known, shifts=(*known.shifts, *more)) if more else found

    def _no_time(self, solution: Solution) -> bool:
        """Return whether there is no time for what is beyond noise."""
        limit, spent = self._settings.time_limit, time.monotonic() - self._began
        return solution.status is FitStatus.CANCELED or (limit is not None and spent > limit)

    def _of_the_end(
        self, ask: Callable[[WindowedProblem, Point], Told], solution: Solution
    ) -> Told | None:
        """``None`` of a fit that was stopped: whoever stops it does not wait."""
        if solution.status is FitStatus.CANCELED:
            return None
        with suppress(StopRequestedError):
            return ask(self._problem, solution.point)
        return None

    def _initial_cost(self, solution: Solution) -> float:
        """The start's cost with the final noise levels, so that both costs compare."""
        if solution.status is not FitStatus.CANCELED:
            point = self._problem.initial_point()
            if self._initial is not None:
                initial = [self._initial[k] for k in self._windows.kept.tolist()]
                return self._problem.cost_of(initial, point)
            with suppress(StopRequestedError):
                return self._problem.cost(point)
        return self._trace[0].cost if self._trace else math.nan
