# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jacobians by forward differences of batched rollouts: the plain way, for any model.

The constraint solver stops by chance within its tolerance, which beside many contacts is as much as
a column. Differences are therefore taken of rollouts in which it converges, while residuals are
those of the model as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation.candidate import Candidate, CandidateBuilder
from sysid_ros.engine.simulation.portions import portions
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.simulation.run_batch import RunBatch, RunJacobian, simulation_of
from sysid_ros.engine.simulation.simulation import BatchSimulation

MAX_CHUNK_BYTES = 64 << 20  # of rollouts, which exist twice for a moment
# Steps relative to the scale of the unknown: large against the constraint
# solver's early stops, small against curvature.
THETA_STEP = 1e-5
START_STEP = 1e-5  # of a start's spread


@dataclass(frozen=True)
class Perturbation:
    """One parameter moved by ``step``."""

    candidate: Candidate
    step: float


@dataclass(frozen=True)
class Perturbations:
    """The point and every parameter moved from it."""

    base: Candidate  # the candidate at the point
    moved: tuple[Perturbation, ...]  # one per free scalar, or per chosen one


def perturbed(
    builder: CandidateBuilder,
    theta: FloatArray,
    upper: FloatArray,
    scale: FloatArray,
    *,
    step: float = THETA_STEP,
    base: Candidate | None = None,
    components: Iterable[int] | None = None,
) -> Perturbations:
    """Move parameters by a small step each, inside their bounds.

    Args:
      builder: Makes candidates.
      theta: The point, (p,).
      upper: Upper bounds, (p,).
      scale: A typical magnitude per parameter, (p,).
      step: Relative to the scale.
      base: The candidate at the point, where it was built already.
      components: Which parameters to move; all by default.
    """
    base = base or builder.build(theta)
    chosen = range(theta.size) if components is None else components
    changes = {j: inward(theta[j], step * scale[j], upper[j]) for j in chosen}
    values = {j: theta[j] + change for j, change in changes.items()}
    builder.try_together(base, values)
    moved = [Perturbation(builder.neighbour(base, j, values[j]), changes[j]) for j in values]
    return Perturbations(base, tuple(moved))


def inward(value: float, step: float, upper: float) -> float:
    """A step that does not lead beyond the upper bound."""
    return -step if value + step > upper else step


def finite_differences(
    rollouts: RolloutPool,
    batch: RunBatch,
    deviations: FloatArray,
    columns: Perturbations,
    *,
    starts: bool = True,
    known: FloatArray | None = None,
) -> RunJacobian:
    """Difference quotients of a batch's residuals.

    A parameter that leaves the rollouts alone costs none.

    Args:
      rollouts: Where simulations run.
      batch: The runs.
      deviations: From each run's measured start, (w, n_start).
      columns: The parameters to move.
      starts: Whether to move the starts too.
      known: The sensor data at the point, (steps, nsensordata), where it was simulated already.
    """
    base, sensors = columns.base, batch.start_sensors
    key = base.rollout_key(sensors)
    steps = START_STEP * batch.spread.T if starts else np.empty((0, 0))
    seen: list[int] = np.flatnonzero(batch.seen).tolist() if starts else []
    simulated = [c for c in columns.moved if c.candidate.rollout_key(sensors) != key]
    plain = simulation_of(batch, base, deviations)
    solved = plain.solved()
    jobs = [plain, solved] if known is None else [solved]
    jobs += [_with_candidate(solved, batch, base, c.candidate, deviations) for c in simulated]
    for j in seen:
        moved = deviations + steps[j][:, None] * _unit(j, len(steps))
        jobs.append(replace(solved, starts=batch.starts(base, moved)))
    done = _sensordata(rollouts, jobs)
    residual = batch.residual(base, next(done) if known is None else known)
    unmoved = next(done)
    here = batch.residual(base, unmoved)
    jacobian = np.zeros((residual.size, len(columns.moved) + len(steps)))
    for j, column in enumerate(columns.moved):
        data = next(done) if any(column is each for each in simulated) else unmoved
        jacobian[:, j] = quotient(batch, column, data, here)
    for j in seen:
        difference = batch.residual(base, next(done)) - here
        jacobian[:, len(columns.moved) + j] = difference / np.repeat(steps[j], batch.samples)
    return RunJacobian(residual, jacobian)


def _with_candidate(
    plain: BatchSimulation,
    batch: RunBatch,
    base: Candidate,
    candidate: Candidate,
    deviations: FloatArray,
) -> BatchSimulation:
    """The simulation of another candidate, which shares starts and controls where it can."""
    if candidate.same_inputs(base):
        return replace(plain, model=candidate.model).solved()
    return simulation_of(batch, candidate, deviations).solved()


def _sensordata(rollouts: RolloutPool, jobs: Sequence[BatchSimulation]) -> Iterator[FloatArray]:
    """Simulate as many jobs at once as memory allows."""
    for part in portions([job.size for job in jobs], MAX_CHUNK_BYTES):
        yield from (done.sensordata for done in rollouts.run_batches(jobs[part]))


def _unit(j: int, size: int) -> FloatArray:
    unit = np.zeros(size)
    unit[j] = 1.0
    return unit


def quotient(
    batch: RunBatch, column: Perturbation, data: FloatArray, residual: FloatArray
) -> FloatArray:
    """The difference quotient of a column whose rollouts gave ``data``, (m,)."""
    difference: FloatArray = (batch.residual(column.candidate, data) - residual) / column.step
    return difference


def directional_quotients(
    moved: Callable[[float], FloatArray], here: FloatArray, step: float
) -> Iterator[FloatArray]:
    """Difference quotients along a direction, of first order and then, where asked, of second.

    The first takes one rollout; a strongly curved residual needs the other.

    Args:
      moved: Gives the residual after a step, or the first part of it.
      here: The residual at no step, (m,).
      step: How far to move.
    """
    once = moved(step)
    here = here[: len(once)]
    yield (once - here) / step
    yield (4.0 * once - moved(2.0 * step) - 3.0 * here) / (2.0 * step)
