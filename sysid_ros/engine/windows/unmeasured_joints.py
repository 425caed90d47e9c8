# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that nothing measures, in a simulation of the whole recording.

The load of a crane or a drone swings and nothing but an IMU on it tells how; of a gimbal the
camera's rates are measured and no angle, and of a base on wheels no pose. In the middle of a
recording such joints are not where the model has them at rest: they are where commands, and the
measured motion of the other joints, have brought them. So the recording is simulated from its
beginning, with springs that pull the measured joints along, and dampers those of which velocities
alone are measured. It is a place to begin from, as good as the model is: starts are estimated about
it.
"""

from __future__ import annotations

import copy
import hashlib
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary, WeakValueDictionary

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IntArray
from sysid_ros.engine.elements import actuator_moments, joint_of, joint_parts
from sysid_ros.engine.friction import LEAST_FRICTIONLOSS, friction_callback, has_friction
from sysid_ros.engine.residuals import UNCHANGED, SignalSettings
from sysid_ros.engine.signals import (
    Piecewise,
    SignalIntegral,
    TimeSeries,
    input_actuators,
    rotated,
    step_offsets,
)
from sysid_ros.engine.simulation import collected_warnings, model_numbers, step_means
from sysid_ros.engine.windows.measured_twists import MeasuredVelocity

_PULL = 0.15  # of the time constant of a spring, a step: as stiff as steps allow
_OFTEN = 5  # steps after which the inertia that springs feel is computed again
_EDGE = 0.1  # s at either end, in which a drive without its measured joint moves nothing far
_TURNS = 1e3  # rad or m, beyond which a simulation has run away

# What a fit simulates of its recordings, as its alternatives and the scores begin with the same, by
# a digest of what it is simulated with.
_CARRIED: WeakKeyDictionary[TimeSeries, dict[bytes, CarriedJoints | None]] = WeakKeyDictionary()
# The same by what is simulated: a copy of a series in which another signal is changed has it.
_ALIKE: WeakValueDictionary[bytes, CarriedJoints] = WeakValueDictionary()
# Of these the latest, as each test of a recording has its own series.
_LATEST: deque[CarriedJoints] = deque(maxlen=8)


@dataclass(frozen=True)
class KnownMotion:
    """The degrees of freedom that measurements tell, each where its functions of time are known."""

    # functions by degree of freedom of which position and velocity are measured; none for one that
    # stays where it is
    places: Mapping[int, Sequence[Piecewise]]
    # by the first of three degrees of freedom of a free joint, linear or angular, of which the
    # velocity alone is measured
    rates: Mapping[int, MeasuredVelocity]


@dataclass(frozen=True)
class CarriedJoints:
    """The motion of some joints as simulated."""

    places: IntArray  # of their positions in a state, (k,)
    rates: IntArray  # of their velocities, (m,)
    quaternions: IntArray  # places in a state at which quaternions among the positions begin
    times: FloatArray  # instants, (n,) s
    positions: FloatArray  # (n, k) rad or m, and parts of quaternions
    velocities: FloatArray  # (n, m)
    inputs: bytes  # a digest of what they were simulated with
    course: _Course  # which may go on from there

    def write(self, states: FloatArray, t: FloatArray, velocity_offset: float) -> None:
        """Write where the joints are at ``t`` [s] into states, (w, nstate)."""
        for k, place in enumerate(self.places):
            states[:, place] = np.interp(t, self.times, self.positions[:, k])
        for k, rate in enumerate(self.rates):
            states[:, rate] = np.interp(t + velocity_offset, self.times, self.velocities[:, k])
        for place in self.quaternions:
            turned = states[:, place : place + 4]
            turned /= np.linalg.norm(turned, axis=1, keepdims=True)

    def may_go_on(self, inputs: bytes) -> bool:
        """Return whether the simulation with some inputs, by their digest, goes on with these."""
        return inputs == self.inputs and self.course.steps == len(self.times)


def carried_joints(
    model: mujoco.MjModel,
    known: KnownMotion,
    recording: TimeSeries,
    followed: Callable[[FloatArray, float, dict[str, SignalSettings]], FloatArray],
    integrals: Sequence[SignalIntegral | None],
    span: tuple[float, float],
    begun: CarriedJoints | None = None,
) -> CarriedJoints | None:
    """Simulate what a recording does not measure; ``None`` if that is nothing, or runs away.

    Args:
      model: The compiled model.
      known: What of the motion is known.
      recording: What was measured; what it is simulated to is kept as long as it is.
      followed: States (n, nstate) at some instants, see ``StartReader.states``.
      integrals: One per input; ``None`` for one that is not driven.
      span: From when to when, s.
      begun: What may be its beginning, to go on with.
    """
    places = {**dict.fromkeys(_idle(model, integrals), ()), **known.places}
    if len(places) == model.nv:
        return None
    timestep = float(model.opt.timestep)
    times = np.arange(*span, timestep, dtype=np.float64)
    unchanged = [UNCHANGED] * len(integrals)
    controls = step_means(timestep, integrals, times, step_offsets(model), unchanged)
    motion = KnownMotion(places, known.rates)
    pulls = _Pulls.of(model, motion, followed(times, 0.0, {}), times)
    idle = _pulled_drives(model, pulls)
    model, controls = (
        _without_forces(model, idle),
        np.where(idle[input_actuators(model)], 0.0, controls),
    )
    kept = _CARRIED.setdefault(recording, {})

    def inputs(n: int) -> bytes:
        """A digest of what the first steps are simulated with."""
        own = (one[:n] for one in (times, controls, pulls.places, pulls.rates, pulls.known))
        return _digest(model, np.array(sorted(places)), pulls.start, *own)

    key = inputs(len(times))
    if key not in kept:
        if begun is not None and not begun.may_go_on(inputs(len(begun.times))):
            begun = None
        kept[key] = _ALIKE.get(key) or _simulated(model, places, pulls, times, controls, key, begun)
    found = kept[key]
    if found is not None:
        _ALIKE[key] = found
        _LATEST.append(found)
    return found


def _idle(model: mujoco.MjModel, integrals: Sequence[SignalIntegral | None]) -> set[int]:
    """Joints with an actuator of which no command is known: without it they would droop."""
    owners = input_actuators(model)
    told = {int(a) for a, one in zip(owners, integrals, strict=True) if one is not None}
    joints = [joint_of(model, actuator) for actuator in {*owners.tolist()} - told]
    return {int(model.jnt_dofadr[joint]) for joint in joints if joint is not None}


def _digest(model: mujoco.MjModel, *arrays: FloatArray | BoolArray | IntArray) -> bytes:
    """A short name of all numbers of a model, and of those that it is simulated with."""
    parts = (np.asarray(one).tobytes() for one in (*model_numbers(model), *arrays))
    return hashlib.sha256(b"".join(parts)).digest()


def _pulled_drives(model: mujoco.MjModel, pulls: _Pulls) -> BoolArray:
    """The actuators that move only what springs pull along throughout, (n_actuators,).

    Without them the same simulation serves for other commands and other servos of these joints.
    """
    data = mujoco.MjData(model)
    data.qpos[:] = pulls.start[: model.nq]
    mujoco.mj_fwdPosition(model, data)
    moves, pulled = actuator_moments(data) != 0.0, np.zeros(model.nv, dtype=np.bool_)
    edge = round(_EDGE / float(model.opt.timestep))  # signals do not begin and end at once
    pulled[pulls.dofs[pulls.springs & pulls.known[edge : -edge or None].all(axis=0)]] = True
    return np.asarray(moves.any(axis=1) & ~(moves & ~pulled).any(axis=1))


def _without_forces(model: mujoco.MjModel, idle: BoolArray) -> mujoco.MjModel:
    """A copy of a model in which some actuators, (n_actuators,), exert nothing.

    Nor does friction that is next to none, of which each joint would be a constraint.
    """
    plain = copy.copy(model)
    plain.dof_frictionloss[plain.dof_frictionloss <= LEAST_FRICTIONLOSS] = 0.0
    plain.actuator_gaintype[idle] = int(mujoco.mjtGain.mjGAIN_FIXED)
    plain.actuator_gainprm[idle] = 0.0
    plain.actuator_biastype[idle] = int(mujoco.mjtBias.mjBIAS_NONE)
    plain.actuator_biasprm[idle] = 0.0
    return plain


@dataclass(frozen=True)
class _Pulls:
    """Springs and dampers to what was measured at each of n instants."""

    dofs: IntArray  # degrees of freedom that are pulled, (k,)
    start: FloatArray  # positions and velocities with which everything begins, (nq + nv,)
    places: FloatArray  # where springs pull them, (n, nq)
    rates: FloatArray  # to which velocities, (n, k)
    known: BoolArray  # where these are known, (n, k)
    springs: BoolArray  # which of them springs pull, and not dampers alone, (k,)
    # of velocities in another frame than the model's: the place of their three degrees of freedom
    # among those that are pulled, that of the orientation in qpos, and whether it turns them, or
    # its inverse
    turns: tuple[tuple[int, int, bool], ...]
    stiff: float  # acceleration that a damper adds, of a difference of velocities, 1/s

    @classmethod
    def of(
        cls, model: mujoco.MjModel, known: KnownMotion, states: FloatArray, times: FloatArray
    ) -> _Pulls:
        """Those to a motion at instants [s], (n,), where states (n, nstate) follow it."""
        places, rates = np.split(states[:, 1 : 1 + model.nq + model.nv], [model.nq], axis=1)
        start: FloatArray = np.append(places[0], np.zeros(model.nv))
        for part in joint_parts(model):
            for each in known.places.get(part.dofs.start, ()):
                unsure = ~each.is_known(times)  # functions go on as they please there
                rates[unsure, part.dofs] = np.nan
            sure = np.isfinite(rates[:, part.dofs.start])
            start[part.places] = places[sure.argmax(), part.places]
        for dof, velocity in known.rates.items():
            rates[:, dof : dof + 3] = velocity.values(times)
            if velocity.turned is not None:
                rates[:, dof : dof + 3] = rotated(velocity.turned, rates[:, dof : dof + 3])
            rates[~velocity.values.is_known(times), dof : dof + 3] = np.nan
        dofs = sorted({*known.places, *(dof + i for dof in known.rates for i in range(3))})
        wanted, sure = np.nan_to_num(rates[:, dofs]), np.isfinite(rates[:, dofs])
        if dofs:
            start[model.nq + np.array(dofs)] = wanted[sure.argmax(axis=0), np.arange(len(dofs))]
        return cls(
            np.array(dofs, dtype=np.intp), start, places, wanted, sure,
            np.array([dof in known.places for dof in dofs], dtype=np.bool_),
            tuple(_turns(model, known.rates, dofs)), _PULL / float(model.opt.timestep),
        )  # fmt: skip

    @cached_property
    def _damping(self) -> FloatArray:
        """Acceleration by dampers at each instant, of a difference of velocities, (n, k)."""
        return np.asarray(self.known * (1.0 + self.springs) * self.stiff)

    @cached_property
    def _towards(self) -> FloatArray:
        """The same times the velocities themselves, (n, k)."""
        return self._damping * self.rates

    @cached_property
    def _stiffness(self) -> FloatArray | None:
        """The same by springs, of a difference of places, (n, k); none without any."""
        if not self.springs.any():
            return None
        return np.asarray(self.known * self.springs * self.stiff**2, dtype=np.float64)

    def accelerations(self, model: mujoco.MjModel, data: mujoco.MjData, k: int) -> FloatArray:
        """Accelerations that springs and dampers add at the k-th instant, (k,)."""
        pull = self._towards[k] - self._damping[k] * data.qvel[self.dofs]
        for at, place, forward in self.turns:
            turned, turn = np.empty(3), data.qpos[place : place + 4].copy()
            if not forward:
                mujoco.mju_negQuat(turn, turn)
            mujoco.mju_rotVecQuat(turned, self.rates[k, at : at + 3], turn)
            own = slice(at, at + 3)
            pull[own] += self._damping[k, own] * (turned - self.rates[k, own])
        if self._stiffness is not None:
            away = np.empty(model.nv)
            mujoco.mj_differentiatePos(model, away, 1.0, data.qpos, self.places[k])
            pull += self._stiffness[k] * away[self.dofs]
        return np.asarray(pull)


def _turns(
    model: mujoco.MjModel, rates: Mapping[int, MeasuredVelocity], dofs: Sequence[int]
) -> Iterator[tuple[int, int, bool]]:
    """The velocities that are measured in another frame than the model's, see :class:`_Pulls`."""
    for dof, velocity in rates.items():
        joint = int(model.dof_jntid[dof])
        linear = dof == int(model.jnt_dofadr[joint])
        if linear == (velocity.turned is not None):
            yield dofs.index(dof), int(model.jnt_qposadr[joint]) + 3, linear


