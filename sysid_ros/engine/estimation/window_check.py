# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Does an estimate depend on how long the windows are, and on which half of the recordings?

Short windows hide what acts slowly, and their estimated starts absorb what friction does; long ones
let errors of the model grow, and joints stick or slip where the robot's do not. A model that is
right has estimates that agree. So a few Gauss-Newton steps are taken from the estimate with the
recordings cut otherwise, which costs a fraction of a fit each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.alternatives import groups_of
from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.estimation.fit_settings import FitSettings, SignalNoise
from sysid_ros.engine.estimation.fit_start import problem_of
from sysid_ros.engine.estimation.window_sample import searched
from sysid_ros.engine.least_squares import Point, SolverSettings
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem import AddedRows, WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool, single_blas_thread
from sysid_ros.engine.uncertainty import (
    ParameterEstimate,
    estimated_noise,
    estimates,
    uncertainty_of,
)
from sysid_ros.errors import StopRequestedError, SysidError, listed
from sysid_ros.time_intervals import union

LENGTHS = (0.5, 1.0, None)  # s; None: whole recordings
ROUNDS, STEPS = 2, 4  # noise levels first as in the fit, then of these windows; steps of each
TOLERANCE = 1e-3  # relative decrease of the cost that ends a round
LEVEL = 0.95
ALIKE = 1.1  # times the least error: such values predict alike


@dataclass(frozen=True)
class WindowEstimate:
    """The estimates from recordings that are cut in one way."""

    cut: str  # how, such as ``"windows of 0.5 s"``
    # whether these are halves of the recordings, rather than windows of another length
    is_half: bool
    values: FloatArray  # the estimates, (p,), in the parameters' units
    lower: FloatArray  # where each 95 % interval begins, (p,), NaN where none is claimed
    upper: FloatArray  # where it ends, likewise
    # open-loop error of these values on what is scored; NaN where nothing was
    error: float = math.nan
    problem: str = ""  # why there are none; the estimates are NaN then. Empty where there are


@dataclass(frozen=True)
class WindowCheck:
    """Estimates over lengths of windows and over halves of the recordings, the fit's own first."""

    names: tuple[str, ...]  # the free scalars, (p,)
    units: tuple[str, ...]  # their units
    estimates: tuple[WindowEstimate, ...]  # by cut
    unit: str = ""  # of the errors
    scored_on: str = ""  # ``"held out"`` or ``"training"``; empty where nothing was scored

    @property
    def possible(self) -> tuple[WindowEstimate, ...]:
        """Those that there are."""
        return tuple(each for each in self.estimates if not each.problem)

    def apart(self, one: WindowEstimate, other: WindowEstimate) -> tuple[str, ...]:
        """Parameters of which the intervals of two estimates do not overlap."""
        with np.errstate(invalid="ignore"):
            away = (one.upper < other.lower) | (other.upper < one.lower)
        return tuple(name for name, is_away in zip(self.names, away, strict=True) if is_away)

    @property
    def trusted(self) -> tuple[WindowEstimate, ...]:
        """Of the lengths those whose values predict about as well as any; none without a score."""
        lengths = [each for each in self.possible if not each.is_half]
        errors = np.array([each.error for each in lengths])
        if self.scored_on != "held out" or not np.any(np.isfinite(errors)):
            return ()
        best = ALIKE * np.nanmin(errors)
        return tuple(each for each, error in zip(lengths, errors, strict=True) if error <= best)

    def sentences(self) -> tuple[str, ...]:
        """Say whether the cuts agree, and which length can be trusted."""
        own = self.estimates[0]
        said = [
            f"Estimates from {each.cut} and from {own.cut} are apart: {listed(apart)}."
            for each in self.possible[1:]
            if (apart := self.apart(own, each))
        ]
        said += [
            f"There are none from {one.cut}: {one.problem}."
            for one in self.estimates
            if one.problem
        ]
        agreeing = [each.cut for each in self.possible[1:] if not self.apart(own, each)]
        if agreeing:
            said.insert(0, f"With {own.cut} agree within their intervals: {_all(agreeing)}.")
        return (*said, *self._halves(), self._which())

    def warnings(self) -> tuple[str, ...]:
        """Say what speaks against the fit's own windows or for a change of the robot, if any."""
        own, trusted = self.estimates[0], self.trusted
        lengths = [each for each in self.possible[1:] if not each.is_half]
        apart = not trusted and any(self.apart(own, each) for each in lengths)
        doubted = apart or (trusted and all(each is not own for each in trusted))
        return (*self._halves(), *((self._which(),) if doubted else ()))

    def _halves(self) -> tuple[str, ...]:
        """Say that the halves of the recordings are apart, if they are."""
        halves = [each for each in self.possible if each.is_half]
        apart = self.apart(*halves) if len(halves) > 1 else ()
        if not apart:
            return ()
        return (
            f"Estimates from the halves of the recordings are apart ({listed(apart)}): the robot "
            "has changed, or each half reveals other effects that the model lacks.",
        )

    def _which(self) -> str:
        """Say which length can be trusted, and why."""
        trusted = self.trusted
        if not trusted:
            return (
                "Which length of windows can be trusted only recordings that are held out can "
                "tell: see validation in the experiment file."
            )
        good = _all(f"{each.cut} ({self._error(each)})" for each in trusted)
        rest = [e for e in self.possible if not e.is_half and all(e is not t for t in trusted)]
        worse = _all(f"{each.cut} {self._error(each)}" for each in rest)
        beside = f"; values from the others predict worse: {worse}" if rest else ""
        return f"By the error on what is held out {good} can be trusted{beside}."

    def _error(self, one: WindowEstimate) -> str:
        return f"{one.error:.3g} {self.unit}".rstrip()


