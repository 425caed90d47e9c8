# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints of which a search believes that they hardly ever slide, and a leap from there.

MuJoCo's dry friction below its limit is (d / (1 - d)) m (a + 2 v / (d t)), with d 0.9 and t 0.02 s:
of a joint with little inertia m it is whole at high speeds only, and acts as damping below. A
search that gets there, with too little armature and too much friction, stays: slopes do not tell
what the joint is like where it slides. So such armatures are made larger by a few factors, and all
else follows for a few steps on some windows.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.estimation.window_sample import part_of, spread_evenly
from sysid_ros.engine.least_squares import FitStatus, Point, Solution, SolverSettings, minimize
from sysid_ros.engine.parameters import modifier_to_dict, target_of
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.errors import StopRequestedError

STIFF = 1e3  # 1/s, friction below its limit over inertia and speed, with MuJoCo's d and t
SLIDES = 0.1  # rad/s or m/s at which friction is whole, from which a joint hardly slides
HEAVIER = (100.0, 30.0)  # factors on armatures that stuck
WINDOWS = 3  # at the least, that decide whether a leap leads lower
STEPS = 8  # in which it has to
LOWER = 0.9  # of the cost that it leads below


def sliding_inertia(friction: float) -> float:
    """The inertia of a joint, kg m^2 or kg, that some dry friction lets slide, N m or N."""
    return friction / (SLIDES * STIFF)


def stuck_armatures(problem: WindowedProblem, theta: FloatArray) -> IndexArray:
    """Places of the armatures of joints whose friction is whole at high speeds only.

    Args:
      problem: The problem.
      theta: Its parameters, (p,).
    """
    places: dict[tuple[str, str], int] = {}
    place = 0
    for parameter in problem.params.free():
        data = modifier_to_dict(parameter.modifier) if parameter.modifier is not None else {}
        target = target_of(data, parameter.size)
        if target.element == "joint" and parameter.size == 1:
            places |= {(name, target.attribute): place for name in target.names}
        place += parameter.size
    model = problem.groups[0].batches[0].model
    found = set()
    for (name, attribute), at in places.items():
        if attribute == "armature" and (name, "frictionloss") in places:
            dof = int(model.jnt_dofadr[model.joint(name).id])
            carried = float(model.dof_M0[dof] - model.dof_armature[dof])
            friction = float(theta[places[name, "frictionloss"]])
            if carried + float(theta[at]) < sliding_inertia(friction):
                found.add(at)
    return np.array(sorted(found), dtype=np.intp)


def leap(problem: WindowedProblem, solution: Solution) -> Point | None:
    """A place of lower cost at which joints slide that stuck at an optimum; ``None`` without.

    Args:
      problem: The problem.
      solution: Its optimum, with a linearization.

    Raises:
      StopRequestedError: It was asked for.
    """
    theta = solution.point.theta
    stuck = stuck_armatures(problem, theta)
    if not len(stuck):
        return None
    n = len(problem.windows)
    used = spread_evenly(n, np.sqrt(n), WINDOWS)
    part = part_of(problem, used)
    here = Point(theta, tuple(solution.point.starts[k] for k in used))
    part.check_derivatives(here)
    for factor in HEAVIER:
        moved = theta.copy()
        moved[stuck] = np.minimum(factor * theta[stuck], problem.upper[stuck])
        found = minimize(part, Point(moved, here.starts), SolverSettings(max_iterations=STEPS))
        if found.status is FitStatus.CANCELED:
            raise StopRequestedError("a leap was stopped")
        if part.cost(found.point) < LOWER * part.cost(here):
            return Point(found.point.theta, solution.point.starts)
    return None
