# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ways between the samples of a command, compared by what a fit with each leaves of the motion.

A few windows are fitted as recorded, then once more with each way from there: with the derivatives
of the first, which other ways hardly change, until they find no more (the chord method), and with
their own to the end. Which of two ways explains more is judged by the differences of what they
leave, window by window, as of models of which neither contains the other (Vuong, Econometrica 57,
1989), by ranks, since fast windows tell many times as much as others.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.diagnosis.fits.window_scores import fitted
from sysid_ros.engine.least_squares import (
    FitStatus,
    Linearization,
    Point,
    SolverSettings,
    loss_named,
    minimize,
)
from sysid_ros.engine.parameters import ParameterDict, corrects
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.simulation import RolloutPool
from sysid_ros.engine.uncertainty import first_noise
from sysid_ros.engine.windows import WindowGroup, model_group

_VELOCITY_FILTER = 30.0  # Hz
_LENGTH = 0.5  # s, of a window
_FEWEST, _MOST = 8, 16  # windows
_STEPS = 400_000  # of simulation, times columns of the Jacobian
_AGAIN = SolverSettings(max_iterations=20, cost_tolerance=1e-3)  # less changes no verdict
_GLANCE = replace(_AGAIN, cost_tolerance=3e-3, worth=1.0, refusals=1)
_ROUNDS = 3
_SURE = 2.5  # standard deviations of the sum of signed ranks, from which on it is beyond chance
_BETTER = 0.97  # of the squares that one way leaves, that a better one leaves at most
_ALIKE = 1.02  # ratio of squares up to which no fit to the end finds a way that is better


@dataclass(frozen=True)
class Ways:
    """Squares that ways between commands leave of each window, in units of noise, by way."""

    left: Mapping[str, FloatArray]  # (w,)

    def size(self, way: str) -> float:
        """Ratio of what a way leaves to what the best does, root mean squares."""
        least = min(float(one.sum()) for one in self.left.values())
        return math.sqrt(float(self.left[way].sum()) / max(least, 1e-300))

    def beats(self, way: str, other: str) -> bool:
        """Return whether one way explains more than another, beyond chance."""
        more = self.left[other] - self.left[way]
        less = self.left[way].sum() <= _BETTER * self.left[other].sum()
        return bool(less and _signed_rank(more) > _SURE)

    @property
    def best(self) -> str:
        """The way that leaves least."""
        return min(self.left, key=lambda way: float(self.left[way].sum()))


def compared_ways(
    ways: Mapping[str, ModelSequences],
    later: Mapping[str, float],
    params: ParameterDict,
    inputs: Collection[str],
    gaps: Mapping[str, Sequence[tuple[float, float]]],
    pool: RolloutPool,
) -> Ways | None:
    """Fit windows with each way between some commands.

    Without an answer where windows are too few, or too dear, or a fit does not converge soon.

    Args:
      ways: The same sequences with the commands joined in one way or another, first as the
        experiment has them.
      later: By way the delay [s] with which it does about the same, over that of others.
      params: What a fit finds, delays of the commands among them.
      inputs: Names of the commands.
      gaps: Stretches that no window enters, s, by recording.
      pool: Where simulations run.

    Raises:
      DataError: There is no usable window.
    """
    first, *_ = ways
    group = _group(ways[first], params, gaps)
    problem = _problem(group.select([0]), params, pool, first_noise([group], {}))
    if not all(one is not None and not one.gave_up for one in problem.exact):
        return None
    batch, count = group.batches[0], len(group.windows)
    columns = params.size + batch.spread.shape[1]
    most = round(_STEPS * float(batch.model.opt.timestep) / (columns * _LENGTH))
    most = min(max(most, _FEWEST), _MOST, count)
    if most < _FEWEST:
        return None
    places = np.unique(np.linspace(0, count - 1, most).round().astype(int)).tolist()
    problem, point, _ = fitted(_problem(group.select(places), params, pool, problem.noise))
    problems = {first: problem}
    for way, sequences in ways.items():
        if way != first:
            own = _group(sequences, params, gaps).select(places)
            problems[way] = problem.with_groups([own], "auto")
    delayed = _delays(params, inputs)
    added = {way: np.where(delayed, late, 0.0) for way, late in later.items()}
    points = _fitted_alike(problems, point, added)
    if points is None:
        return None
    return Ways({way: _squares(problems[way], own) for way, own in points.items()})


