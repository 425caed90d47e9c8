# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The full state of a running fit: what another process needs to carry it on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.engine.least_squares import Iteration, Point
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.errors import DataError

FAR = 1e6  # times its spread: farther no fit moves a window's start


@dataclass(frozen=True)
class FitState:
    """A fit after one of its accepted steps."""

    point: Point  # the parameters and every window's start
    damping: float  # of the next Levenberg-Marquardt step; of no meaning to other optimizers
    iteration: int  # accepted steps so far
    approaching: bool  # whether a convex loss is still minimized in place of the one asked for
    rounds: int  # how often noise levels may still be estimated anew
    noise: Mapping[str, float]  # noise level in force by signal, in its unit
    trace: tuple[Iteration, ...]  # every step so far
    elapsed: float  # seconds of work so far


def check_state(state: FitState, problem: WindowedProblem) -> None:
    """Refuse a state that cannot belong to a problem.

    Raises:
      DataError: It has other parameters, signals or windows.
    """
    names = tuple(problem.params.scalar_names())
    given = state.trace[-1].names if state.trace else names
    sizes = [start.size for start in state.point.starts]
    if given != names or state.point.theta.shape != (len(names),):
        raise DataError(f"the saved state is of the parameters {given}, not of {names}")
    if sizes != [window.n_start for window in problem.windows]:
        raise DataError("the saved state is of other windows than this fit's")
    for window, start in zip(problem.windows, state.point.starts, strict=True):
        if not np.all(np.abs(start) <= FAR * window.spread):
            raise DataError("the saved state holds starts far from what was measured")
    if set(state.noise) != set(problem.noise):
        raise DataError(
            f"the saved state is of the signals {sorted(state.noise)}, "
            f"not of {sorted(problem.noise)}"
        )
    theta = state.point.theta
    if not np.all((problem.lower <= theta) & (theta <= problem.upper)):  # nan neither
        raise DataError("the saved state holds parameters that are not within their bounds")
