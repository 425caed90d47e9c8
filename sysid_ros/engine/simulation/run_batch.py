# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interface of windows and whole recordings to simulation and derivatives: runs in batches.

A batch is made of runs on one model. What belongs to their steps or to their residuals stands in
one array, run after run, so that one pass over it serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.simulation.candidate import Candidate
from sysid_ros.engine.simulation.simulation import BatchSimulation


@dataclass(frozen=True)
class RunJacobian:
    """The residuals of a batch and their derivatives."""

    residual: FloatArray  # as the batch defines it, (m,)
    # by the parameters and by the deviation of each residual's start, (m, p + n_start)
    jacobian: FloatArray

    def of_rows(self, rows: slice) -> RunJacobian:
        """Some of the residuals."""
        return RunJacobian(self.residual[rows], self.jacobian[rows])

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return self.residual.nbytes + self.jacobian.nbytes


@dataclass(frozen=True)
class TurnedSlope:
    """Slopes of residuals that are components of rotations in interpolated quaternions."""

    samples: IndexArray  # which residuals, increasing, (k,)
    columns: IndexArray  # the first of four columns, (k,)
    by_quaternion: FloatArray  # derivative of each by the four interpolated numbers, (k, 4)


@dataclass(frozen=True)
class ResidualSlope:
    """Each residual as a weighted sum of rows of one column of the sensor data."""

    rows: IndexArray  # (m, k)
    weights: FloatArray  # (m, k)
    columns: IndexArray  # (m,)
    turned: TurnedSlope | None = None  # of the residuals that are not such a sum


class RunBatch(Protocol):
    """Stretches of recordings that are simulated from starts of their own and compared.

    Attributes:
      model: A compiled model with the sizes and the timestep of all candidates.
      steps: Of each run's simulation, (w,); known once its controls are.
      samples: How many residuals each run has, (w,); of a single run about so many.
      spread: Of the estimated starts, (w, n_start).
      start_sensors: Sensors whose settings move the starts.
      readings: Columns of the sensor data that are compared, each once, sorted.
    """

    model: mujoco.MjModel
    steps: IndexArray
    samples: IndexArray
    spread: FloatArray

    @property
    def seen(self) -> BoolArray:
        """The start's unknowns that residuals tell of; derivatives by others are zero."""

    @property
    def start_sensors(self) -> tuple[str, ...]:
        """Sensors whose settings move the starts."""

    @property
    def readings(self) -> IndexArray:
        """Columns of sensor data that are compared, sorted, (k,)."""

    def select(self, chosen: Sequence[int]) -> Any:
        """A batch of some of the runs."""

    def opening(self, chosen: int, steps: int) -> Any:
        """A batch of one run, which may end after so many steps; its residuals are the first."""

    def starts(self, candidate: Candidate, deviations: FloatArray) -> FloatArray:
        """The full-physics states, (w, nstate), moved by ``deviations``, (w, n_start)."""

    def controls(self, candidate: Candidate) -> FloatArray:
        """The controls of all steps, (steps, nu)."""

    def residual(self, candidate: Candidate, data: FloatArray) -> FloatArray:
        """The residuals, (m,), of the sensor data of all steps, (steps, nsensordata)."""

    def reads_alike(self, candidate: Candidate, other: Candidate) -> bool:
        """Return whether equal sensor data gives equal residuals."""

    def linearized(
        self, candidate: Candidate, data: FloatArray
    ) -> tuple[FloatArray, ResidualSlope]:
        """The residuals of sensor data, and how they depend on it."""


def simulation_of(batch: RunBatch, candidate: Candidate, deviations: FloatArray) -> BatchSimulation:
    """The simulation of a batch from starts moved by ``deviations``, (w, n_start)."""
    return BatchSimulation(
        candidate.model, batch.starts(candidate, deviations), batch.controls(candidate), batch.steps
    )


def run_slices(counts: IndexArray) -> Iterator[slice]:
    """Yield the place of each run in an array of all, given how many rows each has, (w,)."""
    ends = np.cumsum(counts)
    for first, last in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        yield slice(first, last)