def _simulated(
    model: mujoco.MjModel,
    known: Collection[int],
    pulls: _Pulls,
    times: FloatArray,
    controls: FloatArray,
    inputs: bytes,
    begun: CarriedJoints | None,
) -> CarriedJoints | None:
    """Simulate a recording at ``times`` [s], (n,), under ``controls``, (n, nu).

    Args:
      model: The compiled model.
      known: The degrees of freedom that stand where they were measured.
      pulls: What pulls them along.
      times: The instants.
      controls: The inputs.
      inputs: A digest of all of that.
      begun: Its beginning, where that was simulated before.
    """
    others = [part for part in joint_parts(model) if part.dofs.start not in known]
    places = np.concatenate([np.arange(p.places.start, p.places.stop) for p in others])
    rates = np.concatenate([np.arange(p.dofs.start, p.dofs.stop) for p in others])
    turned = [p.places.start for p in others if p.turns]
    course = _Course(model, pulls, places) if begun is None else begun.course
    friction = friction_callback() if has_friction(model) else nullcontext()
    with friction, collected_warnings() as warnings:
        moved = course.went_on(pulls, controls)
    positions, velocities = moved[:, places], moved[:, model.nq + rates]
    # Where MuJoCo warns that a simulation is unstable, it has begun anew.
    if warnings or not np.all(np.abs(positions) < _TURNS) or not np.all(np.isfinite(velocities)):
        return None
    if begun is not None:
        positions = np.concatenate([begun.positions, positions])
        velocities = np.concatenate([begun.velocities, velocities])
    return CarriedJoints(
        1 + places, 1 + model.nq + rates, 1 + np.array(turned, dtype=np.intp), times,
        positions, velocities, inputs, course,
    )  # fmt: skip


