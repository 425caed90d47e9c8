# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pass along the runs of a batch: from their rollouts to residuals and Jacobian."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray, IntArray
from sysid_ros.engine.derivatives.compilation import compilable, entry_points
from sysid_ros.engine.derivatives.directions import (
    BatchDirections,
    ModelDirections,
    deviation_slope,
    start_difference,
)
from sysid_ros.engine.derivatives.model_tables import Tables
from sysid_ros.engine.derivatives.rollout import new_buffers
from sysid_ros.engine.derivatives.sensors import Readings
from sysid_ros.engine.simulation import (
    BatchRollout,
    Perturbation,
    Perturbations,
    ResidualSlope,
    RolloutPool,
    RunBatch,
    RunJacobian,
    TurnedSlope,
    quotient,
)

# Of the largest force; above it the equation of motion does not hold along the rollout. MuJoCo's
# constraint solver stops early by up to a tenth of that.
MAX_VIOLATION = 1e-4
# Parts of a batch per thread, so that threads end at about the same time.
_PARTS = 4


@dataclass(frozen=True)
class Pass:
    """The part of the pass that all runs of a model share at a point.

    Attributes:
      columns: All parameters, moved.
      followed: The columns whose effect on the rollout the pass finds, in its order.
      reading: The columns that change only how sensors are read.
      tables: The model.
      model: How the followed columns change the model.
      addresses: The columns of the sensor data that are differentiated, sorted.
      readings: What they read.
    """

    columns: Perturbations
    followed: tuple[int, ...]
    reading: tuple[int, ...]
    tables: Tables
    model: ModelDirections
    addresses: IndexArray
    readings: Readings


class BatchPass:
    """The pass along the runs of one batch, in parts that threads share.

    Args:
      pass_: The point.
      batch: The runs.
      deviations: From each run's measured start, (w, n_start).
      rollouts: Theirs.
    """

    def __init__(
        self, pass_: Pass, batch: RunBatch, deviations: FloatArray, rollouts: BatchRollout
    ) -> None:
        self._pass, self._batch, self._rollouts = pass_, batch, rollouts
        base = pass_.columns.base
        self._residual, self._slope = batch.linearized(base, rollouts.sensordata)
        moved = [pass_.columns.moved[j] for j in pass_.followed]
        moving = [k for k, c in enumerate(moved) if not c.candidate.same_inputs(base)]
        self._control = compilable(batch.controls(base))
        starts = batch.starts(base, deviations)[:, 1:]
        self._directions = BatchDirections(
            _start_directions(batch, deviations, starts, moved, moving),
            *_control_directions(batch, self._control, moved, moving),
        )
        self._steps = batch.steps.astype(np.int64)
        firsts = np.cumsum(self._steps) - self._steps
        self._first_step = np.append(firsts, self._steps.sum())
        self._first_sample = np.append(
            np.cumsum(batch.samples) - batch.samples, len(self._residual)
        )
        states = np.insert(rollouts.states[:, 1:], firsts, starts, axis=0)
        self._states = compilable(states)  # from each start on, (steps + w, nq + nv)
        self._through_rollout = np.empty((len(self._residual), self._directions.start.shape[2]))
        self._violation = np.empty(len(self._steps))

    @property
    def steps(self) -> int:
        """Simulation steps of all runs together."""
        return int(self._first_step[-1])

    def parts(self, steps: float) -> list[slice]:
        """The runs in parts of about so many steps."""
        marks = np.arange(steps, self._first_step[-1], steps)
        inner = np.searchsorted(self._first_step[1:], marks, side="right")
        edges = np.unique([0, *inner, len(self._steps)]).tolist()
        return [slice(a, b) for a, b in itertools.pairwise(edges)]

    def follow(self, runs: slice) -> None:
        """Differentiate the rollouts of some runs, on any thread."""
        pass_, n = self._pass, self._through_rollout.shape[1]
        first, last = self._first_step[[runs.start, runs.stop]].tolist()
        out = np.empty((last - first, pass_.addresses.size, n))
        entry_points().differentiate_rollouts(
            pass_.tables,
            pass_.model,
            pass_.readings,
            BatchDirections(
                self._directions.start[runs],
                self._directions.control_direction,
                self._directions.control_change[first:last],
            ),
            self._steps[runs],
            self._states[first + runs.start : last + runs.stop],
            self._control[first:last],
            new_buffers(pass_.tables, n),
            out,
            self._violation[runs],
        )
        own = slice(*self._first_sample[[runs.start, runs.stop]].tolist())
        through = self._through_rollout[own]
        _through_readings(pass_, _part(self._slope, own, first), out, through)

    def result(self) -> tuple[RunJacobian, BoolArray]:
        """The residuals and the Jacobian, once all runs are done.

        Columns that the pass does not follow are left at zero.

        Returns:
          The Jacobian, and the runs where it is not to be used, (w,): their rollouts diverged, or
          contain forces that the pass does not know.
        """
        pass_, through = self._pass, self._through_rollout
        base, p, followed = pass_.columns.base, len(pass_.columns.moved), list(pass_.followed)
        if followed == list(range(p)):
            jacobian = through
        else:
            jacobian = np.zeros((len(through), p + through.shape[1] - len(followed)))
            jacobian[:, followed] = through[:, : len(followed)]
            jacobian[:, p:] = through[:, len(followed) :]
        for j in (*pass_.reading, *followed):
            column = pass_.columns.moved[j]
            if not self._batch.reads_alike(column.candidate, base):
                data = self._rollouts.sensordata
                jacobian[:, j] += quotient(self._batch, column, data, self._residual)
        violated: BoolArray = self._rollouts.diverged | ~(self._violation <= MAX_VIOLATION)
        return RunJacobian(self._residual, jacobian), violated


