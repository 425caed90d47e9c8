# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Steps of a search towards the recordings, from which candidates are asked what they explain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.chosen_forward import System

_SHARES = (1.0, 0.3)  # of the step that are tried
_APART = 0.1  # correlation below which two parameters move by themselves


def nearer(problem: WindowedProblem, point: Point, offered: Sequence[Candidate]) -> Point:
    """One step towards the recordings, so that a guessed delay does not hide the rest.

    Parameters on demand stay; the others are held by their typical sizes. Where the whole step
    leads nowhere, as where a gripper jumps, those parts of it are done that lead nearer by
    themselves.
    """
    system = System.of(problem.linearize(point))
    moved = [i for i, one in enumerate(offered) if not one.on_demand]
    if not moved or not np.all(np.isfinite(system.hessian)):
        return point
    typical = np.array([offered[i].typical for i in moved])
    block = system.hessian[np.ix_(moved, moved)] + np.diag(typical**-2)
    step = np.zeros(len(point.theta))
    step[moved] = -np.linalg.solve(block, system.gradient[moved])
    if (whole := _along(problem, point, step)) is not point:
        return whole
    parts = _parts(block)
    for part in parts if len(parts) > 1 else []:
        own = np.zeros_like(step)
        own[[moved[k] for k in part]] = step[[moved[k] for k in part]]
        point = _along(problem, point, own)
    return point


def _along(problem: WindowedProblem, point: Point, step: FloatArray) -> Point:
    """The first of some shares of a step that leaves less; the point itself without one."""
    before = problem.cost(point)
    for share in _SHARES:
        theta = np.clip(point.theta + share * step, problem.lower, problem.upper)
        tried = Point(theta, point.starts)
        if problem.cost(tried) < before:
            return tried
    return point


def _parts(block: FloatArray) -> list[list[int]]:
    """Parameters in groups of which none has to do with another, (n, n) normal equations."""
    sizes = np.sqrt(np.diag(block))
    related = np.abs(block) > _APART * np.outer(sizes, sizes)
    count, group = scipy.sparse.csgraph.connected_components(related, directed=False)
    return [np.flatnonzero(group == k).tolist() for k in range(count)]
