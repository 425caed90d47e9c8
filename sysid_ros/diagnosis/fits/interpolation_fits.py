# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Interpolations of a command, compared by what a fit with each leaves of the motion.

A few windows are fitted as recorded by a few steps, once for all topics. Their derivatives say what
one more step would leave with each method between the commands of one: where none would explain
more than another, the motion does not tell. Otherwise that fit goes on to its end, and from there
each method is fitted once more: with the derivatives of the first, which other methods hardly
change, until they find no more (the chord method), and with their own until no step promises much
of what a method lacks to the best. Which of two methods explains more is judged by the differences
of what they leave, window by window, as of models of which neither contains the other (Vuong,
Econometrica 57, 1989), by ranks, since fast windows tell many times as much as others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, permutations

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.diagnosis.fits.fitted_windows import (
    STEEP,
    fitted,
    problem_of,
    well_covered,
    windows_of,
    with_noise_left,
)
from sysid_ros.engine.estimation import beats, without_noise
from sysid_ros.engine.least_squares import (
    FitStatus,
    Point,
    SolverSettings,
    expected_gains,
    minimize,
)
from sysid_ros.engine.parameters import ParameterDict, corrects
from sysid_ros.engine.problem import Chord, WindowedProblem, in_units_of_noise
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.windows import (
    WindowBatch,
    WindowGroup,
    WindowSimulation,
    driven_otherwise,
)
from sysid_ros.errors import SysidError

_LENGTH, _SHORTEST = 0.5, 0.25  # s, of a window, and where longer ones are too dear
_FEWEST, _MOST = 8, 12  # windows
_WORK = 9.5e6  # steps of simulation, times columns of the Jacobian, times degrees of freedom
_TIED = 3.0  # times as dear where bodies touch or loops close
_AGAIN = SolverSettings(
    max_iterations=20, cost_tolerance=1e-3, growth=STEEP
)  # less changes no verdict
_RECORDED = replace(_AGAIN, cost_tolerance=3e-3, worth=1.0, damping=1e-5)
_GLANCE = replace(_AGAIN, cost_tolerance=3e-3, worth=1.0, refusals=2)
_GAINS = 0.1  # of what a method lacks to the best, that a step of its fit to the end has to promise
_FAR, _NEARER = 1.5, 0.5  # ratio of squares, and what a step has to promise of the way to it
_ROUNDS = 3
_DOUBTED = 0.5  # of the model's errors, beyond which one method may explain more than another
_KNOWN = 1.5  # times what a fit leaves of a signal, up to which its noise level is known
_ALIKE = 1.03  # ratio of squares up to which no method beats another


@dataclass(frozen=True)
class InterpolationScores:
    """Squares that methods of interpolation leave of each window, in units of noise."""

    left: Mapping[str, FloatArray]  # by method, (w,)
    errors: Mapping[str, float]  # those that errors of the model may make up for, by method

    def size(self, method: str) -> float:
        """Ratio of what a method leaves to what the best does, root mean squares."""
        least = min(float(one.sum()) for one in self.left.values())
        return math.sqrt(float(self.left[method].sum()) / max(least, 1e-300))

    def beats(self, method: str, other: str) -> bool:
        """Return whether a method explains more than another, beyond chance and errors of both."""
        less, more = self.left[method], self.left[other]
        return beats(less, more) and beats(less, more, self.errors[method])

    @property
    def tells(self) -> bool:
        """Return whether any method explains more than another."""
        return any(self.beats(*pair) for pair in permutations(self.left, 2))

    @property
    def best(self) -> str:
        """The method that leaves least."""
        return min(self.left, key=lambda method: float(self.left[method].sum()))


class DearError(SysidError):
    """The windows that would tell methods apart take too long with a model."""


