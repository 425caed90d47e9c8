# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The error of estimates whose search a limit ended: how far from its optimum it was left.

Covariances describe noise about an optimum. A search that had to end before says by its last
linearization where it was going; until somebody goes there, that is an error of where it is.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.engine.estimation.shifts import MORE_STEPS, Shift
from sysid_ros.engine.least_squares import (
    FitStatus,
    Solution,
    bounded_quadratic_step,
    eliminate_starts,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty import Covariance

_LIMITED = (FitStatus.TIME_LIMIT, FitStatus.MAX_ITERATIONS)


def unfinished_search(
    problem: WindowedProblem, solution: Solution, covariance: Covariance
) -> Shift | None:
    """The Gauss-Newton step that a search was not given the time for.

    Returns:
      ``None`` for a search that a limit did not end, or where no error is claimed anyway.
    """
    chosen = np.flatnonzero(np.isfinite(np.diag(covariance.matrix)))
    if solution.status not in _LIMITED or solution.linearization is None or not chosen.size:
        return None
    system, theta = eliminate_starts(solution.linearization), solution.point.theta
    values, chance = np.full(len(theta), np.nan), np.full(len(theta), np.nan)
    values[chosen] = bounded_quadratic_step(
        system.hessian[np.ix_(chosen, chosen)],
        system.gradient[chosen],
        (problem.lower - theta)[chosen],
        (problem.upper - theta)[chosen],
    )
    chance[chosen] = 0.0
    return Shift(MORE_STEPS, 0.0, values, chance, np.abs(values))
