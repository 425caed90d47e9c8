# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that nothing measures, in a simulation of the whole recording.

The load of a crane swings and nothing but an IMU on it tells how; of a gimbal the camera's rates
are measured and no angle. In the middle of a recording such joints are not where the model has them
at rest: they are where commands, and the measured motion of the other joints, have brought them. So
the recording is simulated from its beginning, with springs that pull the measured joints along. It
is a place to begin from, as good as the model is: starts are estimated about it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.elements import SCALAR, joint_of
from sysid_ros.engine.friction import friction_callback, has_friction
from sysid_ros.engine.residuals import SignalSettings
from sysid_ros.engine.signals import Piecewise, SignalIntegral, TimeSeries, input_actuators
from sysid_ros.engine.simulation import collected_warnings, model_content, step_means

_PULL = 0.15  # of the time constant of a spring, a step: as stiff as steps allow
_TURNS = 1e3  # rad or m, beyond which a simulation has run away

# What a fit simulates of its recordings, as its alternatives and the scores begin with the same.
_CARRIED: WeakKeyDictionary[TimeSeries, dict[Any, CarriedJoints | None]] = WeakKeyDictionary()


@dataclass(frozen=True)
class CarriedJoints:
    """The motion of some joints as simulated."""

    places: IntArray  # of their positions in a state, (k,)
    rates: IntArray  # of their velocities, (k,)
    times: FloatArray  # instants, (n,) s
    positions: FloatArray  # (n, k) rad or m
    velocities: FloatArray  # (n, k)

    def write(self, states: FloatArray, t: FloatArray, velocity_offset: float) -> None:
        """Write where the joints are at ``t`` [s] into states, (w, nstate)."""
        for k, (place, rate) in enumerate(zip(self.places, self.rates, strict=True)):
            states[:, place] = np.interp(t, self.times, self.positions[:, k])
            states[:, rate] = np.interp(t + velocity_offset, self.times, self.velocities[:, k])


def carried_joints(
    model: mujoco.MjModel,
    known: Mapping[int, Sequence[Piecewise]],
    recording: TimeSeries,
    followed: Callable[[FloatArray, float, dict[str, SignalSettings]], FloatArray],
    integrals: Sequence[SignalIntegral | None],
    span: tuple[float, float],
) -> CarriedJoints | None:
    """Simulate what a recording does not measure; ``None`` if that is nothing, or runs away.

    Args:
      model: The compiled model; where not all joints are hinges and slides, nothing is simulated.
      known: Degrees of freedom of which the motion is known, where these functions are.
      recording: What was measured; what it is simulated to is kept as long as it is.
      followed: States (n, nstate) at some instants, see ``StartReader.states``.
      integrals: One per input; ``None`` for one that is not driven.
      span: From when to when, s.
    """
    known = {**dict.fromkeys(_idle(model, integrals), ()), **known}
    others = np.setdiff1d(np.arange(model.nv), list(known))
    if not others.size or any(int(kind) not in SCALAR for kind in model.jnt_type):
        return None
    times = np.arange(*span, float(model.opt.timestep), dtype=np.float64)
    controls = step_means(model, integrals, times, {})
    states = followed(times, 0.0, {})
    kept = _CARRIED.setdefault(recording, {})
    key = _digest(model, controls, states), tuple(sorted(known)), span
    if key not in kept:
        kept[key] = _simulated(model, known, states, times, controls)
    return kept[key]


def _idle(model: mujoco.MjModel, integrals: Sequence[SignalIntegral | None]) -> set[int]:
    """Joints with an actuator of which no command is known: without it they would droop."""
    found: set[int] = set()
    for actuator, integral in zip(input_actuators(model), integrals, strict=True):
        if integral is None:
            joint = joint_of(model, int(actuator))
            found |= set() if joint is None else {int(model.jnt_dofadr[joint])}
    return found


def _digest(model: mujoco.MjModel, *arrays: FloatArray) -> bytes:
    """A short name of everything that is in a model and in what it is simulated with."""
    parts = (model_content(model), *(each.tobytes() for each in arrays))
    return hashlib.sha256(b"".join(parts)).digest()


def _simulated(
    model: mujoco.MjModel,
    known: Mapping[int, Sequence[Piecewise]],
    states: FloatArray,
    times: FloatArray,
    controls: FloatArray,
) -> CarriedJoints | None:
    """Simulate a recording at ``times`` [s], (n,), under ``controls``, (n, nu).

    What is measured is pulled along ``states``, (n, nstate), which are written to.
    """
    others = np.setdiff1d(np.arange(model.nv), list(known))
    measured = np.array(sorted(known), dtype=np.intp)
    place = 1 + model.jnt_qposadr[model.dof_jntid]
    rate = 1 + model.nq + np.arange(model.nv)
    for dof in measured:  # in gaps, and before they begin, functions go on as they please
        for each in known[int(dof)]:
            states[np.ix_(~each.is_known(times), [place[dof], rate[dof]])] = np.nan
    wanted = states[:, place[measured]], states[:, rate[measured]]
    first = states[np.argmax(np.isfinite(states), axis=0), np.arange(states.shape[1])]
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = np.split(first[1 : 1 + model.nq + model.nv], [model.nq])
    friction = friction_callback() if has_friction(model) else nullcontext()
    with friction, collected_warnings() as warnings:
        moved = _pulled_along(model, data, measured, wanted, controls)
    positions, velocities = moved[:, place[others] - 1], moved[:, rate[others] - 1]
    # Where MuJoCo warns that a simulation is unstable, it has begun anew.
    if warnings or not np.all(np.abs(positions) < _TURNS) or not np.all(np.isfinite(velocities)):
        return None
    return CarriedJoints(place[others], rate[others], times, positions, velocities)


def _pulled_along(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    measured: IntArray,
    wanted: tuple[FloatArray, FloatArray],
    controls: FloatArray,
) -> FloatArray:
    """Simulate with springs from where measured joints are to where they were measured.

    Args:
      model: The compiled model.
      data: At the start; left at the end.
      measured: Degrees of freedom, (k,).
      wanted: Their positions and velocities, (n, k) each, not finite where they are not known.
      controls: (n, nu).

    Returns:
      Positions and velocities before each step, (n, nq + nv); NaN from where the others run away.
    """
    mujoco.mj_forward(model, data)
    others = np.setdiff1d(np.arange(model.nq), model.jnt_qposadr[model.dof_jntid[measured]])
    own = model.jnt_qposadr[model.dof_jntid[measured]]
    unit = np.eye(model.nv)[measured]
    answer = np.empty_like(unit)
    stiff = _PULL / float(model.opt.timestep)
    states = np.full((len(controls), model.nq + model.nv), np.nan)
    for k, (state, place, rate) in enumerate(zip(states, *wanted, strict=True)):
        state[:] = *data.qpos, *data.qvel
        if not np.abs(state[others]).max() < _TURNS:
            return states
        if len(measured):
            pull = stiff**2 * (place - data.qpos[own]) + 2.0 * stiff * (rate - data.qvel[measured])
            mujoco.mj_solveM(model, data, answer, unit)  # others give way: springs are no stiffer
            data.qfrc_applied[measured] = np.linalg.solve(answer[:, measured], np.nan_to_num(pull))
        data.ctrl[:] = controls[k]
        mujoco.mj_step(model, data)
    return states
