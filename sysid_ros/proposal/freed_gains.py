# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Settings of servos that explain more than what stands for them: damping, a mass, or a delay.

A servo lags by its damping over its gain, and sags by the load over it. So damping stands for a
gain that is too small, until it would have to be negative, and a lighter body for gains that are
all too small: each by itself explains little beside it, all together more. Likewise an earlier
command stands for a low pass that is too slow, until it would have to come before it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import mujoco

from sysid_ros.engine.elements import joints_above, n_actuators
from sysid_ros.engine.least_squares import Point
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.chosen_forward import DEMANDED, System
from sysid_ros.proposal.signals import moved_by

_PROMISED = 0.1 * DEMANDED["kp"]  # by one linearization, or it is not tried
_STEPS = 3  # of a search, from the model's values
_AS_GOOD = 1.1  # times what gains and masses leave together, that gains alone may leave

# A step towards the recordings, of those candidates that are not on demand.
Nearer = Callable[[WindowedProblem, Point, Sequence[Candidate]], Point]


def with_gains_beside_damping(
    problem: WindowedProblem,
    point: Point,
    offered: Sequence[Candidate],
    nearer: Nearer,
    *,
    steps: int,
) -> tuple[Sequence[Candidate], Point]:
    """The candidates and the point, with gains that take what damping cannot.

    Gains that explain more where damping would have to be negative are no longer on demand.
    """
    model = problem.groups[0].batches[0].model
    at_zero = {
        one.name
        for one, value, low in zip(offered, point.theta, problem.lower, strict=True)
        if one.attribute == "damping" and value <= low
    }
    found = [*offered]
    for i, one in enumerate(offered):
        if one.on_demand and one.attribute == "kp":
            damped = at_zero & _driven_by(model, one.name)
            if not damped or _promised(problem, point, found, i, damped) < _PROMISED:
                continue
            freed = [*found[:i], replace(one, on_demand=False), *found[i + 1 :]]
            without, there = point, point
            for _ in range(steps):
                without, there = nearer(problem, without, found), nearer(problem, there, freed)
            if problem.cost(there) < (1.0 - DEMANDED["kp"]) * problem.cost(without):
                found, point = freed, there
    return found, point


def _promised(
    problem: WindowedProblem, point: Point, offered: Sequence[Candidate], i: int, damped: set[str]
) -> float:
    """The share of what is left that a gain explains, by a step without damping that is zero."""
    beside = [
        j
        for j, one in enumerate(offered)
        if not one.on_demand and not (one.attribute == "damping" and one.name in damped)
    ]
    return System.of(problem.linearize(point)).share_explained(i, beside, offered)


def with_gains_for_masses(
    problem: WindowedProblem, point: Point, offered: Sequence[Candidate], nearer: Nearer
) -> tuple[Sequence[Candidate], Point]:
    """The candidates and the point, with all gains in place of masses that findings name.

    They are where they explain clearly more, and masses beside them next to nothing. Those of
    servos that carry none of these masses, as a gripper's on a heavy hand, explain something else.
    """
    gains = {i for i, one in enumerate(offered) if one.attribute == "kp" and one.on_demand}
    named = {i for i, one in enumerate(offered) if one.element == "body" and one.guessed}
    if len(gains) < 2 or not named:
        return offered, point
    model = problem.groups[0].batches[0].model
    carrying = _carrying(model, [offered[i].name for i in named])
    gains = {i for i in gains if carrying & _driven_by(model, offered[i].name)}

    def freed(*, masses: bool) -> list[Candidate]:
        found = [*offered]
        for i in gains:  # where others are wrong, none is known
            found[i] = replace(offered[i], on_demand=False, guessed=True)
        for i in () if masses else named:
            found[i] = replace(offered[i], on_demand=True, guessed=False)
        return found

    def end(tried: Sequence[Candidate]) -> Point:
        there = problem.initial_point()
        for _ in range(_STEPS):
            there = nearer(problem, there, tried)
        return there

    alone = end(freed(masses=False))
    left = problem.cost(alone)
    if left >= (1.0 - DEMANDED["kp"]) * problem.cost(end(offered)):
        return offered, point
    if left >= _AS_GOOD * problem.cost(end(freed(masses=True))):
        return offered, point
    return freed(masses=False), alone


def with_time_constants_for_delays(
    problem: WindowedProblem, point: Point, offered: Sequence[Candidate], nearer: Nearer
) -> tuple[Sequence[Candidate], Point]:
    """The candidates and the point, with time constants that explain clearly more than delays.

    They are tried where a delay goes to its lower bound.
    """
    found = [*offered]
    delays = [i for i, one in enumerate(offered) if one.attribute == "delay"]
    constants = [i for i, one in enumerate(offered) if one.attribute == "time_constant"]
    for i in (k for k in constants if offered[k].on_demand):
        without = _steps(problem, point, found, nearer)
        if not any(without.theta[k] <= problem.lower[k] for k in delays):
            break
        freed = [*found[:i], replace(found[i], on_demand=False), *found[i + 1 :]]
        # A step along both, which do nearly the same, would go nowhere.
        held = [replace(one, on_demand=True) if one.attribute == "delay" else one for one in freed]
        there = _steps(problem, point, held, nearer)
        if problem.cost(there) < (1.0 - DEMANDED["kp"]) * problem.cost(without):
            found, point = freed, there
    return found, point


def _steps(
    problem: WindowedProblem, point: Point, offered: Sequence[Candidate], nearer: Nearer
) -> Point:
    for _ in range(_STEPS):
        point = nearer(problem, point, offered)
    return point


def _carrying(model: mujoco.MjModel, bodies: Sequence[str]) -> set[str]:
    """The joints that move some bodies."""
    above = (joints_above(model, int(model.body(body).id)) for body in bodies)
    return {str(model.joint(joint).name) for own in above for joint in own}


def _driven_by(model: mujoco.MjModel, actuators: str) -> set[str]:
    """The joints that an actuator moves, or all of them by the name of ``*``."""
    numbers = range(n_actuators(model))
    own = [k for k in numbers if actuators in ("*", str(model.actuator(k).name))]
    return set[str]().union(*(moved_by(model, k) for k in own))
