# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The change of an estimate where residuals count by what is new in each sample.

Least squares takes every sample for news, though a residual that one shares with the next, as an
elastic gear leaves it, is hardly any. Generalized least squares counts innovations instead. If the
model is right both estimate the same but for chance; where it lacks something, that moves the two
differently (Hausman, Econometrica 46, 1978). The derivatives of the estimate tell by how much;
where that is far, a few steps with them are simulated.

A signal's residual counts as an Ornstein-Uhlenbeck process: what two samples share decays with the
time between them, whether that is even or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import (
    Linearization,
    Point,
    ReducedSystem,
    SolverSettings,
    minimize,
)
from sysid_ros.engine.problem import WindowedProblem, add_grams, in_units_of_noise
from sysid_ros.engine.uncertainty.blocks import by_block, grams_of_blocks
from sysid_ros.engine.uncertainty.step_changes import StepChange, step_change
from sysid_ros.engine.windows import WindowSimulation

_MOST = 1.0 - 1e-6  # of a residual, that neighbouring samples share
_WHITE = 0.1  # what they share, below which innovations are the residuals themselves
# A change may not be of first order that is larger than so many standard errors by noise, ...
_FAR = 2.0
_OF_ITSELF = 0.1  # ... and than this share of the value
_FIXED = 1e-12  # of a parameter's scale, that one moves by at most that is not chosen
_FOLLOWED = SolverSettings(max_iterations=2, cost_tolerance=1e-3, refusals=3)


def change_by_innovations(
    problem: WindowedProblem,
    point: Point,
    system: ReducedSystem,
    chosen: IndexArray,
    errors: FloatArray,
    blocks: ReducedSystem | None = None,
) -> StepChange | None:
    """The change of some parameters where innovations count.

    Args:
      problem: The problem.
      point: Its optimum.
      system: The Gauss-Newton model there, starts eliminated.
      chosen: The parameters, (k,); the others are fixed.
      errors: Their standard errors by noise, (k,).
      blocks: The shares of :func:`by_block` there, if they are known.

    Returns:
      ``None`` where hardly anything of residuals is shared by neighbouring samples.

    Raises:
      StopRequestedError: The user asked to stop.
    """
    links = _links(problem, point)
    if not links:
        return None
    if blocks is None:
        own_grams = grams_of_blocks(problem, problem.window_rows(point))
        blocks = by_block(problem, point, system, own_grams)
    here = replace(blocks, hessian=system.hessian, gradient=system.gradient)
    grams = grams_of_blocks(problem, problem.window_rows(point), [link.new for link in links])
    there = by_block(problem, point, system, grams)
    priors = problem.prior_rows(point.theta)
    there = replace(
        there,
        hessian=there.window_hessians.sum(axis=0) + priors[:, :-1].T @ priors[:, :-1],
        gradient=there.window_gradients.sum(axis=0) + priors[:, :-1].T @ priors[:, -1],
    )
    change = step_change(here, there, np.arange(len(here.window_gradients)), chosen)
    own = point.theta[chosen]
    if not np.any(np.abs(change.values) > np.maximum(_FAR * errors, _OF_ITSELF * np.abs(own))):
        return change
    squares = [each.sum(axis=0) for each in grams]
    innovations = _Innovations(problem, point, links, squares, chosen)
    followed = minimize(innovations, point, _FOLLOWED).point.theta[chosen] - own
    return replace(change, values=followed)


@dataclass(frozen=True)
class _Links:
    """The sample of the same signal right before each of a window's rows, (n,) each."""

    before: IndexArray  # the row itself where there is none
    shared: FloatArray  # the part of each that it shares with the one before, as large

    @classmethod
    def of(cls, rows: int, later: IndexArray, before: IndexArray, shared: FloatArray) -> _Links:
        """Those of so many rows, of which some come later than others, (k,) each."""
        own = cls(np.arange(rows), np.zeros(rows))
        own.before[later], own.shared[later] = before, shared
        return own

    def new(self, rows: FloatArray, some: IndexArray | slice = slice(None)) -> FloatArray:
        """Some rows, of each less what it shares with the one before, as large as they were."""
        shared = self.shared[some].reshape(-1, *[1] * (rows.ndim - 1))
        found: FloatArray = rows[self.before[some]]
        found *= -shared
        found += rows[some]
        found /= np.sqrt(1.0 - shared**2)
        return found

    def pulled(self, residual: FloatArray) -> FloatArray:
        """The factors of rows as they were in ``new(rows).T @ residual``, (n,)."""
        found: FloatArray = residual / np.sqrt(1.0 - self.shared**2)
        later = np.flatnonzero(self.shared)
        found[self.before[later]] -= self.shared[later] * found[later]
        return found


