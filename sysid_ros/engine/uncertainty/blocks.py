# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Blocks inside windows, as clusters for fits with few windows.

Recordings that are fitted whole give one window each, too few to tell how much estimates vary from
window to window. Blocks of time inside them take the windows' place: residuals may be correlated
inside a block, and longer than a block they must not be (Kunsch 1989). After a window's start is
eliminated its rows are split, so that the blocks' shares add up to the window's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import Point, ReducedSystem, without_starts
from sysid_ros.engine.problem import Span, WindowedProblem
from sysid_ros.engine.uncertainty.covariance import enough_clusters

BLOCKS = 24  # in all; more would be shorter, and less independent


def needs_blocks(problem: WindowedProblem) -> bool:
    """Return whether there are too few windows to be clusters themselves."""
    return not enough_clusters(len(problem.start_sizes), problem.lower.size)


def wanted_blocks(parameters: int) -> int:
    """Return how many blocks there are to be in all windows together."""
    return max(BLOCKS, 2 * (parameters + 2))


def block_edges(times: FloatArray, count: int) -> FloatArray:
    """Return the instants between the blocks of a window of samples at ``times``, (count - 1,)."""
    return np.linspace(0.0, float(times.max()), count + 1)[1:-1]


def block_numbers(times: FloatArray, count: int, rows: int) -> IndexArray:
    """Return the block of each row of a window, (rows,); those of the start's prior come last."""
    block = np.searchsorted(block_edges(times, count), times, side="right")
    return np.concatenate([block, np.full(rows - block.size, count - 1)]).astype(np.intp)


def by_block(
    problem: WindowedProblem, point: Point, system: ReducedSystem, rows: Iterable[FloatArray]
) -> ReducedSystem:
    """The system with blocks of time in the place of windows.

    Args:
      problem: The problem.
      point: The optimum.
      system: The Gauss-Newton model there, starts eliminated; of p unknowns.
      rows: ``[J_theta J_start r]`` of every window there, p columns before those of the start.

    Returns:
      The same sums in shares of at least :data:`BLOCKS` blocks of about equal duration; those of
      windows, where they are many.

    Raises:
      StopRequestedError: The user asked to stop.
    """
    p = system.gradient.size
    wanted = wanted_blocks(problem.lower.size)
    windows = problem.windows
    durations = np.array([float(window.window.samples.times.max()) for window in windows])
    counts = np.maximum(1, np.round(wanted * durations / durations.sum()).astype(int))
    hessians, gradients = [], []
    spans = []
    for window, all_rows, count in zip(windows, rows, counts, strict=True):
        times = window.window.samples.times
        block = block_numbers(times, count, len(all_rows))
        theta, residual = without_starts(all_rows, p), all_rows[:, -1]
        for k in range(count):
            own = theta[block == k]
            hessians.append(own.T @ own)
            gradients.append(own.T @ residual[block == k])
        spans += Span.of(window).cut(block_edges(times, count))
    if problem.added is not None:
        added = problem.added.over(spans).grams(point.theta, problem.noise)
        hessians = [one + own[:p, :p] for one, own in zip(hessians, added, strict=True)]
        gradients = [one + own[:p, p] for one, own in zip(gradients, added, strict=True)]
    return replace(system, window_hessians=np.stack(hessians), window_gradients=np.stack(gradients))
