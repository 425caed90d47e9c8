# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The shift of estimates that a few steps of two searches show, where one step says too little.

A servo whose time constant is as short as the time step acts otherwise at a finer one: friction
that was lost among its swings is whole, armature that had no effect has one. One linearization of
the finer problem at the estimate knows the slopes there, which are not those on the way. So the
finer problem is searched for a few steps, and so is the fit's own, both with the few windows that
stand for all: their difference is the time step's, what those windows alone would have differs in
neither.
"""

from __future__ import annotations

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.window_sample import searched
from sysid_ros.engine.least_squares import Point, SolverSettings
from sysid_ros.engine.problem import WindowedProblem

# Of each search: where a step is refused twice, the next that would not is too short to matter.
FEW = SolverSettings(max_iterations=3, cost_tolerance=1e-3, refusals=2)


def followed_shift(changed: WindowedProblem, own: WindowedProblem, start: Point) -> FloatArray:
    """The change of the parameters that a few steps find, (p,).

    Args:
      changed: The problem with another choice.
      own: The problem as it is, with the same windows.
      start: The estimate, with the starts of these windows.

    Raises:
      StopRequestedError: It was asked for.
    """
    return _followed(changed, start) - _followed(own, start)


def _followed(problem: WindowedProblem, start: Point) -> FloatArray:
    problem.check_derivatives(start)
    return searched(problem, start, FEW).point.theta
