# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many short recordings as one batch, for derivatives: one pass over them instead of one each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray
from sysid_ros.engine.simulation.candidate import Candidate
from sysid_ros.engine.simulation.portions import portions
from sysid_ros.engine.simulation.recorded_run import RecordedRun
from sysid_ros.engine.simulation.run_batch import ResidualSlope, run_slices
from sysid_ros.engine.simulation.simulation import BatchRollout

MAX_BYTES = 16 << 20  # of the Jacobian of a batch


class RecordedBatch:
    """Recordings of one model, one behind the other; see :class:`RunBatch` for the methods.

    Args:
      runs: At least one; each was compared with a simulation.
    """

    def __init__(self, runs: Sequence[RecordedRun]) -> None:
        self.runs = tuple(runs)
        self.model = runs[0].model
        self.spread = np.zeros((len(runs), 0))
        self.start_sensors = ()
        self._slopes: tuple[ResidualSlope, ...] = ()
        self._joined: ResidualSlope | None = None

    @property
    def seen(self) -> BoolArray:
        """No start is an unknown, (0,)."""
        return np.zeros(0, dtype=np.bool_)

    @property
    def steps(self) -> IndexArray:
        """Steps of each run's latest simulation, (w,)."""
        return np.concatenate([run.steps for run in self.runs])

    @property
    def samples(self) -> IndexArray:
        """Residuals of each run, (w,)."""
        return np.array([run.size for run in self.runs])

    @property
    def readings(self) -> IndexArray:
        """Columns of the sensor data that are compared, each once, sorted."""
        return np.unique(np.concatenate([run.readings for run in self.runs]))

    def select(self, chosen: Sequence[int]) -> RecordedBatch:
        """A batch of some of the runs."""
        return RecordedBatch([self.runs[k] for k in chosen])

    def opening(self, chosen: int, steps: int) -> RecordedBatch:
        """One of the runs, or its first steps; the residuals of these are the first."""
        run = self.runs[chosen]
        return self.select([chosen]) if run.steps[0] <= steps else _Opening(run, steps)

    def starts(self, candidate: Candidate, deviations: FloatArray) -> FloatArray:
        """The initial states with what parameters add to them, (w, nstate)."""
        return np.concatenate([run.starts(candidate, deviations) for run in self.runs])

    def controls(self, candidate: Candidate) -> FloatArray:
        """The controls of all steps, (steps, nu)."""
        return np.concatenate([run.controls(candidate) for run in self.runs])

    def residual(self, candidate: Candidate, data: FloatArray) -> FloatArray:
        """The differences of all runs, (m,), of the sensor data of all steps."""
        parts = zip(self.runs, run_slices(self.steps), strict=True)
        return np.concatenate([run.residual(candidate, data[own]) for run, own in parts])

    def reads_alike(self, candidate: Candidate, other: Candidate) -> bool:
        """Return whether equal sensor data gives equal residuals."""
        return all(run.reads_alike(candidate, other) for run in self.runs)

    def linearized(
        self, candidate: Candidate, data: FloatArray
    ) -> tuple[FloatArray, ResidualSlope]:
        """The residuals of sensor data, and how they depend on it."""
        parts = zip(self.runs, run_slices(self.steps), strict=True)
        residuals, slopes = zip(
            *(run.linearized(candidate, data[own]) for run, own in parts), strict=True
        )
        if self._joined is None or any(
            a is not b for a, b in zip(slopes, self._slopes, strict=True)
        ):
            firsts = np.cumsum(self.steps) - self.steps
            self._slopes = slopes
            self._joined = ResidualSlope(
                np.concatenate(
                    [each.rows + first for each, first in zip(slopes, firsts, strict=True)]
                ),
                np.concatenate([each.weights for each in slopes]),
                np.concatenate([each.columns for each in slopes]),
            )
        return np.concatenate(residuals), self._joined


class _Opening(RecordedBatch):
    """The first steps of a run; behind them it is as it was compared last."""

    def __init__(self, run: RecordedRun, steps: int) -> None:
        super().__init__([run])
        self._first = steps

    @property
    def steps(self) -> IndexArray:
        """Those of the opening, (1,)."""
        return np.array([self._first])

    def controls(self, candidate: Candidate) -> FloatArray:
        """The controls of the opening, (steps, nu)."""
        return super().controls(candidate)[: self._first]

    def residual(self, candidate: Candidate, data: FloatArray) -> FloatArray:
        """The differences that depend on the opening alone, (m,)."""
        (run,) = self.runs
        whole, own = run.latest(self._first)
        whole[: self._first] = data
        return run.residual(candidate, whole)[:own]


def recorded_batches(runs: Sequence[RecordedRun], columns: int) -> tuple[RecordedBatch, ...]:
    """Recordings in batches of a size that goes well through one pass with so many columns."""
    sizes = [8 * columns * run.size for run in runs]
    return tuple(RecordedBatch(runs[part]) for part in portions(sizes, MAX_BYTES))


def joined_rollouts(
    batches: Sequence[RecordedBatch], rollouts: Sequence[BatchRollout]
) -> Iterator[BatchRollout]:
    """Yield the rollouts of each batch together, given those of all runs in order."""
    for own in run_slices(np.array([len(batch.runs) for batch in batches])):
        part = rollouts[own]
        yield part[0] if len(part) == 1 else BatchRollout.joined(part)
