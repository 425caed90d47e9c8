# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The first steps of a search on a part of the data, which know the way as well as all of it.

A step far from the optimum is the same for an eighth of the recordings as for all of them, to
within what their noise moves it, and costs an eighth. So the search goes on a part of the data
until a step promises no more than noise does, and only from there on with all of it.
"""

from __future__ import annotations

from dataclasses import replace

from sysid_ros.engine.least_squares import Point, SolverSettings, StopOptimizing, minimize
from sysid_ros.engine.problem.objective import Objective
from sysid_ros.errors import SysidError

DAMPING = 1e-3  # at least: what a part of the data hardly determines stays where it is


def rough_search(objective: Objective, start: Point, settings: SolverSettings) -> Point:
    """Return where a search on a part of the data leads, if all of it finds that better.

    Returns:
      The start itself where there is no such part, or it leads to nothing better.
    """
    cost = objective.loss.cost(objective.at(start.theta))
    try:
        part = objective.part()
        if part is None:
            return start
        # By chance, each parameter brings half of a residual's mean square.
        tolerance = len(start.theta) / len(part.at(start.theta))
        rough = replace(
            settings, cost_tolerance=tolerance, worth=1.0, damping=DAMPING, least_damping=DAMPING
        )
        try:
            found = minimize(part, start, rough).point
            found_cost = objective.tried_cost(found)
        except StopOptimizing:
            found = replace(start, theta=part.best_x[part.free])
            found_cost = objective.last_cost(found)
        return found if found_cost < cost else start
    except SysidError:  # all of the data says the same, or knows better
        return start
