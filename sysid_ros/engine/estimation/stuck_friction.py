# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that slide and joints that hardly ever do, which a motion may not tell apart.

MuJoCo's dry friction below its limit is (d / (1 - d)) m (a + 2 v / (d t)), with d 0.9 and t 0.02 s:
of a joint with little inertia m it is whole at high speeds only, and acts as damping below. A
search that gets there, with too little armature and too much friction, stays: slopes do not tell
what the joint is like where it slides. So such armatures are made larger by a few factors, and all
else follows for a few steps on some windows.

The other way round, a joint that is found to have no friction moves as one whose friction never
lets go, with a tenth of the inertia and less damping. No slope tells of that either, so that
intervals are widened by what lies between the two.
"""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.shifts import HELD_BY_FRICTION, Shift
from sysid_ros.engine.estimation.window_sample import part_of, searched, spread_evenly
from sysid_ros.engine.least_squares import Point, Solution, SolverSettings
from sysid_ros.engine.parameters import AT_LOWER_BOUND, Bounds, written_by
from sysid_ros.engine.problem import WindowedProblem

STIFF = 1e3  # 1/s, friction below its limit over inertia and speed, with MuJoCo's d and t
SLIDES = 0.1  # rad/s or m/s at which friction is whole, from which a joint hardly slides
HEAVIER = (100.0, 30.0)  # factors on armatures that stuck
LEAST = 0.1  # of the inertia with which friction is whole at that speed, that they are taken of
WINDOWS = 3  # at the least, that decide whether a leap leads lower
STEPS = SolverSettings(max_iterations=8)  # in which it has to
LOWER = 0.9  # of the cost that it leads below
HELD = 10.0  # times its inertia is that of a joint whose friction does not let go, 1 / (1 - d)
SURE = 2.0  # standard errors
UNTOLD = 2.0  # time steps, of a joint's lag, that a motion does not tell from others


def sliding_inertia(friction: float) -> float:
    """The inertia of a joint, kg m^2 or kg, that some dry friction lets slide, N m or N."""
    return friction / (SLIDES * STIFF)


def stuck_armatures(problem: WindowedProblem, theta: FloatArray) -> dict[int, float]:
    """Armatures of joints whose friction is whole at high speeds only, with the least that is not.

    Returns:
      By place in the parameters the inertia [kg m^2 or kg] with which friction would be whole from
      :data:`SLIDES` on.
    """
    places = _joint_places(problem)
    models = [group.batches[0].model for group in problem.groups]
    found: dict[int, float] = {}
    for (robot, name, attribute), at in places.items():
        own = places.get((robot, name, "frictionloss"), places.get((None, name, "frictionloss")))
        if attribute == "armature" and own is not None:
            needed = sliding_inertia(float(theta[own]))
            if needed > _carried(models, name) + float(theta[at]):
                found[at] = max(needed, found.get(at, 0.0))
    return found


def _joint_places(problem: WindowedProblem) -> dict[tuple[str | None, str, str], int]:
    """The place in the parameters of each joint's scalar, by robot, joint and attribute."""
    return {
        (parameter.robot, name, target.attribute): own.start
        for parameter, own in problem.params.places()
        if (target := written_by(parameter)).element == "joint" and parameter.size == 1
        for name in target.names
    }


def held_by_friction(
    problem: WindowedProblem, theta: FloatArray, errors: FloatArray
) -> Shift | None:
    """The change of joints without friction if theirs never let go; ``None`` if none can be such.

    With an inertia m, links included, friction that never lets go adds 9 m to the inertia and
    1000 m to the damping. An m is possible that is no less than that of the links, takes no more
    than all damping, and has an inertia that the estimate's error allows, or a lag of two time
    steps, which delays and the integrator's own lag hide. What is between the two ends is within
    twice the error.

    Args:
      problem: The problem.
      theta: The estimates, (p,).
      errors: Their standard errors so far, (p,); NaN where none is claimed.
    """
    places = _joint_places(problem)
    models = [group.batches[0].model for group in problem.groups]
    # What the time step leaves of a friction near zero may be many errors from it, and is none.
    bounds = Bounds.of(problem.lower, problem.upper, theta)
    at_bound = [AT_LOWER_BOUND in flags for flags in bounds.flags(theta, errors)]
    values, error = np.zeros(len(theta)), np.zeros(len(theta))
    for (robot, name, attribute), friction in places.items():
        damping = places.get((robot, name, "damping"))
        armature = places.get((robot, name, "armature"))
        if attribute != "frictionloss" or damping is None or armature is None:
            continue
        found = theta[friction] > SURE * errors[friction] and not at_bound[friction]
        if found or not np.isfinite(errors[friction]):
            continue
        links = _carried(models, name)
        lag = UNTOLD * float(models[0].opt.timestep) * float(theta[damping])
        allowed = SURE * float(np.nan_to_num(errors[armature])) + lag
        inertia = float(theta[armature]) + links
        least = max(links, (inertia - allowed) / HELD)
        most = min((inertia + allowed) / HELD, float(theta[damping]) / STIFF)
        if most < least:
            continue
        values[damping] = -STIFF * most
        lighter, heavier = least - inertia, most - inertia
        values[armature] = lighter if abs(lighter) > abs(heavier) else heavier
        room = float(problem.upper[friction]) - float(theta[friction])
        values[friction] = room if np.isfinite(room) else STIFF * most
        for place in (friction, damping, armature):
            error[place] = abs(values[place]) / SURE
    if not error.any():
        return None
    return Shift(HELD_BY_FRICTION, 0.0, values, np.zeros(len(theta)), error)


def _carried(models: Sequence[mujoco.MjModel], joint: str) -> float:
    """The inertia that a joint moves besides its armature, in the first model that has it."""
    for model in models:
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if number >= 0:
            dof = int(model.jnt_dofadr[number])
            return float(model.dof_M0[dof] - model.dof_armature[dof])
    return np.inf


def leap(problem: WindowedProblem, solution: Solution) -> Point | None:
    """A place of lower cost at which joints slide that stuck at an optimum; ``None`` without.

    Raises:
      StopRequestedError: It was asked for.
    """
    theta = solution.point.theta
    stuck = stuck_armatures(problem, theta)
    if not stuck:
        return None
    places = np.array(list(stuck), dtype=np.intp)
    least = LEAST * np.array(list(stuck.values()))  # a factor leads nowhere from zero
    n = len(problem.windows)
    used = spread_evenly(n, np.sqrt(n), WINDOWS)
    part = part_of(problem, used)
    here = Point(theta, tuple(solution.point.starts[k] for k in used))
    part.check_derivatives(here)
    stayed: float | None = None
    for factor in HEAVIER:
        moved = theta.copy()
        moved[places] = np.minimum(factor * np.maximum(theta[places], least), problem.upper[places])
        found = searched(part, Point(moved, here.starts), STEPS).point
        cost = part.cost(found)
        if cost >= LOWER * part.cost(here):
            continue
        if stayed is None:  # some windows alone may be explained better from where it is, too
            stayed = part.cost(searched(part, here, STEPS).point)
        if cost < LOWER * stayed:
            return Point(found.theta, solution.point.starts)
    return None