@dataclass(frozen=True)
class RecordedFit:
    """Windows that are fitted with all commands as the experiment has them."""

    problem: WindowedProblem  # with the noise levels that the fit leaves
    found: Point  # where it ended
    rows: Sequence[FloatArray]  # ``[J_theta J_start r]`` of each window there, in units of noise
    # cuts these windows out of the same recordings with other commands
    chosen: Callable[[ModelSequences], WindowGroup]
    # share of the usual time that an answer is worth; errors of the model count more as often as it
    # is less
    worth: float = 1.0
    ends: bool = True  # whether the fit comes to an end at all

    @classmethod
    def of(
        cls,
        sequences: ModelSequences,
        params: ParameterDict,
        pool: RolloutPool,
        worth: float = 1.0,
    ) -> RecordedFit | None:
        """Fit some windows by a few steps; none where they are too few, or derivatives inexact.

        Args:
          sequences: As the experiment has them.
          params: What a fit finds, delays of commands among them.
          pool: Where simulations run.
          worth: Share of the usual time that an answer is worth.

        Raises:
          DearError: So few windows as would do are too dear.
          DataError: There is no usable window.
        """
        group = windows_of(sequences, params, _LENGTH)
        problem = problem_of(group.select([0]), params, pool)
        if not all(one is not None and not one.gave_up for one in problem.exact):
            return None
        length, most = _afforded(group.batches[0], params, worth)
        group = group if length == _LENGTH else windows_of(sequences, params, length)
        count = len(group.windows)
        if count < _FEWEST:
            return None
        if (covered := well_covered(group, min(most, count), params, pool)) is None:
            return None
        problem, places = covered
        (group,) = problem.groups

        def chosen(others: ModelSequences) -> WindowGroup:
            told = _driven_otherwise(group, others)
            return told or windows_of(others, params, length).select(places)

        problem, point, _ = fitted(problem)
        return cls(problem, point, [*problem.window_rows(point)], chosen, worth)

    @property
    def values(self) -> dict[str, float]:
        """The values of parameters where it went, as far as it did, by name."""
        last = vars(self).get("_ended", self)
        return dict(zip(last.problem.params.scalar_names(), last.found.theta.tolist(), strict=True))

    @cached_property
    def _ended(self) -> RecordedFit:
        """The fit at its end, or where it is left as it comes to none."""
        problem, point = self.problem, self.found
        for _ in range(_ROUNDS):
            solution = minimize(problem, point, _RECORDED)
            if solution.status is not FitStatus.CONVERGED:
                return replace(self, found=solution.point, ends=False)
            weighed, point = problem.noise, solution.point
            problem = with_noise_left(problem, point)
            if all(weighed[name] <= _KNOWN * level for name, level in problem.noise.items()):
                break
        rows = [*problem.window_rows(point)]
        return replace(self, problem=problem, found=point, rows=rows)

    def compared(
        self, others: Mapping[str, ModelSequences], later: Mapping[str, float],
        inputs: Collection[str],
    ) -> InterpolationScores | None:  # fmt: skip
        """Fit the windows with each method for some commands; none where a fit does not end soon.

        Args:
          others: The recordings with these commands joined in other methods.
          later: By method the delay [s] with which it does about the same, over that of others; the
            experiment's method comes first.
          inputs: Names of the commands.

        Raises:
          DataError: There is no usable window.
        """
        driven = {
            method: self.problem.with_groups([self.chosen(told)], "auto")
            for method, told in others.items()
        }
        delayed = _delays(self.problem.params, inputs)
        added = {method: np.where(delayed, late, 0.0) for method, late in later.items()}
        fit = self
        for stage in self._stages():
            if not stage.ends:
                return None
            fit = stage
            known = {method: one.with_noise(fit.problem.noise) for method, one in driven.items()}
            problems = {method: known.get(method, fit.problem) for method in later}
            if (foreseen := fit._foreseen(problems, added)) is not None:
                return foreseen
        points = _fitted_alike(problems, fit.found, fit.rows, added)
        if points is None:
            return None
        return InterpolationScores(
            {method: _squares(problems[method], own) for method, own in points.items()},
            {
                method: without_noise(problems[method], at) / self.worth
                for method, at in points.items()
            },
        )

    def _stages(self) -> Iterator[RecordedFit]:
        """The fit as it is, and at its end."""
        yield self
        yield self._ended

    def _foreseen(
        self, problems: Mapping[str, WindowedProblem], added: Mapping[str, FloatArray]
    ) -> InterpolationScores | None:
        """Squares that one more step with these derivatives would leave, if no method tells more.

        Args:
          problems: By method, alike but for what commands do; the first is the one that was fitted.
          added: By method, what is added to parameters, (p,).

        Returns:
          None where the motion may tell, or the step goes further than noise levels are known for.
        """
        begun, *_ = problems
        left: dict[str, FloatArray] = {}
        for method, problem in problems.items():
            at = _moved(problem, self.found, added[method] - added[begun])
            here = _squares(problem, at)
            if not np.isfinite(here).all():
                return None
            left[method] = here - 2.0 * expected_gains(Chord(problem, self.rows), at)
            if method == begun and here.sum() > _KNOWN**2 * left[method].sum():
                return None
        errors = without_noise(self.problem, self.found) / self.worth
        if InterpolationScores(left, dict.fromkeys(left, _DOUBTED * errors)).tells:
            return None
        return InterpolationScores(left, dict.fromkeys(left, errors))