def window_check(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    result: FitResult,
    settings: FitSettings,
    *,
    known: SignalNoise,
    should_stop: Callable[[], bool] | None = None,
    added: AddedRows | None = None,
) -> WindowCheck:
    """Estimate anew with windows of other lengths, and from halves of the recordings.

    Args:
      models_sequences: As they were fitted.
      params: The parameters as before the fit.
      result: What the fit found.
      settings: The settings it was found with.
      known: As for the fit.
      should_stop: Asked while simulating; true leaves out what is not finished.
      added: Rows that the result was found with beside those of simulation, at a time step of zero
        as there.
    """
    finer = added is not None and settings.model_error
    own = _cut(settings.window_length)
    found = [_with_intervals(own, result.parameters, is_half=False)]
    with single_blas_thread(), RolloutPool(settings.threads, should_stop=should_stop) as rollouts:
        for cut, is_half, some, other in _cuts(models_sequences, settings):
            try:
                groups = groups_of(some, params, other, extrapolated=finer)
                problem = problem_of(groups, params, rollouts, other, dict(result.noise), added)
                found.append(_estimated(problem, result, settings, known, cut, is_half))
            except StopRequestedError:
                break
            except (SysidError, np.linalg.LinAlgError) as error:  # such as too short recordings
                nothing = np.full(len(result.parameters), math.nan)
                found.append(
                    WindowEstimate(cut, is_half, nothing, nothing, nothing, problem=str(error))
                )
    names = tuple(p.name for p in result.parameters)
    return WindowCheck(names, tuple(p.unit for p in result.parameters), tuple(found))


def _cuts(
    models_sequences: Sequence[ModelSequences], settings: FitSettings
) -> Iterator[tuple[str, bool, Sequence[ModelSequences], FitSettings]]:
    """Every other cut: in words, whether it is a half, and what makes it."""
    series = [one for group in models_sequences for one in group.sensordata]
    longest = max(float(one.times[-1] - one.times[0]) for one in series)
    own = settings.window_length
    for length in LENGTHS:
        if _whole(length, longest) and _whole(own, longest):
            continue
        if length == own or (length is not None and length >= longest):
            continue
        yield _cut(length), False, models_sequences, replace(settings, window_length=length)
    for k, cut in enumerate(("the first halves", "the second halves")):
        yield cut, True, [_half(group, second=bool(k)) for group in models_sequences], settings


def _half(group: ModelSequences, *, second: bool) -> ModelSequences:
    gaps = []
    for known, series in zip(group.gaps, group.sensordata, strict=True):
        middle = 0.5 * float(series.times[0] + series.times[-1])
        other = (-math.inf, middle) if second else (middle, math.inf)
        gaps.append(union([*known, other]))
    return group.replaced(gaps=gaps)


def _whole(length: float | None, longest: float) -> bool:
    return length is None or length >= longest


def _all(parts: Iterable[str]) -> str:
    return listed(parts, None, last=" and ")


def _cut(length: float | None) -> str:
    return "whole recordings" if length is None else f"windows of {length:.3g} s"


def _estimated(
    problem: WindowedProblem,
    result: FitResult,
    settings: FitSettings,
    known: SignalNoise,
    cut: str,
    is_half: bool,
) -> WindowEstimate:
    """Some steps from the estimate; errors that noise does not explain are those of the fit."""
    point = Point(result.values, problem.initial_point().starts)
    problem.check_derivatives(point)
    few = SolverSettings(max_iterations=STEPS, cost_tolerance=TOLERANCE, worth=1.0)
    for _ in range(ROUNDS):
        solution = searched(problem, point, few)
        if solution.linearization is None:
            raise StopRequestedError("the estimate was stopped")
        point = solution.point
        problem.noise = estimated_noise(problem, solution.linearization, known.levels)
    solution = replace(solution, linearization=problem.linearize(point))  # at these levels
    uncertainty = uncertainty_of(problem, solution, settings.intervals)
    found = estimates(problem.params, point.theta, uncertainty)
    widened = [_widened(one, own) for one, own in zip(found, result.parameters, strict=True)]
    return _with_intervals(cut, widened, is_half=is_half)


def _widened(one: ParameterEstimate, own: ParameterEstimate) -> ParameterEstimate:
    """An estimate with the fit's error that noise does not explain."""
    if one.standard_error is None:
        return one
    return replace(one, standard_error=math.hypot(one.standard_error, own.systematic))


def _with_intervals(
    cut: str, found: Sequence[ParameterEstimate], *, is_half: bool
) -> WindowEstimate:
    intervals = np.array([each.interval(LEVEL) or (math.nan, math.nan) for each in found])
    values = np.array([each.value for each in found])
    return WindowEstimate(cut, is_half, values, intervals[:, 0], intervals[:, 1])
