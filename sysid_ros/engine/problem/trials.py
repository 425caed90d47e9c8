# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trials of a step, which end where some of the windows refuse it already.

Where the cost is rough or curved, steps are refused as often as they are taken, and all that a
refusal has to tell is that the cost is not lower. So windows are simulated in parts, those first
that the linear model says the step changes most, until they cost more than the rest is likely to
make up for. A search that goes on from where the one before it ended tries the same steps again:
what was refused with these costs is not simulated twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import Loss
from sysid_ros.engine.problem.exact import Simulator
from sysid_ros.engine.simulation import BatchRollout, Candidate, simulation_of
from sysid_ros.engine.windows import WindowBatch, WindowGroup

FEWEST = 8  # windows
PARTS = 32  # of neighbouring windows, at most
STAGES = (0.125, 0.25, 0.5, 0.75, 1.0)  # shares of the parts, after which costs are looked at
BETTER = 3.0  # times what the linear model expects of windows: no more is hoped for


@dataclass(frozen=True)
class _Part:
    """Neighbouring windows of one batch."""

    number: int  # of the batch
    windows: slice  # of the batch
    places: slice  # of all windows
    samples: slice  # of the batch
    batch: WindowBatch  # of these windows alone

    def cost(
        self, residual: FloatArray, starts: FloatArray, loss: Loss, noise: Mapping[str, float]
    ) -> float:
        """Their share of the objective."""
        prior = 0.5 * float(np.sum((starts / self.batch.spread) ** 2))
        return prior + loss.cost(residual / self.batch.sigma(noise))


class Trials:
    """The windows of a problem in parts that are simulated one after the other."""

    def __init__(self, groups: Sequence[WindowGroup], simulator: Simulator) -> None:
        """Take groups of windows, and where simulations run."""
        self._of_group = [g for g, group in enumerate(groups) for _ in group.batches]
        self._batches = [batch for group in groups for batch in group.batches]
        self._simulator = simulator
        self._refused: set[bytes] = set()  # steps since the last that was not

    @cached_property
    def _parts(self) -> list[_Part]:
        size = -(-sum(len(batch.windows) for batch in self._batches) // PARTS)
        parts, before = [], 0
        for number, batch in enumerate(self._batches):
            ends = np.concatenate([[0], np.cumsum(batch.samples)])
            for first in range(0, len(batch.windows), size):
                last = min(first + size, len(batch.windows))
                parts.append(
                    _Part(
                        number,
                        slice(first, last),
                        slice(before + first, before + last),
                        slice(int(ends[first]), int(ends[last])),
                        batch.select(range(first, last)),
                    )
                )
            before += len(batch.windows)
        return parts

    def costs(
        self,
        residuals: Sequence[FloatArray],
        starts: Sequence[FloatArray],
        loss: Loss,
        noise: Mapping[str, float],
    ) -> FloatArray:
        """The share of each part in the objective, of residuals and starts by batch."""
        return np.array(
            [
                part.cost(
                    residuals[part.number][part.samples],
                    starts[part.number][part.windows],
                    loss,
                    noise,
                )
                for part in self._parts
            ]
        )

    def simulated(
        self,
        candidates: Sequence[Candidate],
        starts: Sequence[FloatArray],
        change: float,
        costs: FloatArray,
        expected: FloatArray,
        loss: Loss,
        noise: Mapping[str, float],
    ) -> list[list[BatchRollout]] | None:
        """Simulate all windows after a step, or as many as refuse it.

        Args:
          candidates: Models of the groups after the step.
          starts: The deviations of the windows' starts there by batch, (w, n_start) each.
          change: Of all that is no window's share in the objective.
          costs: Of the parts before it, as of :meth:`costs`.
          expected: What the linear model expects each window's cost to fall by, (n_windows,).
          loss: Of the objective.
          noise: Likewise.

        Returns:
          By group, its batches; ``None`` where the step does not lower the cost.
        """
        values = [candidate.params.as_vector() for candidate in candidates]
        step = b"".join(each.tobytes() for each in (costs, expected, *values, *starts))
        if step in self._refused:
            return None
        parts = self._parts
        models = [candidates[g] for g in self._of_group]
        whole = [
            simulation_of(batch, candidate, own)
            for batch, candidate, own in zip(self._batches, models, starts, strict=True)
        ]
        promised = np.array([float(np.sum(expected[part.places])) for part in parts])
        order = np.argsort(-np.abs(promised), kind="stable")
        done: dict[int, BatchRollout] = {}
        first = 0
        for share in STAGES:
            last = max(first, int(np.ceil(share * len(parts))))
            chosen = [parts[i] for i in order[first:last]]
            jobs = [whole[part.number].some(part.windows) for part in chosen]
            found = self._simulator.run_batches(jobs, [self._of_group[p.number] for p in chosen])
            for i, part, own_runs in zip(order[first:last], chosen, found, strict=True):
                done[i] = own_runs
                residual = part.batch.residual(models[part.number], own_runs.sensordata)
                own = starts[part.number][part.windows]
                change += part.cost(residual, own, loss, noise) - costs[i]
            rest = order[last:]
            hoped = BETTER * float(np.maximum(promised[rest], 0.0).sum())
            if change > min(hoped, float(costs[rest].sum())) and rest.size:
                self._refused.add(step)
                return None
            first = last
        self._refused.clear()
        return self._joined(done, len(candidates))

    def _joined(self, done: Mapping[int, BatchRollout], n_groups: int) -> list[list[BatchRollout]]:
        """By group the rollouts of its batches, from those of their parts."""
        rollouts: list[list[BatchRollout]] = [[] for _ in self._batches]
        for i, part in enumerate(self._parts):
            rollouts[part.number].append(done[i])
        joined: list[list[BatchRollout]] = [[] for _ in range(n_groups)]
        for g, each in zip(self._of_group, rollouts, strict=True):
            joined[g].append(BatchRollout.joined(each))
        return joined