def differentiated(
    passes: Sequence[BatchPass], pool: RolloutPool
) -> list[tuple[RunJacobian, BoolArray]]:
    """Results of passes over any number of batches, with all threads at work on them."""
    steps = sum(each.steps for each in passes) / (_PARTS * pool.n_threads)
    work = [(each, runs) for each in passes for runs in each.parts(steps)]
    list(pool.map(lambda task: task[0].follow(task[1]), work))
    return [each.result() for each in passes]


def _part(slope: ResidualSlope, own: slice, first: int) -> ResidualSlope:
    """The slope of some residuals in a row, by the rows from ``first`` on."""
    turned = slope.turned
    if turned is not None:
        chosen = slice(*np.searchsorted(turned.samples, [own.start, own.stop]).tolist())
        turned = TurnedSlope(
            turned.samples[chosen] - own.start, turned.columns[chosen], turned.by_quaternion[chosen]
        )
    return ResidualSlope(slope.rows[own] - first, slope.weights[own], slope.columns[own], turned)


def _through_readings(
    pass_: Pass, slope: ResidualSlope, derivatives: FloatArray, result: FloatArray
) -> None:
    """Write the derivatives of residuals through the sensor data, (m, n)."""
    interpolate = entry_points().interpolate
    slots = np.searchsorted(pass_.addresses, slope.columns)
    interpolate(derivatives, slope.rows, slope.weights, slots, result)
    if slope.turned is not None:
        chosen = slope.turned.samples
        result[chosen] = 0.0
        slots = np.searchsorted(pass_.addresses, slope.turned.columns)
        part = np.empty((chosen.size, derivatives.shape[2]))
        for k, factor in enumerate(slope.turned.by_quaternion.T):
            weights = slope.weights[chosen] * factor[:, np.newaxis]
            interpolate(derivatives, slope.rows[chosen], weights, slots + k, part)
            result[chosen] += part


def _changes(model: Any, before: FloatArray, after: FloatArray) -> FloatArray:
    """The way from states (w, nq + nv + na) to others, in tangent space, (w, 2 nv + na)."""
    if model.nq == model.nv:
        return after - before
    pairs = zip(before, after, strict=True)
    return np.stack([start_difference(model, a, b) for a, b in pairs])


def _start_directions(
    batch: RunBatch,
    deviations: FloatArray,
    starts: FloatArray,
    moved: Sequence[Perturbation],
    moving: Sequence[int],
) -> FloatArray:
    """Return the derivatives of the starts in every direction, (w, 2 nv + na, n)."""
    model, n_start = batch.model, batch.spread.shape[1]
    size = 2 * model.nv + model.na
    directions = np.zeros((len(starts), size, len(moved) + n_start))
    for k in moving:
        change = batch.starts(moved[k].candidate, deviations)[:, 1:]
        directions[:, :, k] = _changes(model, starts, change) / moved[k].step
    if n_start and model.nq == model.nv:
        directions[:, :, len(moved) :] = np.eye(n_start)
    elif n_start:
        directions[:, :, len(moved) :] = [deviation_slope(model, each) for each in deviations]
    return directions


def _control_directions(
    batch: RunBatch,
    control: FloatArray,
    moved: Sequence[Perturbation],
    moving: Sequence[int],
) -> tuple[IntArray, FloatArray]:
    """The directions that change the controls, and how: (n_control,), (steps, n_control, nu)."""
    which, changes = [], []
    for k in moving:
        change = (batch.controls(moved[k].candidate) - control) / moved[k].step
        if np.any(change):
            which.append(k)
            changes.append(change)
    stacked = (
        np.stack(changes, axis=1) if changes else np.zeros((len(control), 0, control.shape[1]))
    )
    return np.array(which, dtype=np.int64), np.ascontiguousarray(stacked)
