# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One simulation: what goes in, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray


@dataclass(frozen=True)
class StepControls:
    """Controls of one simulation.

    Attributes:
      times: When each step begins, (n,) s, on the recording's clock.
      values: One row per step, (n, nu).
    """

    times: FloatArray
    values: FloatArray


@dataclass(frozen=True)
class Simulation:
    """One simulation to run.

    Attributes:
      model: The compiled model.
      start: ``mjSTATE_FULLPHYSICS`` vector, (nstate,).
      controls: What it is told.
    """

    model: mujoco.MjModel
    start: FloatArray
    controls: StepControls

    @property
    def size(self) -> int:
        """Bytes of its controls, states and sensor data."""
        width = self.model.nu + self.model.nsensordata + len(self.start)
        return 8 * len(self.controls.values) * int(width)


@dataclass(frozen=True)
class Rollout:
    """The outcome of a simulation.

    Attributes:
      states: Full-physics states after each step, (n, nstate); column 0 is the time.
      sensordata: Sensors, (n, nsensordata); row i is their value *before* step i.
      valid: How many rows were simulated; fewer than n where the simulation diverged, and what
        follows is NaN, except for the times, which go on.
    """

    states: FloatArray
    sensordata: FloatArray
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


def checked(states: FloatArray, sensors: FloatArray, start: float, timestep: float) -> Rollout:
    """Find where a simulation broke off: there MuJoCo repeats the state, or numbers overflow.

    Args:
      states: Full-physics states after each step, (n, nstate).
      sensors: Sensors before each step, (n, nsensordata).
      start: Time at the start, s.
      timestep: Of the model, s.
    """
    if (
        abs(states[-1, 0] - start - timestep * len(states)) < 0.5 * timestep
        and np.isfinite(states.sum())
        and np.isfinite(sensors.sum())
    ):
        return Rollout(states, sensors, len(states))
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
