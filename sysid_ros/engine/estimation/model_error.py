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
1911); elsewhere what is beyond chance, as the scatter of the windows' parts in the shift tells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.estimation.alternatives import Alternative, Gaps
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
    ParameterEstimate,
    influence,
    recording_scatter,
)
from sysid_ros.engine.windows import WindowGroup
from sysid_ros.errors import DataError, StopRequestedError, SysidError

SHARE = 0.25  # of the fit's time that all linearizations together may take
EVALUATION = 0.2  # of a linearization's time
MIN_WINDOWS = 6
MATERIAL = 0.5  # share of the statistical error beyond which a shift is flagged
SCATTERED = 2.0  # factor on the standard error beyond which recordings count as different
BY_CHANCE = 2.0  # standard deviations of a shift that chance alone explains
SAME_INSTANT = 1e-6  # s


@dataclass(frozen=True)
class Shift:
    """The shift of the estimates by one changed choice, to first order.

    Attributes:
      change: What was changed.
      values: By how much, (p,), in the parameters' units; NaN where no error is claimed.
      order: As of the alternative.
      chance: Standard deviation of the shift by noise alone, (p,).
      error: What is added to the standard error, in quadrature, (p,).
      problem: Why it was not possible; empty where it was.
    """

    change: str
    order: float
    values: FloatArray
    chance: FloatArray
    error: FloatArray
    problem: str = ""


@dataclass(frozen=True)
class ModelError:
    """The errors beyond noise of a fit's estimates.

    Attributes:
      scatter: Factor on each standard error because recordings differ, (p,).
      statistical: Standard errors without what is said here, (p,).
      shifts: By changed choice.
    """

    scatter: FloatArray
    statistical: FloatArray
    shifts: tuple[Shift, ...]

    @property
    def systematic(self) -> FloatArray:
        """The part of each standard error that no noise explains, (p,); NaN without a claim."""
        between = (self.scatter**2 - 1.0) * self.statistical**2
        shifts = (np.nan_to_num(shift.error) ** 2 for shift in self.shifts)
        return np.asarray(np.sqrt(sum(shifts, between)))

    def flags(self) -> list[tuple[str, ...]]:
        """Return the flags of each parameter: what moves it, where that is beyond its error."""
        found: list[list[str]] = [[] for _ in self.statistical]
        for shift in self.shifts:
            for j in np.flatnonzero(shift.error > MATERIAL * self.statistical):
                found[j].append(f"moves with {shift.change}")
        for j in np.flatnonzero(self.scatter > SCATTERED):
            found[j].append("differs between recordings")
        return [tuple(flags) for flags in found]


def widened(covariance: Covariance, found: ModelError) -> Covariance:
    """The covariance with the systematic errors added; correlations stay as they are."""
    errors = np.hypot(covariance.errors, np.nan_to_num(found.systematic))
    factor = errors / np.where(covariance.errors > 0.0, covariance.errors, np.inf)
    factor = np.where(np.isfinite(factor) & (factor > 0.0), factor, 1.0)
    return replace(covariance, matrix=covariance.matrix * np.outer(factor, factor), errors=errors)


def with_model_error(
    estimates: Sequence[ParameterEstimate], found: ModelError
) -> tuple[ParameterEstimate, ...]:
    """The estimates, flagged and with their values extrapolated to a time step of zero."""
    parameters = []
    for j, (parameter, flags) in enumerate(zip(estimates, found.flags(), strict=True)):
        if parameter.standard_error is not None:
            extrapolated = [
                float(
                    np.clip(
                        parameter.value + s.order * s.values[j], parameter.lower, parameter.upper
                    )
                )
                for s in found.shifts
                if s.order > 0.0 and np.isfinite(s.values[j])
            ]
            parameter = replace(
                parameter,
                flags=(*parameter.flags, *flags),
                systematic=float(found.systematic[j]),
                extrapolated=extrapolated[0] if extrapolated else None,
            )
        parameters.append(parameter)
    return tuple(parameters)


def model_error_sentences(
    parameters: Sequence[ParameterEstimate], found: ModelError
) -> tuple[str, ...]:
    """Return one sentence per choice that moves estimates beyond their errors."""
    said = []
    for shift in found.shifts:
        moved = [
            f"{p.name} {shift.values[j]:+.2g} {p.unit}".rstrip()
            for j, p in enumerate(parameters)
            if f"moves with {shift.change}" in p.flags
        ]
        if moved:
            remedy = (
                "their error at this time step is in the intervals; a shorter one would narrow them"
                if shift.order > 0.0
                else "that is in the intervals; the model lacks something that this choice hides"
            )
            said.append(f"With {shift.change} estimates move ({_some(moved)}): {remedy}.")
    apart = [p.name for p in parameters if "differs between recordings" in p.flags]
    if apart:
        said.append(
            f"Recordings differ by more than their windows do ({_some(apart)}): that is in the "
            "intervals; the model lacks something, or the robot has changed between them."
        )
    return tuple(said)


def _some(texts: Sequence[str]) -> str:
    """The first few of many."""
    return f"{', '.join(texts[:4])}{', ...' if texts[4:] else ''}"


