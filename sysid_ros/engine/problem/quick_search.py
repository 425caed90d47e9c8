# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parts of searches that need no more than a percent: rough derivatives, and what is left."""

from __future__ import annotations

import numpy as np

from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.problem.windowed_problem import WindowedProblem

FEW_STEPS = 0.03  # of a window's, whose derivatives may be wrong where a percent does not matter


def tolerating(problem: WindowedProblem, share: float = FEW_STEPS) -> WindowedProblem:
    """The problem, whose derivatives may miss what happens in a share of a window's steps.

    For searches in which every step is tried, and whose end is about more than a percent: steps
    that the pass does not cover take as long as all others, be they ever so few.
    """
    for exact in problem.exact:
        if exact is not None:
            exact.tolerated = share
    return problem


def squares_left(problem: WindowedProblem, point: Point) -> dict[str, tuple[float, int]]:
    """Per signal the sum of squared residuals (its unit squared) and their number."""
    residuals, found = iter(problem.residuals(point)), dict.fromkeys(problem.noise, (0.0, 0))
    for batch in (batch for group in problem.groups for batch in group.batches):
        own = np.concatenate([next(residuals) for _ in batch.windows])
        for name, (square, count) in batch.squares(own).items():
            found[name] = found[name][0] + square, found[name][1] + count
    return found
