# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jacobians by forward differences of batched rollouts: the plain way, for any model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation.candidate import Candidate, CandidateBuilder
from sysid_ros.engine.simulation.portions import portions
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.simulation.simulated_run import RunJacobian, SimulatedRun

MAX_CHUNK_BYTES = 128 << 20
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
    """The point and every parameter moved from it.

    Attributes:
      base: The candidate at the point.
      moved: One per free scalar, or per chosen one.
    """

    base: Candidate
    moved: tuple[Perturbation, ...]


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
    moved = []
    for j in range(theta.size) if components is None else components:
        change = step * scale[j]
        if theta[j] + change > upper[j]:
            change = -change
        moved.append(Perturbation(builder.neighbour(base, j, theta[j] + change), change))
    return Perturbations(base, tuple(moved))


def finite_differences(
    rollouts: RolloutPool,
    windows: Sequence[SimulatedRun],
    deviations: Sequence[FloatArray],
    columns: Perturbations,
    *,
    starts: bool = True,
) -> Iterator[RunJacobian]:
    """Difference quotients of every window's residual.

    A parameter that leaves the rollout alone costs none.

    Args:
      rollouts: Where simulations run.
      windows: The windows.
      deviations: From each window's measured start, (n_start,) each.
      columns: The parameters to move.
      starts: Whether to move the starts too.

    Yields:
      Residual and Jacobian of each window, in order.
    """
    count = len(columns.moved) + 1
    sizes = [window.bytes_per_rollout * (count + window.n_start) for window in windows]
    for part in portions(sizes, MAX_CHUNK_BYTES):
        yield from _chunk(rollouts, windows[part], deviations[part], columns, starts)


def _chunk(
    rollouts: RolloutPool,
    windows: Sequence[SimulatedRun],
    deviations: Sequence[FloatArray],
    columns: Perturbations,
    starts: bool,
) -> Iterator[RunJacobian]:
    """Simulate all columns of some windows in one batch."""
    base, sensors = columns.base, start_sensors(windows)
    known = base.rollout_key(sensors)
    simulated = [c for c in columns.moved if c.candidate.rollout_key(sensors) != known]
    jobs = []
    for window, deviation in zip(windows, deviations, strict=True):
        jobs.append(window.job(base, deviation))
        jobs += [window.job(column.candidate, deviation) for column in simulated]
        if starts:
            jobs += [
                window.job(base, deviation + step) for step in np.diag(START_STEP * window.spread)
            ]
    results = iter(rollouts.sensordata(jobs))
    for window in windows:
        unmoved = next(results)
        data = {id(column): next(results) for column in simulated}
        moved = [next(results) for _ in range(window.n_start if starts else 0)]
        yield _quotients(window, columns, unmoved, data, moved)


def _quotients(
    window: SimulatedRun,
    columns: Perturbations,
    unmoved: FloatArray,
    data: dict[int, FloatArray],
    moved: Sequence[FloatArray],
) -> RunJacobian:
    residual = window.residual(columns.base, unmoved)
    jacobian = [quotient(window, c, data.get(id(c), unmoved), residual) for c in columns.moved]
    jacobian += [
        (window.residual(columns.base, rows) - residual) / (START_STEP * spread)
        for rows, spread in zip(moved, window.spread, strict=False)
    ]
    return RunJacobian(residual, np.stack([*jacobian, residual], axis=-1)[:, :-1])


def quotient(
    window: SimulatedRun, column: Perturbation, data: FloatArray, residual: FloatArray
) -> FloatArray:
    """The difference quotient of a column whose rollout gave ``data``, (m,)."""
    difference: FloatArray = (window.residual(column.candidate, data) - residual) / column.step
    return difference


def start_sensors(windows: Sequence[SimulatedRun]) -> set[str]:
    """Sensors whose settings move a start."""
    return {name for window in windows for name in window.start_sensors}
