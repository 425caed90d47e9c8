# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A robot simulated at a fine time step, seen at the instants at which it is measured.

The robot is continuous and the simulation is not: under the integrators that are a leapfrog (all
but RK4) a force acts half a step too early on positions, and velocities are those of half a step
before. Both are undone, so that what is recorded is off by the square of the time step only: a
command counts half in the step in which it begins to act, and velocities are the mean of two steps.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import first_inputs
from sysid_ros.engine.signals import is_semi_implicit, step_offsets
from sysid_ros.rehearsal.drive import Drive
from sysid_ros.rehearsal.plan import RehearsalError

_WHOLE, _EFFECT, _SAMPLE, _TICK = range(4)  # of one instant, in this order
_BAD = (
    int(mujoco.mjtWarning.mjWARN_BADQPOS),
    int(mujoco.mjtWarning.mjWARN_BADQVEL),
    int(mujoco.mjtWarning.mjWARN_BADQACC),
)


@dataclass(frozen=True)
class Seen:
    """The true state at a topic's instants."""

    times: FloatArray  # (n,) s since the beginning
    qpos: FloatArray  # (n, nq)
    qvel: FloatArray  # (n, nv)
    effort: FloatArray  # (n, nv) generalized force of the actuators
    sensors: FloatArray  # (n, nsensordata)


@dataclass(frozen=True)
class Course:
    """A simulated recording."""

    seen: Mapping[str, Seen]  # by topic
    sent: FloatArray  # (k,) s, when commands were sent
    controls: FloatArray  # (k, n_actuators) what was sent


def simulate(
    model: mujoco.MjModel,
    start: mujoco.MjData,
    drive: Drive,
    *,
    ticks: FloatArray,
    delays: FloatArray,
    instants: Mapping[str, FloatArray],
    settle: float = 0.0,
) -> Course:
    """Simulate a motion.

    Args:
      model: The robot, with the time step of the simulation.
      start: Its start; goes on to the end.
      drive: What moves it.
      ticks: (k,) s, when commands are sent; they are moved to the nearest step.
      delays: (n_actuators,) s from then to their effect.
      instants: When each topic is measured, s; moved likewise.
      settle: Seconds before the beginning, under the commands of its first instant.

    Raises:
      RehearsalError: The simulation runs away.
    """
    step = float(model.opt.timestep)
    inputs = first_inputs(model)
    start.ctrl[inputs] = drive.controls(0.0, start)
    period = max(1, round(float(ticks[1] - ticks[0]) / step)) if len(ticks) > 1 else 1
    for k in range(round(settle / step)):
        if k % period == 0:  # what flies is held in the air
            start.ctrl[inputs] = drive.controls(0.0, start)
        mujoco.mj_step(model, start)
    queue: list[_Event] = [(round(t / step), _TICK, "", k) for k, t in enumerate(ticks)]
    for topic, times in instants.items():
        queue += [(at, _SAMPLE, topic, k) for k, at in enumerate(_distinct(times, step))]
    heapq.heapify(queue)
    tables = {topic: _empty(model, len(times)) for topic, times in instants.items()}
    sent, controls = np.empty(len(ticks)), np.empty((len(ticks), len(inputs)))
    late = np.rint(delays / step).astype(int)
    early, beside = step_offsets(model)[inputs] < 0.0, mujoco.MjData(model)
    now = 0
    while queue:
        at, kind, topic, k = heapq.heappop(queue)
        if at > now:
            mujoco.mj_step(model, start, at - now)
            now = at
        if kind == _WHOLE:
            due = late == int(topic)
            start.ctrl[inputs[due]] = controls[k, due]
        elif kind == _EFFECT:
            due = late == int(topic)
            half = 0.5 * (start.ctrl[inputs] + controls[k])
            start.ctrl[inputs[due]] = np.where(early, half, controls[k])[due]
            heapq.heappush(queue, (now + 1, _WHOLE, topic, k))
        elif kind == _SAMPLE:
            _look(model, start, beside, tables[topic], k, now * step)
        else:
            sent[k] = now * step
            controls[k] = drive.controls(now * step, start)
            for delay in np.unique(late):
                heapq.heappush(queue, (now + int(delay), _EFFECT, str(delay), k))
    return Course(tables, sent, controls)


def _distinct(times: FloatArray, step: float) -> list[int]:
    """The steps nearest to instants in order, none of them twice."""
    number = np.arange(len(times))
    after = np.maximum.accumulate(np.rint(times / step).astype(int) - number)
    return [int(at) for at in after + number]


_Event = tuple[int, int, str, int]  # step, kind, topic or delay in steps, number


def _empty(model: mujoco.MjModel, count: int) -> Seen:
    sizes = (model.nq, model.nv, model.nv, model.nsensordata)
    return Seen(np.empty(count), *(np.empty((count, size)) for size in sizes))


def _look(
    model: mujoco.MjModel,
    now: mujoco.MjData,
    data: mujoco.MjData,
    seen: Seen,
    row: int,
    time: float,
) -> None:
    """Read everything now: after a step, forces and sensors are still those of its beginning."""
    mujoco.mj_copyData(data, model, now)
    if is_semi_implicit(model):
        mujoco.mj_step(model, data)
        velocity = 0.5 * (now.qvel + data.qvel)
        mujoco.mj_copyData(data, model, now)
        data.qvel[:] = velocity
    mujoco.mj_forward(model, data)
    if not np.all(np.isfinite(data.qacc)) or any(data.warning.number[kind] for kind in _BAD):
        raise RehearsalError(
            f"the simulated robot flies apart before {time:.2f} s; take a smaller time step or "
            "motion, or other true values"
        )
    seen.times[row] = time
    seen.qpos[row], seen.qvel[row] = data.qpos, data.qvel
    seen.effort[row], seen.sensors[row] = data.qfrc_actuator, data.sensordata