class _Course:
    """A simulation with springs from where measured joints are to where they were measured.

    Attributes:
      steps: How many were simulated.
    """

    def __init__(self, model: mujoco.MjModel, pulls: _Pulls, watched: IntArray) -> None:
        self._model, self._watched, self.steps = model, watched, 0
        self._data = mujoco.MjData(model)
        self._data.qpos[:], self._data.qvel[:] = np.split(pulls.start, [model.nq])
        mujoco.mj_forward(model, self._data)
        self._inertia: FloatArray = np.zeros((0, 0))

    def went_on(self, pulls: _Pulls, controls: FloatArray) -> FloatArray:
        """Positions and velocities before each further step, (n - steps, nq + nv).

        NaN from where the watched run away.
        """
        model, data, inertia = self._model, self._data, self._inertia
        unit = np.eye(model.nv)[pulls.dofs]
        answer = np.empty_like(unit)
        first, self.steps = self.steps, len(controls)
        states = np.full((len(controls) - first, model.nq + model.nv), np.nan)
        positions, velocities = np.split(states, [model.nq], axis=1)
        qpos, qvel, ctrl, applied = data.qpos, data.qvel, data.ctrl, data.qfrc_applied
        for k in range(first, len(controls)):
            positions[k - first], velocities[k - first] = qpos, qvel
            if k % _OFTEN == 0:
                if not np.abs(qpos[self._watched]).max() < _TURNS:
                    return states
                if len(unit):  # others give way: springs are no stiffer
                    mujoco.mj_solveM(model, data, answer, unit)
                    inertia = np.asarray(np.linalg.inv(answer[:, pulls.dofs]), dtype=float)
            if len(unit):
                applied[pulls.dofs] = inertia @ pulls.accelerations(model, data, k)
            ctrl[:] = controls[k]
            mujoco.mj_step(model, data)
        self._inertia = inertia
        return states