def _fitted_alike(
    problems: Mapping[str, WindowedProblem], point: Point, later: Mapping[str, FloatArray]
) -> dict[str, Point] | None:
    """Fit the first problem from a point, and the others from where that or the best of them ended.

    Where one fit ends others end as well, if they are no worse there.

    Args:
      problems: By way, alike but for what commands do.
      point: That a fit of the first led to.
      later: By way, what is added to parameters, (p,).

    Returns:
      By way the point with the least cost; none where a fit does not end soon, or diverges.
    """
    begun, *others = problems
    solution = minimize(problems[begun], point, _AGAIN)
    points, costs = {begun: solution.point}, {begun: problems[begun].cost(solution.point)}
    ended = solution.status is FitStatus.CONVERGED
    for _ in range(_ROUNDS):
        left = points[begun]
        rows = [*problems[begun].window_rows(left)]
        for way in others:
            theta = left.theta + later[way] - later[begun]
            theta = np.clip(theta, problems[way].lower, problems[way].upper)
            near = minimize(_Chord(problems[way], rows), Point(theta, left.starts), _GLANCE).point
            if (cost := problems[way].cost(near)) < costs.get(way, math.inf):
                points[way], costs[way] = near, cost
            if way not in points:  # the simulation flies apart
                return None
        if max(costs.values()) <= _ALIKE * min(costs.values()):
            break
        for way in others:
            solution = minimize(problems[way], points[way], _AGAIN)
            ended &= solution.status is FitStatus.CONVERGED
            points[way], costs[way] = solution.point, problems[way].cost(solution.point)
        best = min(costs, key=costs.__getitem__)
        if best == begun:
            break
        begun, others = best, [way for way in problems if way != best]
    return points if ended else None


def _signed_rank(differences: FloatArray) -> float:
    """Sum of the signed ranks of differences (n,), in its standard deviations if none matters.

    Wilcoxon, Biometrics Bulletin 1, 1945.
    """
    ranks = 1.0 + np.argsort(np.argsort(np.abs(differences)))
    return float(np.sign(differences) @ ranks) / math.sqrt(float(ranks @ ranks))


class _Chord:
    """The windows of a problem with derivatives of their residuals that are known already.

    Args:
      problem: With a linear loss.
      rows: ``[J_theta J_start r]`` of each window in units of noise, as some point has them.
    """

    def __init__(self, problem: WindowedProblem, rows: Sequence[FloatArray]) -> None:
        self._problem = problem
        self.lower, self.upper, self.scale = problem.lower, problem.upper, problem.scale
        self._slopes = [one[:, :-1] for one in rows]
        self._squares = [one.T @ one for one in rows]

    def cost(self, point: Point) -> float:
        """The objective; infinite where it is not defined."""
        return self._problem.cost(point)

    def linearize(self, point: Point) -> Linearization:
        """The objective at a point, with the derivatives that are known."""
        residuals = _in_units(self._problem, point)
        for square, slopes, one in zip(self._squares, self._slopes, residuals, strict=True):
            square[-1, :-1] = square[:-1, -1] = slopes.T @ one
            square[-1, -1] = one @ one
        prior = self._problem.prior_rows(point.theta)
        grams = tuple(one.copy() for one in self._squares)
        return Linearization(self.cost(point), grams, prior.T @ prior)


def _group(
    sequences: ModelSequences,
    params: ParameterDict,
    gaps: Mapping[str, Sequence[tuple[float, float]]],
) -> WindowGroup:
    return model_group(
        sequences, params, window_length=_LENGTH, estimate_starts=True,
        velocity_filter=_VELOCITY_FILTER, gaps=gaps,
    )  # fmt: skip


def _problem(
    group: WindowGroup, params: ParameterDict, pool: RolloutPool, noise: Mapping[str, float]
) -> WindowedProblem:
    return WindowedProblem([group], params, pool, loss=loss_named("linear"), noise=noise)


def _delays(params: ParameterDict, inputs: Collection[str]) -> BoolArray:
    """Mark the free parameters that are delays of some inputs, (p,)."""
    marks: list[bool] = []
    for one in params.values():
        labels = corrects(one, "delay")
        marks += [] if one.frozen else [bool(labels) and {*labels} <= {*inputs}] * one.size
    return np.array(marks, dtype=np.bool_)


def _in_units(problem: WindowedProblem, point: Point) -> list[FloatArray]:
    """Residuals of each window in units of noise, then its start in units of its prior's."""
    found = zip(problem.windows, problem.residuals(point), point.starts, strict=True)
    return [
        np.concatenate([residual / window.sigma(problem.noise), start / window.spread])
        for window, residual, start in found
    ]


def _squares(problem: WindowedProblem, point: Point) -> FloatArray:
    """Squares that are left in each window, its start's among them, (w,)."""
    return np.array([float(one @ one) for one in _in_units(problem, point)])
