# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The windowed problem over more recordings than memory holds: sums of chunks of them.

The objective and its Gauss-Newton model are sums over windows. So whoever has a chunk of the
recordings answers with its cost and one small matrix per window, and nothing else is kept here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import LOSSES, Linearization, Point
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
from sysid_ros.engine.simulation import RolloutPool


@dataclass(frozen=True)
class ChunkSurvey:
    """A chunk of recordings before anything is fitted."""

    start_sizes: tuple[int, ...]  # unknowns of each window's start
    n_samples: int  # measured values that are compared
    noise: Mapping[str, float]  # noise level by signal to begin with, in its unit
    spreads: Mapping[str, float]  # largest standard deviation of a recording by signal
    # by signal the sum of squared residuals with the initial parameters, their number
    squares: Mapping[str, tuple[float, int]]


@dataclass(frozen=True)
class ChunkPoint:
    """The point that a chunk is to be linearized at."""

    point: Point  # the parameters, and the starts of the chunk's windows
    noise: Mapping[str, float]  # noise level by signal


@dataclass(frozen=True)
class ChunkSums:
    """The share of a chunk in the objective and in its Gauss-Newton model, without priors."""

    cost: float  # its share
    # as of :class:`~sysid_ros.engine.least_squares.Linearization`, one per window
    grams: tuple[FloatArray, ...]
    squares: Mapping[str, tuple[float, int]]  # by signal
    sources: Mapping[str, str]  # the origin of the Jacobian's columns, by parameter


Number = TypeVar("Number", int, float)  # whole, or weighted
Evaluate = Callable[[Sequence[ChunkPoint]], Sequence[ChunkSums]]


class ChunkedProblem(WindowedProblem):
    """The sum of chunks, with one answer of each for a cost and the model around it.

    Args:
      surveys: Of all chunks.
      evaluate: Answers for all chunks, in order.
      params: The parameters.
      rollouts: Not used; chunks are simulated where they are.
      noise: Standard deviation per signal name.
    """

    def __init__(
        self,
        surveys: Sequence[ChunkSurvey],
        evaluate: Evaluate,
        params: ParameterDict,
        rollouts: RolloutPool,
        *,
        noise: Mapping[str, float],
    ) -> None:
        super().__init__((), params, rollouts, loss=LOSSES["linear"], noise=noise, hold=True)
        self._surveys = tuple(surveys)
        self._evaluate = evaluate
        self._known: tuple[Point, dict[str, float], Linearization] | None = None
        self._sources: Mapping[str, str] = {}

    @property
    def start_sizes(self) -> tuple[int, ...]:
        """Unknowns of each window's start."""
        return tuple(size for survey in self._surveys for size in survey.start_sizes)

    @property
    def n_samples(self) -> int:
        """Measured values that are compared."""
        return sum(survey.n_samples for survey in self._surveys)

    @property
    def spreads(self) -> Mapping[str, float]:
        """Largest standard deviation of a recording by signal, in its unit."""
        largest: dict[str, float] = {}
        for survey in self._surveys:
            for name, spread in survey.spreads.items():
                largest[name] = max(spread, largest.get(name, 0.0))
        return largest

    def cost(self, point: Point) -> float:
        """The objective; infinite where a rollout diverges."""
        return self._at(point).cost

    def cost_of(self, residuals: Sequence[FloatArray], point: Point) -> float:
        """The objective with the initial parameters, whose squared residuals surveys have kept."""
        del residuals
        found = sums_by_signal(survey.squares for survey in self._surveys)
        own = sum(0.5 * total / self.noise[name] ** 2 for name, (total, _) in found.items())
        return float(own) + self._prior_cost(Point(point.theta))

    def linearize(self, point: Point) -> Linearization:
        """The Gauss-Newton model around ``point``."""
        self.jacobians += 1
        return self._at(point)

    def check_derivatives(self, point: Point) -> bool:
        """Chunks check theirs whenever they are linearized; those of the answers held are sound."""
        del point
        return True

    def derivative_sources(self) -> Mapping[str, str]:
        """Return the origin of the Jacobian's columns, by parameter, in the latest answers."""
        return self._sources

    def _at(self, point: Point) -> Linearization:
        """The sums at a point, which are computed once while nothing else is asked for."""
        if self._known is not None:
            before, noise, found = self._known
            same = np.array_equal(before.theta, point.theta) and noise == self.noise
            if same and all(map(np.array_equal, before.starts, point.starts)):
                return found
        self._known = None  # makes room
        self.evaluations += 1
        starts = iter(point.starts)
        answers = self._evaluate(
            [
                ChunkPoint(
                    Point(point.theta, tuple(itertools.islice(starts, len(survey.start_sizes)))),
                    dict(self.noise),
                )
                for survey in self._surveys
            ]
        )
        prior = self.prior_rows(point.theta)
        found = Linearization(
            self._prior_cost(Point(point.theta)) + sum(answer.cost for answer in answers),
            tuple(gram for answer in answers for gram in answer.grams),
            prior.T @ prior,
            sums_by_signal(answer.squares for answer in answers),
        )
        self._sources = _worst(answer.sources for answer in answers)
        self._known = point, dict(self.noise), found
        return found


def sums_by_signal(
    parts: Iterable[Mapping[str, tuple[float, Number]]],
) -> dict[str, tuple[float, Number]]:
    """Sums of squares of all parts, and of their numbers, by signal."""
    sums: dict[str, tuple[float, Number]] = {}
    for part in parts:
        for name, (total, count) in part.items():
            before = sums.get(name)
            sums[name] = (before[0] + total, before[1] + count) if before else (total, count)
    return sums


def _worst(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """By parameter "exact" where all parts say so, and otherwise the first other reason."""
    found: dict[str, str] = {}
    for part in parts:
        for name, source in part.items():
            if found.get(name, "exact") == "exact":
                found[name] = source
    return found
