# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Jacobians by forward differences of batched rollouts: the plain way, for any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.columns import (
    START_STEP,
    Column,
    ParameterColumns,
    WindowJacobian,
    start_sensors,
)
from sysid_ros.sysid.rollout_batch import RolloutBatch
from sysid_ros.sysid.window_simulation import WindowSimulation

FloatArray = npt.NDArray[np.float64]

MAX_CHUNK_BYTES = 128 << 20


def finite_differences(
    rollouts: RolloutBatch,
    windows: Sequence[WindowSimulation],
    deviations: Sequence[FloatArray],
    columns: ParameterColumns,
    *,
    starts: bool = True,
) -> Iterator[WindowJacobian]:
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
    rollouts: RolloutBatch,
    windows: Sequence[WindowSimulation],
    deviations: Sequence[FloatArray],
    columns: ParameterColumns,
    starts: bool,
) -> Iterator[WindowJacobian]:
    """Simulate all columns of some windows in one batch."""
    base, sensors = columns.base, start_sensors(windows)
    simulated = [c for c in columns.moved if not c.candidate.same_rollout(base, sensors)]
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
    window: WindowSimulation,
    columns: ParameterColumns,
    unmoved: FloatArray,
    data: dict[int, FloatArray],
    moved: Sequence[FloatArray],
) -> WindowJacobian:
    residual = window.residual(columns.base, unmoved)
    jacobian = [quotient(window, c, data.get(id(c), unmoved), residual) for c in columns.moved]
    jacobian += [
        (window.residual(columns.base, rows) - residual) / (START_STEP * spread)
        for rows, spread in zip(moved, window.spread, strict=False)
    ]
    return WindowJacobian(residual, np.stack([*jacobian, residual], axis=-1)[:, :-1])


def quotient(
    window: WindowSimulation, column: Column, data: FloatArray, residual: FloatArray
) -> FloatArray:
    """The difference quotient of a column whose rollout gave ``data``, (m,)."""
    difference: FloatArray = (window.residual(column.candidate, data) - residual) / column.step
    return difference


def _chunks(
    windows: Sequence[WindowSimulation], n_columns: int
) -> Iterator[Sequence[WindowSimulation]]:
    """Split windows so that the sensor data of all columns fits the memory budget."""
    chunk: list[WindowSimulation] = []
    size = 0
    for window in windows:
        chunk.append(window)
        size += window.bytes_per_rollout * (n_columns + window.n_start)
        if size > MAX_CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
