# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions of joints that are read one after the other, under one stamp, as on a bus.

Each is then later than the one before, by what a reading takes. That acts as delays do that differ
from joint to joint, which damping, armature and friction make up for; see :mod:`.late_signals`.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import SCALAR
from sysid_ros.engine.least_squares import Point, ReducedSystem
from sysid_ros.engine.parameters import ParameterDict, corrects
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty.late_inputs import all_signals, only_starts_know_time
from sysid_ros.engine.uncertainty.late_signals import lateness
from sysid_ros.engine.uncertainty.step_changes import BY_CHANCE
from sysid_ros.engine.windows import SequenceData

_FEWEST = 3  # joints; of two one is later than the other for many reasons
_SURE = 4.0  # standard errors; a mass or gain that is wrong and held looks like two or three


@dataclass(frozen=True)
class JointsInTurn:
    """Joints that seem to be read one after the other."""

    signals: tuple[str, ...]  # their positions, in turn
    later: float  # s by which each is read after the one before
    error: float  # its standard error, windows as clusters
    interval: float  # s from one message to the next, between which all are read
    values: FloatArray  # by how much the chosen parameters move if that counts, (k,)
    chance: FloatArray  # standard deviation of these by noise, (k,)

    def is_told(self, timestep: float) -> bool:
        """Return whether that is sure, and the last one later by more than a step [s].

        A time step shifts joints by a share of it, each by another one. What seems to be read later
        than the next message is due is something else.
        """
        apart, chance = abs(self.later), BY_CHANCE * self.error
        readings = len(self.signals) - 1
        late = readings * apart > timestep and readings * (apart - chance) < self.interval
        return late and apart > _SURE * self.error


def joints_in_turn(
    problem: WindowedProblem,
    point: Point,
    system: ReducedSystem,
    chosen: IndexArray,
    blocks: ReducedSystem | None = None,
) -> JointsInTurn | None:
    """The joints that seem to be read one after the other; none where fewer than three may be.

    Beside inputs that act late, where nothing that is free says when they do.

    Args:
      problem: The problem.
      point: Its optimum.
      system: The Gauss-Newton model there, starts eliminated.
      chosen: The parameters that are asked for, (k,); the others are fixed.
      blocks: The shares of :func:`by_block` there, if they are known.

    Raises:
      StopRequestedError: The user asked to stop.
    """
    first = problem.windows[0].sequence
    turn = _in_turn(problem.windows[0].model, first, problem.params)
    signals = {tuple(one.name for one in each.sequence.signals) for each in problem.windows}
    if len(turn) < _FEWEST or problem.added is not None or len(signals) > 1:
        return None
    places = {name: float(place) for place, name in enumerate(turn)}
    alike = [all_signals(problem)] if only_starts_know_time(problem) else []
    found = lateness(problem, point, system, chosen, [*alike, places], blocks)
    times = first.sensordata.known(turn[0])[0]
    interval = float(np.median(np.diff(times)))
    return JointsInTurn(tuple(turn), found.later, found.error, interval, found.values, found.chance)


def _in_turn(model: mujoco.MjModel, data: SequenceData, params: ParameterDict) -> list[str]:
    """Positions of one topic's joints whose delays nothing frees, along the chain."""
    joints: dict[str, int] = {}
    for signal in data.signals:
        sensor = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, signal.sensor)
        if int(model.sensor_type[sensor]) == int(mujoco.mjtSensor.mjSENS_JOINTPOS):
            joint = int(model.sensor_objid[sensor])
            if int(model.jnt_type[joint]) in SCALAR:
                joints[signal.name] = joint
    known = {name: data.sensordata.known(name)[0].tobytes() for name in joints}
    instants = [*known.values()]
    together = max(set(instants), key=instants.count, default=b"")
    delayed = {name for one in params.free() for name in corrects(one, "delay")}
    own = [name for name in joints if known[name] == together]
    return [] if delayed & set(own) else sorted(own, key=lambda name: joints[name])
