# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One simulation: what goes in, and what comes out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.elements import COLLIDED

# Of MuJoCo's constraint solver, for differences: what its usual 1e-8 leaves of the accelerations of
# many feet is as much as the derivative over a step of them.
SOLVED = 1e-14
_NO_TIMES = np.zeros(0)


@dataclass(frozen=True)
class StepControls:
    """Controls of one simulation."""

    times: FloatArray  # when each step begins, (n,) s, on the recording's clock
    values: FloatArray  # one row per step, (n, nu)


@dataclass(frozen=True)
class Simulation:
    """One simulation to run."""

    model: mujoco.MjModel  # the compiled model
    start: FloatArray  # ``mjSTATE_FULLPHYSICS`` vector, (nstate,)
    controls: StepControls  # what it is told

    @property
    def size(self) -> int:
        """Bytes of its controls, states and sensor data."""
        width = self.model.nu + self.model.nsensordata + len(self.start)
        return 8 * len(self.controls.values) * int(width)


@dataclass(frozen=True)
class BatchSimulation:
    """Simulations of one model, arrays of all steps one behind the other."""

    model: mujoco.MjModel  # the compiled model
    starts: FloatArray  # ``mjSTATE_FULLPHYSICS`` vectors, (w, nstate)
    controls: FloatArray  # one row per step, (sum of ``steps``, nu)
    steps: IndexArray  # of each simulation, (w,)

    @classmethod
    def of(cls, one: Simulation) -> BatchSimulation:
        """A batch of one simulation."""
        controls = one.controls.values
        return cls(one.model, one.start[np.newaxis], controls, np.array([len(controls)]))

    @property
    def size(self) -> int:
        """Bytes of controls, states and sensor data."""
        width = self.model.nu + self.model.nsensordata + self.starts.shape[1]
        return 8 * len(self.controls) * int(width)

    def solved(self) -> BatchSimulation:
        """The same with the constraint solver and collision detection run to convergence."""
        model = copy.copy(self.model)
        model.opt.tolerance = min(model.opt.tolerance, SOLVED)
        model.opt.ccd_tolerance, model.opt.ccd_iterations = COLLIDED
        return replace(self, model=model)

    def some(self, chosen: slice) -> BatchSimulation:
        """Neighbouring ones of them."""
        ends = np.append(0, np.cumsum(self.steps))
        first, last, _ = chosen.indices(len(self.steps))
        controls = self.controls[ends[first] : ends[last]]
        return BatchSimulation(self.model, self.starts[chosen], controls, self.steps[chosen])

    def runs(self) -> list[Simulation]:
        """Each simulation by itself."""
        return [
            Simulation(self.model, start, StepControls(_NO_TIMES, controls))
            for start, controls in zip(
                self.starts, np.split(self.controls, np.cumsum(self.steps)[:-1]), strict=True
            )
        ]


@dataclass(frozen=True)
class BatchRollout:
    """The outcome of a batch: states and sensor data as of :class:`Rollout`, all steps together."""

    states: FloatArray  # shape (sum of the steps, nstate)
    sensordata: FloatArray  # shape (sum of the steps, nsensordata)
    diverged: BoolArray  # which simulations broke off, (w,)

    @classmethod
    def of(cls, rollouts: Sequence[Rollout]) -> BatchRollout:
        """Rollouts one behind the other."""
        return cls(
            np.concatenate([rollout.states for rollout in rollouts]),
            np.concatenate([rollout.sensordata for rollout in rollouts]),
            np.array([rollout.diverged for rollout in rollouts]),
        )

    @classmethod
    def joined(cls, parts: Sequence[BatchRollout]) -> BatchRollout:
        """Outcomes of parts of a batch one behind the other."""
        names = ("states", "sensordata", "diverged")
        return cls(*(np.concatenate([getattr(each, name) for each in parts]) for name in names))

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.states.nbytes + self.sensordata.nbytes


@dataclass(frozen=True)
class Rollout:
    """The outcome of a simulation."""

    states: FloatArray  # full-physics states after each step, (n, nstate); column 0 is the time
    sensordata: FloatArray  # sensors, (n, nsensordata); row i is their value *before* step i
    # how many rows were simulated; fewer than n where the simulation diverged, and what follows is
    # NaN, except for the times, which go on
    valid: int

    @property
    def diverged(self) -> bool:
        """True if the simulation broke off."""
        return self.valid < len(self.states)

    def every(self, substeps: int) -> Rollout:
        """One row per control: the state after its last substep, the sensors before its first."""
        return Rollout(
            self.states[substeps - 1 :: substeps],
            self.sensordata[::substeps],
            self.valid // substeps,
        )


def is_whole(
    states: FloatArray, sensors: FloatArray, start: FloatArray, timestep: FloatArray
) -> BoolArray:
    """Tell at a glance which simulations ran to their end; see :func:`checked` for the others.

    Args:
      states: Full-physics states after each step, (w, n, nstate).
      sensors: Sensors before each step, (w, n, nsensordata).
      start: Times at the start, (w,) s.
      timestep: Of the models, (w,) s.
    """
    end = start + timestep * states.shape[1]
    whole: BoolArray = (
        (np.abs(states[:, -1, 0] - end) < 0.5 * timestep)
        & np.isfinite(states.sum(axis=(1, 2)))
        & np.isfinite(sensors.sum(axis=(1, 2)))
    )
    return whole


def checked(states: FloatArray, sensors: FloatArray, start: float, timestep: float) -> Rollout:
    """Find where a simulation broke off: there MuJoCo repeats the state, or numbers overflow.

    Args:
      states: Full-physics states after each step, (n, nstate).
      sensors: Sensors before each step, (n, nsensordata).
      start: Time at the start, s.
      timestep: Of the model, s.
    """
    elapsed = timestep * np.arange(1, len(states) + 1)
    on_time = np.abs(states[:, 0] - start - elapsed) < 0.5 * timestep
    sound = on_time & np.isfinite(states).all(axis=1) & np.isfinite(sensors).all(axis=1)
    valid = len(states) if sound.all() else int(np.argmin(sound))
    if valid < len(states):
        states, sensors = states.copy(), sensors.copy()
        last = start if valid == 0 else states[valid - 1, 0]
        states[valid:, 0] = step_times(last, timestep, len(states) - valid)
        states[valid:, 1:] = np.nan
        sensors[valid:] = np.nan
    return Rollout(states, sensors, valid)


def step_times(start: float, timestep: float, count: int) -> FloatArray:
    """The times after each of ``count`` steps, (count,) s, added up step by step as MuJoCo does."""
    times: FloatArray = np.cumsum(np.concatenate([[start], np.full(count, timestep)]))[1:]
    return times
