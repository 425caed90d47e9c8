# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The change of an estimate where residuals count by what is new in each sample.

Least squares takes every sample for news, though a residual that one shares with the next, as an
elastic gear leaves it, is hardly any. Generalized least squares counts innovations instead. If the
model is right both estimate the same but for chance; where it lacks something, that moves the two
differently (Hausman, Econometrica 46, 1978). Nothing is simulated for it.

A signal's residual counts as an Ornstein-Uhlenbeck process: what two samples share decays with the
time between them, whether that is even or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import Point, ReducedSystem
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty.blocks import by_block
from sysid_ros.engine.uncertainty.step_changes import StepChange, step_change
from sysid_ros.engine.windows import WindowSimulation

_MOST = 1.0 - 1e-6  # of a residual, that neighbouring samples share
_WHITE = 0.1  # what they share, below which innovations are the residuals themselves


def change_by_innovations(
    problem: WindowedProblem, point: Point, system: ReducedSystem, chosen: IndexArray
) -> StepChange | None:
    """The change of the step of some parameters where innovations count.

    Args:
      problem: The problem.
      point: Its optimum.
      system: The Gauss-Newton model there, starts eliminated.
      chosen: The parameters, (k,); the others are fixed.

    Returns:
      ``None`` where hardly anything of residuals is shared by neighbouring samples.
    """
    memories = _memories(problem, point)
    if all(one.shared < _WHITE for one in memories.values()):
        return None
    here = by_block(problem, point, system, problem.window_rows(point))
    there = by_block(problem, point, system, _innovations(problem, point, memories))
    priors = problem.prior_rows(point.theta)
    there = replace(
        there,
        hessian=there.window_hessians.sum(axis=0) + priors[:, :-1].T @ priors[:, :-1],
        gradient=there.window_gradients.sum(axis=0) + priors[:, :-1].T @ priors[:, -1],
    )
    return step_change(here, there, np.arange(len(here.window_gradients)), chosen)


@dataclass(frozen=True)
class _Memory:
    """The share of a residual that one sample has in common with the next, an interval later."""

    shared: float
    interval: float  # s

    def over(self, times: FloatArray) -> FloatArray:
        """The share that is left after so many seconds."""
        left: FloatArray = self.shared ** (times / self.interval)
        return left


def _memories(problem: WindowedProblem, point: Point) -> dict[str, _Memory]:
    """The memory of every signal's residual."""
    products: dict[str, list[FloatArray]] = {}
    for window, residual in zip(problem.windows, problem.residuals(point), strict=True):
        later, before = _neighbours(problem, window)
        scaled = residual / window.sigma(problem.noise)
        scaled = scaled * np.sqrt(problem.loss.gradient_weight(scaled))
        times, signals = window.window.samples.times, window.window.samples.signals[later]
        for i in np.unique(signals):
            one, other = later[signals == i], before[signals == i]
            own = scaled[one] * scaled[other], scaled[other] ** 2, times[one] - times[other]
            products.setdefault(window.sequence.signals[i].name, []).append(np.stack(own))
    found = {}
    for name, parts in products.items():
        common, whole, intervals = np.concatenate(parts, axis=1)
        shared = float(common.sum()) / max(float(whole.sum()), 1e-300)
        found[name] = _Memory(min(max(shared, 0.0), _MOST), float(np.median(intervals)))
    return found


def _neighbours(
    problem: WindowedProblem, window: WindowSimulation
) -> tuple[IndexArray, IndexArray]:
    """Samples of a window and those of the same signal right before them, (n,) each."""
    samples = window.window.samples
    counted = np.flatnonzero(np.isfinite(window.sigma(problem.noise)))
    order = counted[np.lexsort((samples.times[counted], samples.signals[counted]))]
    same = np.diff(samples.signals[order]) == 0
    return order[1:][same], order[:-1][same]


def _innovations(
    problem: WindowedProblem, point: Point, memories: Mapping[str, _Memory]
) -> Iterator[FloatArray]:
    """Rows of every window, of each sample less what it shares with the one before, as large."""
    for window, rows in zip(problem.windows, problem.window_rows(point), strict=True):
        later, before = _neighbours(problem, window)
        times, signals = window.window.samples.times, window.window.samples.signals[later]
        shared = np.zeros(len(later))
        for i in np.unique(signals):
            own = signals == i
            memory = memories[window.sequence.signals[i].name]
            shared[own] = memory.over(times[later[own]] - times[before[own]])
        new = rows.copy()
        new[later] -= shared[:, None] * rows[before]
        new[later] /= np.sqrt(1.0 - shared**2)[:, None]
        yield new
