# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Blocks inside windows, as clusters for fits with few windows.

Recordings that are fitted whole give one window each, too few to tell how much estimates vary from
window to window. Blocks of time inside them take the windows' place: residuals may be correlated
inside a block, and longer than a block they must not be (Kunsch 1989). A window's start follows
theta as all of its rows have it, so that the blocks' shares add up to the window's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import Point, ReducedSystem, start_solutions
from sysid_ros.engine.problem import Span, WindowedProblem
from sysid_ros.engine.uncertainty.covariance import enough_clusters

BLOCKS = 24  # in all; more would be shorter, and less independent

# Rows of some places from all rows of a window.
RowsAt = Callable[[FloatArray, IndexArray | slice], FloatArray]


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


def grams_of_blocks(
    problem: WindowedProblem, rows: Iterable[FloatArray], made: Sequence[RowsAt] | None = None
) -> list[FloatArray]:
    """The Gram matrices of the blocks of every window, (blocks, n, n) each.

    At least :data:`BLOCKS` of about equal duration; the windows themselves, where they are many.

    Args:
      problem: The problem.
      rows: ``[J_theta J_start r]`` of every window, (m + n_start, n).
      made: By window, what makes rows of these; by default they are taken as they are. It is asked
        for one block after the other, which caches hold where the rows of a recording are not.

    Raises:
      StopRequestedError: The user asked to stop.
    """
    found = []
    made = made or [_as_they_are] * len(problem.windows)
    for window, own, at, count in zip(problem.windows, rows, made, _counts(problem), strict=True):
        block = block_numbers(window.window.samples.times, count, len(own))
        blocks: list[IndexArray | slice] = [slice(None)]
        if count > 1:
            blocks = [np.flatnonzero(block == k) for k in range(count)]
        found.append(np.stack([part.T @ part for part in (at(own, each) for each in blocks)]))
    return found


def _as_they_are(rows: FloatArray, some: IndexArray | slice) -> FloatArray:
    """Some of a window's rows."""
    return rows[some]


def by_block(
    problem: WindowedProblem, point: Point, system: ReducedSystem, grams: Sequence[FloatArray]
) -> ReducedSystem:
    """The system with blocks of time in the place of windows.

    Args:
      problem: The problem.
      point: The optimum.
      system: The Gauss-Newton model there, starts eliminated; of p unknowns.
      grams: Those of :func:`grams_of_blocks` there, with p unknowns before those of the start.

    Returns:
      The same sums in shares of blocks.
    """
    p = system.gradient.size
    hessians, gradients = list[FloatArray](), list[FloatArray]()
    solutions = start_solutions([own.sum(axis=0) for own in grams], p, 0.0)
    for own, solved in zip(grams, solutions, strict=True):
        along = np.vstack([np.eye(p), -solved[:, :p], np.zeros((1, p))])  # theta, starts after it
        hessians += [*(along.T @ own @ along)]
        gradients += [*(own[:, -1] @ along)]
    if problem.added is not None:
        spans = [
            span
            for window, count in zip(problem.windows, _counts(problem), strict=True)
            for span in Span.of(window).cut(block_edges(window.window.samples.times, count))
        ]
        added = problem.added.over(spans).grams(point.theta, problem.noise)
        hessians = [one + own[:p, :p] for one, own in zip(hessians, added, strict=True)]
        gradients = [one + own[:p, p] for one, own in zip(gradients, added, strict=True)]
    return replace(system, window_hessians=np.stack(hessians), window_gradients=np.stack(gradients))


def _counts(problem: WindowedProblem) -> list[int]:
    """The number of blocks of each window."""
    durations = np.array([float(one.window.samples.times.max()) for one in problem.windows])
    shares = wanted_blocks(problem.lower.size) * durations / durations.sum()
    return [max(1, round(share)) for share in shares.tolist()]