def model_error(
    problem: WindowedProblem,
    solution: Solution,
    covariance: Covariance,
    alternatives: Sequence[Alternative],
    gaps: Gaps,
) -> ModelError:
    """Find out what an estimate depends on that it should not.

    Args:
      problem: The problem.
      solution: Its optimum, with a linearization.
      covariance: The statistical uncertainty there.
      alternatives: What to change; fewer are tried if the rollouts are asked to stop.
      gaps: Stretches without controls by sequence name, s.

    Returns:
      Shifts, and the scatter between recordings.
    """
    base = _Base.at(problem, solution)
    p = len(base.precision)
    chosen = np.flatnonzero(np.isfinite(np.diag(covariance.matrix)))
    scatter = np.ones(p)
    scatter[chosen] = recording_scatter(
        base.part(np.arange(len(base.places))),
        chosen,
        covariance.errors[chosen],
        [place.recording for place in base.places],
    )
    used = _sample(problem, alternatives)
    shifts = []
    for alternative in alternatives if chosen.size else ():
        try:
            shifts.append(_shift(base, alternative, used, chosen, gaps))
        except StopRequestedError:
            break
        except (SysidError, np.linalg.LinAlgError) as error:
            nothing = np.full(p, math.nan)
            shifts.append(
                Shift(alternative.change, alternative.order, nothing, nothing, nothing, str(error))
            )
    return ModelError(scatter, covariance.errors, tuple(shifts))


@dataclass(frozen=True)
class _Place:
    """The recording that a window is cut from, and its first instant."""

    recording: tuple[int, str]
    start: float


def _places(groups: Sequence[WindowGroup]) -> list[_Place]:
    return [
        _Place((i, window.sequence.name), window.window.start)
        for i, group in enumerate(groups)
        for window in group.windows
    ]


@dataclass(frozen=True)
class _Base:
    """The problem at its optimum.

    Attributes:
      problem: The problem.
      point: The optimum.
      system: Its Gauss-Newton model there, starts eliminated.
      precision: Inverse variances of the parameters' priors, (p,).
      pull: The priors' gradient, (p,).
      places: Of the windows.
    """

    problem: WindowedProblem
    point: Point
    system: ReducedSystem
    precision: FloatArray
    pull: FloatArray
    places: list[_Place]

    @classmethod
    def at(cls, problem: WindowedProblem, solution: Solution) -> _Base:
        """The problem at a solution, which has a linearization."""
        if solution.linearization is None:
            raise ValueError("the solver never got to a Jacobian")
        mean, precision = priors(problem.params)
        return cls(
            problem,
            solution.point,
            eliminate_starts(solution.linearization),
            precision,
            precision * (solution.point.theta - mean),
            _places(problem.groups),
        )

    def part(self, used: IndexArray) -> ReducedSystem:
        """The system of some windows, with their share of the priors."""
        system = self.system
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


def _sample(problem: WindowedProblem, alternatives: Sequence[Alternative]) -> IndexArray:
    """Choose the windows that stand for all, spread evenly, so that the time is kept."""
    n = len(problem.windows)
    cost = sum(alternative.cost for alternative in alternatives)
    allowed = SHARE * (problem.jacobians + EVALUATION * problem.evaluations)
    count = n if cost <= allowed else round(n * allowed / cost)
    count = min(n, max(MIN_WINDOWS, count))
    return np.unique(np.linspace(0.0, n - 1.0, count).round().astype(np.intp))


def _shift(
    base: _Base, alternative: Alternative, used: IndexArray, chosen: IndexArray, gaps: Gaps
) -> Shift:
    """Linearize an alternative at the optimum and compare the Gauss-Newton steps."""
    groups = alternative.groups(base.problem.params, gaps)
    parents = _parents(_places(groups), base.places)
    kept = np.isin(parents, used)
    problem = base.problem.with_groups(_chosen_windows(groups, kept), engine=base.problem.engine)
    parents = parents[kept]
    changed = _linearized(problem, base, alternative, parents)
    if not math.isfinite(changed.cost):
        raise DataError("the simulation diverges")
    reduced = eliminate_starts(changed)
    other = influence(base.of(reduced.window_hessians, reduced.window_gradients, len(used)), chosen)
    own = influence(base.part(used), chosen)
    parts = -own.parts
    np.add.at(parts, np.searchsorted(used, parents), other.parts)
    p = len(base.precision)
    values, chance, error = np.full(p, np.nan), np.full(p, np.nan), np.full(p, np.nan)
    values[chosen] = other.step - own.step
    chance[chosen] = np.sqrt(len(parts) / max(1, len(parts) - 1) * np.sum(parts**2, axis=0))
    if alternative.order > 0.0:
        error[chosen] = alternative.order * np.abs(values[chosen])
    else:
        beyond = np.abs(values) > BY_CHANCE * chance
        error = np.where(beyond, np.sqrt(np.abs(values**2 - chance**2)), 0.0 * values)
    return Shift(alternative.change, alternative.order, values, chance, error)


def _linearized(
    problem: WindowedProblem, base: _Base, alternative: Alternative, parents: IndexArray
) -> Linearization:
    """Linearize an alternative at the optimum, and at starts that suit its windows."""
    theta = base.point.theta
    if alternative.same_starts:
        point = Point(theta, tuple(base.point.starts[parent] for parent in parents))
    else:  # the measured ones are too noisy to linearize at: one step of the starts alone
        point = Point(theta, tuple(np.zeros(window.n_start) for window in problem.windows))
        if any(start.size for start in point.starts):
            grams = problem.linearize(point).grams
            steps = start_solutions(grams, theta.size, 0.0)
            point = Point(theta, tuple(-step[:, -1] for step in steps))
    problem.check_derivatives(point)
    return problem.linearize(point)


def _parents(places: Sequence[_Place], base: Sequence[_Place]) -> IndexArray:
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


def _chosen_windows(groups: Sequence[WindowGroup], kept: BoolArray) -> list[WindowGroup]:
    """The groups with some of their windows only."""
    flags = iter(kept)
    chosen = [[k for k in range(len(group.windows)) if next(flags)] for group in groups]
    return [group.select(places) for group, places in zip(groups, chosen, strict=True) if places]
