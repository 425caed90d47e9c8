# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jacobians by forward differences of batched rollouts: the plain way, for any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.simulation.perturbations import Perturbation, Perturbations
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.simulation.simulated_run import RunJacobian, SimulatedRun

MAX_CHUNK_BYTES = 128 << 20
START_STEP = 1e-5  # of a start's spread; see THETA_STEP


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
    remaining = iter(deviations)
    for chunk in _chunks(windows, len(columns.moved) + 1):
        yield from _chunk(rollouts, chunk, [next(remaining) for _ in chunk], columns, starts)


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


def _chunks(windows: Sequence[SimulatedRun], n_columns: int) -> Iterator[Sequence[SimulatedRun]]:
    """Split windows so that the sensor data of all columns fits the memory budget."""
    chunk: list[SimulatedRun] = []
    size = 0
    for window in windows:
        chunk.append(window)
        size += window.bytes_per_rollout * (n_columns + window.n_start)
        if size > MAX_CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
