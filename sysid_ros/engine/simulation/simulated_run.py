# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interface of windows and whole recordings to the derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import mujoco

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.simulation.candidate import Candidate
from sysid_ros.engine.simulation.simulation import Simulation, StepControls


@dataclass(frozen=True)
class RunJacobian:
    """The residual of a run and its derivatives.

    Attributes:
      residual: As the run defines it, (m,).
      jacobian: By the parameters and by the deviation of the start, (m, p + n_start).
    """

    residual: FloatArray
    jacobian: FloatArray


@dataclass(frozen=True)
class TurnedSlope:
    """How residuals that are components of rotations depend on interpolated quaternions.

    Attributes:
      samples: Which residuals, (k,).
      columns: The first of four columns, (k,).
      by_quaternion: Derivative of each by the four interpolated numbers, (k, 4).
    """

    samples: IndexArray
    columns: IndexArray
    by_quaternion: FloatArray


@dataclass(frozen=True)
class ResidualSlope:
    """Each residual as a weighted sum of rows of one column of the sensor data."""

    rows: IndexArray  # (m, k)
    weights: FloatArray  # (m, k)
    columns: IndexArray  # (m,)
    turned: TurnedSlope | None = None  # of the residuals that are not such a sum


class SimulatedRun(Protocol):
    """A stretch of a recording that is simulated from a start of its own and compared.

    Attributes:
      model: A compiled model with the sizes and the timestep of all candidates.
      spread: Of the estimated start, (n_start,).
    """

    model: mujoco.MjModel
    spread: FloatArray

    @property
    def n_start(self) -> int:
        """Unknowns of the start."""

    @property
    def n_samples(self) -> int:
        """Number of residuals."""

    @property
    def bytes_per_rollout(self) -> int:
        """Size of one rollout's sensor data."""

    @property
    def start_sensors(self) -> tuple[str, ...]:
        """Sensors whose settings move the start."""

    @property
    def readings(self) -> IndexArray:
        """Columns of the sensor data that are compared, each once, sorted."""

    def job(self, candidate: Candidate, deviation: FloatArray) -> Simulation:
        """The simulation, from a start moved by ``deviation``, (n_start,)."""

    def start(self, candidate: Candidate, deviation: FloatArray) -> FloatArray:
        """The full-physics state in which the simulation starts, (nstate,)."""

    def controls(self, candidate: Candidate) -> StepControls:
        """The controls of every step."""

    def residual(self, candidate: Candidate, data: FloatArray) -> FloatArray:
        """The residual, (m,), of sensor data, (steps, nsensordata)."""

    def reads_alike(self, candidate: Candidate, other: Candidate) -> bool:
        """Return whether equal sensor data gives equal residuals."""

    def linearized(
        self, candidate: Candidate, data: FloatArray
    ) -> tuple[FloatArray, ResidualSlope]:
        """The residual of sensor data, and how it depends on it."""
