# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Whole recordings simulated by the equation of the exact derivatives, for trial steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sysid_ros.engine.derivatives import ForwardRuns
from sysid_ros.engine.signals import SystemTrajectory
from sysid_ros.engine.simulation import (
    BatchRollout,
    BatchSimulation,
    Candidate,
    RecordedRun,
    RolloutPool,
    Simulation,
    StepControls,
)

# Steps of the longest recording that are compared with MuJoCo's first. What a search ends with is
# simulated by MuJoCo from end to end.
OPENING = 200


class TrialRuns:
    """Simulations of recordings of several models.

    Args:
      groups: The recordings of each model.
      simulated: By model a candidate and MuJoCo's simulations with it, to compare with.
      pool: Where simulations run.

    Attributes:
      trusted: Whether they are MuJoCo's, as far as was compared.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[RecordedRun]],
        simulated: Sequence[tuple[Candidate, Sequence[SystemTrajectory]]],
        pool: RolloutPool,
    ) -> None:
        self._forward: list[ForwardRuns] = []
        self.trusted = all(run.is_linear for runs in groups for run in runs)
        if not self.trusted:
            return
        for runs, (candidate, known) in zip(groups, simulated, strict=True):
            addresses = np.unique(np.concatenate([run.readings for run in runs]))
            own = ForwardRuns(addresses, pool)
            own.confirm(*_opening(runs, candidate, known))
            self.trusted &= bool(own.trusted)
            self._forward.append(own)

    def run(self, jobs: Sequence[Simulation], of_model: Sequence[int]) -> list[BatchRollout]:
        """Simulate recordings, each by itself, given the number of its model.

        Raises:
          StopRequestedError: As :meth:`RolloutPool.run`.
        """
        done: list[BatchRollout] = []
        for number, forward in enumerate(self._forward):
            own = [job for job, of in zip(jobs, of_model, strict=True) if of == number]
            done += forward.run_batches([BatchSimulation.of(job) for job in own])
        return done


def _opening(
    runs: Sequence[RecordedRun], candidate: Candidate, known: Sequence[SystemTrajectory]
) -> tuple[list[BatchSimulation], list[BatchRollout]]:
    """The opening of the longest run, and what MuJoCo made of it."""
    run, whole = max(zip(runs, known, strict=True), key=lambda each: len(each[1]))
    job = run.job(candidate)
    controls = StepControls(job.controls.times[:OPENING], job.controls.values[:OPENING])
    states = np.full((len(whole), 1), np.nan) if whole.state is None else whole.state.data
    rollout = BatchRollout(
        states[:OPENING], whole.sensordata.data[:OPENING], np.zeros(1, dtype=bool)
    )
    return [BatchSimulation.of(Simulation(job.model, job.start, controls))], [rollout]