def _afforded(batch: WindowBatch, params: ParameterDict, worth: float) -> tuple[float, int]:
    """The length [s] and the number of windows that a usual time allows, counted, not measured.

    Args:
      batch: Some windows.
      params: What is fitted.
      worth: Share of that time.

    Raises:
      DearError: Even the fewest and shortest are too dear.
    """
    model = batch.model
    touching = np.any(model.geom_contype) or np.any(model.geom_conaffinity)
    step = model.nv * (params.size + batch.spread.shape[1])
    step *= _TIED if touching or model.neq else 1.0
    motion = worth * _WORK * float(model.opt.timestep) / step
    length = min(_LENGTH, motion / _FEWEST)
    if length < _SHORTEST:
        raise DearError(
            f"{_FEWEST} windows of {_SHORTEST:g} s of a model with {model.nv} degrees of freedom "
            "take too long to fit"
        )
    return length, min(round(motion / length), _MOST)


def _fitted_alike(
    problems: Mapping[str, WindowedProblem],
    found: Point,
    rows: Sequence[FloatArray],
    later: Mapping[str, FloatArray],
) -> dict[str, Point] | None:
    """Fit all problems but the first from where that or the best of them ended.

    Where one fit ends others end as well, if they are no worse there: from where one that is much
    better ended all begin once more.

    Args:
      problems: By method, alike but for what commands do.
      found: Where a fit of the first ended.
      rows: ``[J_theta J_start r]`` of its windows there.
      later: By method, what is added to parameters, (p,).

    Returns:
      By method the point with the least cost; none where a fit does not end soon, or diverges.
    """
    begun, *others = problems
    points, costs = {begun: found}, {begun: problems[begun].cost(found)}
    for _ in range(_ROUNDS):
        left, moved = points[begun], []
        for method in others:
            at = _moved(problems[method], left, later[method] - later[begun])
            near = minimize(Chord(problems[method], rows), at, _GLANCE).point
            if (cost := problems[method].cost(near)) < costs.get(method, math.inf):
                points[method], costs[method] = near, cost
                moved.append(method)
            if method not in points:  # the simulation flies apart
                return None
        if max(costs.values()) <= _ALIKE * min(costs.values()):
            break
        for method in moved:  # the others have been fitted to the end
            ratio = min(costs.values()) / max(costs[method], 1e-300)
            least = max(_GAINS * (1.0 - ratio), _NEARER * (1.0 - _FAR * ratio))
            tolerance = max(_AGAIN.cost_tolerance, least)
            settings = replace(_AGAIN, cost_tolerance=tolerance, worth=1.0)
            solution = minimize(problems[method], points[method], settings)
            if solution.status is not FitStatus.CONVERGED:
                return None
            points[method], costs[method] = solution.point, problems[method].cost(solution.point)
        best = min(costs, key=costs.__getitem__)
        if costs[begun] <= _ALIKE * costs[best]:
            break
        begun, others = best, [method for method in problems if method != best]
        rows = [*problems[begun].window_rows(points[begun])]
    return points


def _moved(problem: WindowedProblem, point: Point, change: FloatArray) -> Point:
    """A point with parameters changed, within their bounds."""
    return Point(np.clip(point.theta + change, problem.lower, problem.upper), point.starts)


def _driven_otherwise(group: WindowGroup, others: ModelSequences) -> WindowGroup | None:
    """The same windows with other commands; none where their starts hang on commands."""
    windows: list[WindowSimulation] = []
    for number, own in groupby(group.windows, key=lambda one: one.sequence.number):
        found = driven_otherwise([*own], others.control[number])
        if found is None:
            return None
        windows += found
    return WindowGroup.of(group.builder, windows)


def _delays(params: ParameterDict, inputs: Collection[str]) -> BoolArray:
    """Mark the free parameters that are delays of some inputs, (p,)."""
    marks: list[bool] = []
    for one in params.values():
        labels = corrects(one, "delay")
        marks += [] if one.frozen else [bool(labels) and {*labels} <= {*inputs}] * one.size
    return np.array(marks, dtype=np.bool_)


def _squares(problem: WindowedProblem, point: Point) -> FloatArray:
    """Squares that are left in each window, its start's among them, (w,)."""
    return np.array([float(one @ one) for one in in_units_of_noise(problem, point)])