class _Innovations:
    """The problem with innovations in the place of residuals, and the derivatives of one point.

    Args:
      problem: The problem.
      point: The point.
      links: Those of each window.
      squares: ``rows.T @ rows`` of each window's innovations there.
      chosen: The parameters that may move, (k,).
    """

    def __init__(
        self,
        problem: WindowedProblem,
        point: Point,
        links: Sequence[_Links],
        squares: Sequence[FloatArray],
        chosen: IndexArray,
    ) -> None:
        self._problem, self._known = problem, point
        self._links, self._squares = links, squares
        self.scale, room = problem.scale, _FIXED * problem.scale
        room[chosen] = np.inf
        self.lower = np.maximum(problem.lower, point.theta - room)
        self.upper = np.minimum(problem.upper, point.theta + room)

    def cost(self, point: Point) -> float:
        """Half the sum of squares; infinite where a simulation diverges."""
        return self._cost(point, self._residuals(point))

    def linearize(self, point: Point) -> Linearization:
        """The objective at a point, with the derivatives of the known one."""
        grams, residuals = [], self._residuals(point)
        known = self._problem.window_rows(self._known)
        for square, link, rows, residual in zip(
            self._squares, self._links, known, residuals, strict=True
        ):
            own = square.copy()
            own[-1, :-1] = own[:-1, -1] = rows[:, :-1].T @ link.pulled(residual)
            own[-1, -1] = residual @ residual
            grams.append(own)
        if self._problem.added is not None:
            add_grams(grams, self._problem.added.grams(point.theta, self._problem.noise))
        prior = self._problem.prior_rows(point.theta)
        return Linearization(self._cost(point, residuals), tuple(grams), prior.T @ prior)

    def _cost(self, point: Point, residuals: Sequence[FloatArray]) -> float:
        prior = self._problem.prior_rows(point.theta)[:, -1]
        found = 0.5 * sum(float(one @ one) for one in [*residuals, prior])
        found += float(self._problem.added_costs(point.theta).sum())
        return found if np.isfinite(found) else np.inf

    def _residuals(self, point: Point) -> list[FloatArray]:
        """The innovations of each window, in units of noise."""
        weight, found = self._problem.loss.gradient_weight, []
        for link, one, start in zip(
            self._links, in_units_of_noise(self._problem, point), point.starts, strict=True
        ):
            own = len(one) - len(start)
            weighed = np.concatenate([np.sqrt(weight(one[:own])) * one[:own], one[own:]])
            found.append(link.new(weighed))
        return found


@dataclass(frozen=True)
class _Memory:
    """The share of a residual that one sample has in common with the next, an interval later."""

    shared: float
    interval: float  # s

    def over(self, times: FloatArray) -> FloatArray:
        """The share that is left after so many seconds."""
        left: FloatArray = self.shared ** (times / self.interval)
        return left


def _links(problem: WindowedProblem, point: Point) -> list[_Links]:
    """The links of each window's samples; none where residuals are white."""
    pairs = [_neighbours(problem, window) for window in problem.windows]
    memories = _memories(problem, point, pairs)
    if all(one.shared < _WHITE for one in memories.values()):
        return []
    found = []
    for window, (later, before) in zip(problem.windows, pairs, strict=True):
        times, signals = window.window.samples.times, window.window.samples.signals[later]
        shared = np.zeros(len(later))
        for i in np.unique(signals):
            own, memory = signals == i, memories[window.sequence.signals[i].name]
            shared[own] = np.minimum(memory.over(times[later[own]] - times[before[own]]), _MOST)
        rows = len(window.window.samples.times) + window.n_start
        found.append(_Links.of(rows, later, before, shared))
    return found


def _neighbours(
    problem: WindowedProblem, window: WindowSimulation
) -> tuple[IndexArray, IndexArray]:
    """Samples that count, and those of the same signal right before them, (n,) each."""
    samples = window.window.samples
    counted = np.flatnonzero(np.isfinite(window.sigma(problem.noise)))
    order = counted[np.lexsort((samples.times[counted], samples.signals[counted]))]
    same = np.diff(samples.signals[order]) == 0
    return order[1:][same], order[:-1][same]


def _memories(
    problem: WindowedProblem, point: Point, pairs: Sequence[tuple[IndexArray, IndexArray]]
) -> Mapping[str, _Memory]:
    """The memory of every signal's residual."""
    products: dict[str, list[FloatArray]] = {}
    residuals = in_units_of_noise(problem, point)
    for window, residual, (later, before) in zip(problem.windows, residuals, pairs, strict=True):
        weighed = residual * np.sqrt(problem.loss.gradient_weight(residual))
        times, signals = window.window.samples.times, window.window.samples.signals[later]
        for i in np.unique(signals):
            one, other = later[signals == i], before[signals == i]
            own = weighed[one] * weighed[other], weighed[other] ** 2, times[one] - times[other]
            products.setdefault(window.sequence.signals[i].name, []).append(np.stack(own))
    found = {}
    for name, parts in products.items():
        common, whole, intervals = np.concatenate(parts, axis=1)
        shared = float(common.sum()) / max(float(whole.sum()), 1e-300)
        interval = max(float(np.median(intervals)), 1e-9)
        found[name] = _Memory(min(max(shared, 0.0), _MOST), interval)
    return found
