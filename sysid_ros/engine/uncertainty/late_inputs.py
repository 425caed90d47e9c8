# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Torques that act earlier or later than they are stamped, where nothing that is free says when.

A torque that was sampled just before the next one acts is early by half of what it is held for, one
that was sampled just behind is as much late; commands act when they arrive. Damping and armature
make up for either; see :mod:`.late_signals`.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import is_effort
from sysid_ros.engine.least_squares import Point, ReducedSystem
from sysid_ros.engine.parameters import corrects, written_by
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty.late_signals import Lateness, lateness, moving_signals

_SURE = 4.0  # standard errors; a mass or gain that is wrong and held looks like two or three
_OF_A_STEP = 0.25  # by which semi-implicit steps may be off


@dataclass(frozen=True)
class LateInputs:
    """Inputs that seem to act later than they are stamped."""

    later: float  # s, negative where they act earlier
    error: float  # its standard error, windows as clusters
    values: FloatArray  # by how much the chosen parameters move if that counts, (k,)
    chance: FloatArray  # standard deviation of these by noise, (k,)

    def is_told(self, timestep: float) -> bool:
        """Return whether that is sure, and beyond what a step [s] is off by."""
        return abs(self.later) > max(_SURE * self.error, _OF_A_STEP * timestep)


def late_inputs(
    problem: WindowedProblem,
    point: Point,
    system: ReducedSystem,
    chosen: IndexArray,
    blocks: ReducedSystem | None = None,
) -> LateInputs | None:
    """The torques that drive a robot, if they seem to be late; none where something else may be.

    Args:
      problem: The problem.
      point: Its optimum.
      system: The Gauss-Newton model there, starts eliminated.
      chosen: The parameters that are asked for, (k,); the others are fixed.
      blocks: The shares of ``by_block`` there, if they are known.

    Raises:
      StopRequestedError: The user asked to stop.
    """
    if not only_starts_know_time(problem):
        return None
    found = lateness(problem, point, system, chosen, [all_signals(problem)], blocks)
    return LateInputs(found.later, found.error, found.values, found.chance)


def read_apart(
    problem: WindowedProblem,
    point: Point,
    system: ReducedSystem,
    chosen: IndexArray,
    blocks: ReducedSystem | None = None,
) -> tuple[tuple[str, ...], Lateness] | None:
    """Signals of a kind that are surely read at another time than all others, and how late.

    As of velocities that a driver filters, which tell what was, and would be taken for inputs that
    act late. The arguments are those of :func:`late_inputs`. None where all kinds agree, or
    nothing but one of them moves.
    """
    moving = moving_signals(problem, point)
    kinds: dict[int, dict[str, float]] = {}
    for each in problem.windows:
        for one in each.sequence.signals:
            if one.name not in moving:
                continue
            sensor = mujoco.mj_name2id(each.model, mujoco.mjtObj.mjOBJ_SENSOR, one.sensor)
            kinds.setdefault(int(each.model.sensor_type[sensor]), {})[one.name] = 1.0
    if len(kinds) < 2:
        return None
    every = all_signals(problem)
    found = [
        (tuple(own), lateness(problem, point, system, chosen, [every, own], blocks))
        for own in kinds.values()
    ]
    names, most = max(found, key=lambda one: abs(one[1].later) / one[1].error)
    return (names, most) if abs(most.later) > _SURE * most.error else None


def all_signals(problem: WindowedProblem) -> dict[str, float]:
    """All measured signals, each read as much too early as inputs act late."""
    return {one.name: -1.0 for each in problem.windows for one in each.sequence.signals}


def only_starts_know_time(problem: WindowedProblem) -> bool:
    """Return whether inputs that are late look as if all signals were early, and nothing else.

    So it is where starts are estimated, numbers are compared rather than orientations, and no
    parameter says when something acts or was measured. Servos lag, which gears that bend do too.
    """
    if problem.added is not None:
        return False
    for each in problem.windows:
        turns = any(one.rotation is not None for one in each.sequence.signals)
        driven = [k for k, one in enumerate(each.sequence.controls) if one is not None]
        forces = bool(driven) and all(is_effort(each.model, k) for k in driven)
        if turns or not forces or not each.n_start:
            return False
    for one in problem.params.free():
        target = written_by(one)
        if corrects(one, "delay") or target.attribute == "time_constant":
            return False
    return True
