# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pass along the runs of a batch: from their rollouts to residuals and Jacobian."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IndexArray, IntArray
from sysid_ros.engine.derivatives.compilation import compilable, entry_points
from sysid_ros.engine.derivatives.directions import (
    BatchDirections,
    ModelChanges,
    ModelDirections,
    StepSlopes,
    all_covered,
    control_directions,
    model_directions,
    start_directions,
)
from sysid_ros.engine.derivatives.model_parts import ModelPart, changes_of
from sysid_ros.engine.derivatives.rollout import Rollouts, new_buffers
from sysid_ros.engine.mechanics import (
    EXACT,
    Touches,
    feet_pairs,
    no_touches,
    touches_of,
    with_own_course,
)
from sysid_ros.engine.simulation import (
    BatchRollout,
    Perturbation,
    Perturbations,
    ResidualSlope,
    RolloutPool,
    RunBatch,
    RunJacobian,
    even_portions,
    quotient,
)

# Over the force, on the mean inertia, of the cost that the constraint solver leaves; up to 14 was
# seen of 20 to 48 joints that stick and slide: along a constraint a joint resists by up to 20 times
# its inertia.
STOPS_EARLY = 20.0
# A batch with its deviations and rollouts; and what :meth:`BatchPass.result` tells of it.
Run = tuple[RunBatch, FloatArray, BatchRollout]
Followed = tuple[RunJacobian, BoolArray]
_PIECES = 2  # of a batch per thread, so that threads end at about the same time
_PIECE_BYTES = 8 << 20  # of the derivatives of readings at every step of a piece of several runs


@dataclass(frozen=True)
class Pass:
    """The part of the pass that all runs of a model share at a point."""

    columns: Perturbations  # all parameters, moved
    # the columns whose effect on the rollout the pass finds, in its order
    followed: tuple[int, ...]
    reading: tuple[int, ...]  # the columns that change only how sensors are read
    changes: ModelChanges  # how the followed columns change the model
    addresses: IndexArray  # the columns of the sensor data that are differentiated, sorted
    parts: tuple[ModelPart, ...]  # the parts of the model that do not feel each other
    whole: ModelPart  # the model as one part
    touching: bool  # whether contacts are looked for, which costs as much as a rollout
    # how parts change in some directions, by both, as far as it was asked for
    models: dict[tuple[int, bytes], ModelDirections] = field(default_factory=dict)

    @cached_property
    def moved(self) -> list[Perturbation]:
        """The followed columns."""
        return [self.columns.moved[j] for j in self.followed]

    @cached_property
    def moving(self) -> list[int]:
        """Those of them that change starts or controls."""
        base = self.columns.base
        return [k for k, c in enumerate(self.moved) if not c.candidate.same_inputs(base)]

    def undivided(self) -> Pass:
        """The same where all of the model may feel each other."""
        return self if len(self.parts) == 1 else replace(self, parts=(self.whole,), models={})

    @cached_property
    def touched(self) -> tuple[BoolArray, ...]:
        """Marks of the directions that change anything of each part, (n_model,)."""
        return tuple(part.touched(self.whole.tables, self.changes) for part in self.parts)

    def model(self, number: int, places: IndexArray) -> ModelDirections:
        """The changes of a part in some of the followed directions."""
        key = number, places.tobytes()
        if key not in self.models:
            own = changes_of(self.whole.tables, self.changes, self.parts[number].elements)
            changes = ModelChanges(*(table[..., places] for table in own))
            self.models[key] = model_directions(self.parts[number].tables, changes)
        return self.models[key]


@dataclass(frozen=True)
class _PartOfBatch:
    """One part of the model, with all that the pass along it needs of the runs."""

    part: ModelPart
    model: ModelDirections  # how it changes in its directions
    directions: BatchDirections  # how starts and controls change in them
    rollouts: Rollouts
    columns: IntArray  # where they belong in the Jacobian, (n,)
    samples: IndexArray  # the residuals that compare its readings, ascending
    violation: FloatArray  # written, (steps, 2)


class BatchPass:
    """The pass along the runs of one batch, in pieces that threads share.

    Args:
      pass_: The point.
      batch: The runs.
      deviations: From each run's measured start, (w, n_start).
      rollouts: Theirs.
      slopes: Of steps that are known not to be covered, if any are, in all directions.
    """

    def __init__(
        self,
        pass_: Pass,
        batch: RunBatch,
        deviations: FloatArray,
        rollouts: BatchRollout,
        slopes: StepSlopes | None = None,
    ) -> None:
        self._pass, self._batch, self._rollouts = pass_, batch, rollouts
        base = pass_.columns.base
        self._residual, self._slope = batch.linearized(base, rollouts.sensordata)
        moved, moving = pass_.moved, pass_.moving
        control, starts = batch.controls(base), batch.starts(base, deviations)[:, 1:]
        directions = BatchDirections(
            start_directions(batch, deviations, starts, moved, moving),
            *control_directions(batch, base, control, moved, moving),
        )
        self._steps = batch.steps.astype(np.int64)
        firsts = np.cumsum(self._steps) - self._steps
        self._first_step = np.append(firsts, self._steps.sum())
        begins = np.cumsum(batch.samples) - batch.samples
        self._first_sample = np.append(begins, len(self._residual))
        states = np.insert(rollouts.states[:, 1:], firsts, starts, axis=0)
        readings = np.searchsorted(pass_.addresses, self._slope.columns)
        simulated = Rollouts(
            self._steps, states, control, _touches(pass_, states, self._steps),
            slopes or all_covered(len(control)),
        )  # fmt: skip
        self._parts = [
            _part_of_batch(pass_, k, base.model, directions, simulated, readings)
            for k in range(len(pass_.parts))
        ]
        n = len(pass_.columns.moved) + batch.spread.shape[1]
        self._jacobian = np.zeros((len(self._residual), n))

    @property
    def steps(self) -> int:
        """Simulation steps of all runs together, once for every part of the model."""
        return int(self._first_step[-1]) * len(self._parts)

    def pieces(self, steps: float) -> list[tuple[int, slice]]:
        """Parts of the model, each with runs of about so many steps, or as memory allows."""
        per_step = [8 * own.part.rows.size * own.columns.size for own in self._parts]
        most = [min(steps, _PIECE_BYTES / max(1, each)) for each in per_step]
        ends = self._first_step[1:]
        return [(k, some) for k, size in enumerate(most) for some in even_portions(ends, size)]

    def follow(self, part: int, runs: slice) -> None:
        """Differentiate the rollouts of some runs in a part of the model, on any thread."""
        own, rollouts = self._parts[part], self._parts[part].rollouts
        first, last = self._first_step[[runs.start, runs.stop]].tolist()
        out = np.empty((last - first, own.part.rows.size, own.columns.size))
        tables = own.part.tables._replace(lines=with_own_course(own.part.tables.lines))
        entry_points().differentiate_rollouts(
            tables,
            own.model,
            own.part.readings,
            BatchDirections(
                own.directions.start[runs],
                own.directions.control_direction,
                own.directions.control_change[first:last],
            ),
            Rollouts(
                rollouts.steps[runs],
                rollouts.states[first + runs.start : last + runs.stop],
                rollouts.control[first:last],
                rollouts.touches._replace(first=rollouts.touches.first[first : last + 1]),
                rollouts.slopes._replace(place=rollouts.slopes.place[first:last]),
            ),
            new_buffers(tables, own.columns.size, own.model.displacements.direction.size),
            out,
            own.violation[first:last],
        )
        edges = np.searchsorted(own.samples, self._first_sample[[runs.start, runs.stop]])
        samples = own.samples[slice(*edges.tolist())]
        addresses = self._pass.addresses[own.part.rows]
        _add_through_readings(
            addresses, self._slope, samples, first, out, own.columns, self._jacobian
        )

    def result(self) -> Followed:
        """The residuals and the Jacobian, once all runs are done.

        Columns that the pass does not follow are left at zero.

        Returns:
          The Jacobian, not to be used for runs that diverged or have steps with forces that the
          pass does not know, and marks of these steps and of all that could not be reached,
          (steps,).
        """
        pass_, jacobian = self._pass, self._jacobian
        base = pass_.columns.base
        for j in (*pass_.reading, *pass_.followed):
            column = pass_.columns.moved[j]
            if not self._batch.reads_alike(column.candidate, base):
                data = self._rollouts.sensordata
                jacobian[:, j] += quotient(self._batch, column, data, self._residual)
        lacking, largest = np.max([own.violation for own in self._parts], axis=0).T
        with np.errstate(invalid="ignore"):
            covered = lacking - EXACT * largest <= _left_by_solver(self._batch.model)
        return RunJacobian(self._residual, jacobian), ~covered


def _left_by_solver(model: mujoco.MjModel) -> float:
    """The force [N or N m] that MuJoCo's constraint solver may leave unbalanced in one step.

    It stops where the cost, half of force^2 / inertia, falls by less than ``tolerance * nv`` times
    the mean inertia: a robot of many joints, all of one problem, is left further from balance.
    """
    fall = 2.0 * model.opt.tolerance * max(model.nv, 1)
    return float(STOPS_EARLY * model.stat.meaninertia * np.sqrt(fall))


def follow_runs(pass_: Pass, runs: Sequence[Run], pool: RolloutPool) -> list[Followed]:
    """Results of the pass along runs."""
    return differentiated([BatchPass(pass_, *run) for run in runs], pool)


def unknown_touches(pass_: Pass, runs: Sequence[Run], done: Sequence[Followed]) -> bool:
    """Return whether geoms touch, other than as feet, in steps that the pass does not cover."""
    model = pass_.columns.base.model
    known = feet_pairs(model)
    for (_, _, rollouts), (_, uncovered) in zip(runs, done, strict=True):
        places = np.flatnonzero(uncovered)
        positions = rollouts.states[places[places > 0] - 1, 1 : 1 + model.nq]
        if len(positions) and touches_of(model, positions, known).pair.size:
            return True
    return False


def differentiated(passes: Sequence[BatchPass], pool: RolloutPool) -> list[Followed]:
    """Results of passes over any number of batches, with all threads at work on them."""
    steps = sum(each.steps for each in passes) / (_PIECES * pool.n_threads)
    work = [(each, *piece) for each in passes for piece in each.pieces(steps)]
    each_in_turn = pool.map if len(work) > 1 else map
    list(each_in_turn(lambda task: task[0].follow(*task[1:]), work))
    return [each.result() for each in passes]


def _part_of_batch(
    pass_: Pass,
    number: int,
    model: Any,
    directions: BatchDirections,
    rollouts: Rollouts,
    readings: IndexArray,
) -> _PartOfBatch:
    """A part of a batch, in the directions that change anything in it.

    Args:
      pass_: The point.
      number: Of the part.
      model: The whole model.
      directions: Of the whole model, in all directions.
      rollouts: Of the whole model, which is one part where anything touches, in all directions.
      readings: Which reading each residual compares, (m,).
    """
    part = pass_.parts[number]
    own, p, n_followed = part.elements, len(pass_.columns.moved), len(pass_.followed)
    n_start = directions.start.shape[2] - n_followed
    nq, nv = model.nq, model.nv
    own_states = [*own.positions, *nq + own.dofs, *nq + nv + own.activations]
    start = _columns(directions.start, [*own.dofs, *nv + own.dofs, *2 * nv + own.activations])
    driven = directions.control_change[:, :, own.actuators]
    chosen = np.append(pass_.touched[number], np.zeros(n_start, dtype=bool))
    chosen |= np.any(start != 0.0, axis=(0, 1))
    driving = np.any(driven != 0.0, axis=(0, 2))
    chosen[directions.control_direction[driving]] = True
    chosen &= part.rows.size > 0
    places = np.flatnonzero(chosen)
    driving &= chosen[directions.control_direction]
    return _PartOfBatch(
        part,
        pass_.model(number, places[places < n_followed]),
        BatchDirections(
            np.ascontiguousarray(start[:, :, places]),
            np.searchsorted(places, directions.control_direction[driving]).astype(np.int64),
            np.ascontiguousarray(driven[:, driving]),
        ),
        rollouts._replace(
            states=compilable(_columns(rollouts.states, own_states)),
            control=compilable(_columns(rollouts.control, own.actuators)),
            slopes=rollouts.slopes._replace(direct=_chosen(rollouts.slopes.direct, places)),
        ),
        np.array([*pass_.followed, *range(p, p + n_start)], dtype=np.int64)[places],
        _samples(readings, part.rows, pass_.addresses.size),
        np.ones((len(rollouts.control), 2)),
    )


def _samples(readings: IndexArray, rows: IndexArray, count: int) -> IndexArray:
    """The residuals that compare some of so many readings, ascending."""
    if rows.size == count:
        return np.arange(readings.size)
    return np.flatnonzero(np.isin(readings, rows))


def _columns(table: FloatArray, chosen: Sequence[int] | IndexArray) -> FloatArray:
    """Some of the second axis, ascending; all of it as it is."""
    return table if len(chosen) == table.shape[1] else table[:, chosen]


def _touches(pass_: Pass, states: FloatArray, steps: IndexArray) -> Touches:
    """Contacts before each step that are looked for.

    Args:
      pass_: The point.
      states: Of all runs, from each start on, (steps + w, nstate).
      steps: Of each run, (w,).
    """
    if not pass_.touching:
        return no_touches(int(steps.sum()))
    model, before = pass_.columns.base.model, np.delete(states, np.cumsum(steps + 1) - 1, axis=0)
    return touches_of(model, before[:, : model.nq], feet_pairs(model))


def _chosen(direct: FloatArray, places: IndexArray) -> FloatArray:
    """Some columns of direct slopes, of which there may be none at all."""
    return direct if not len(direct) else np.ascontiguousarray(direct[:, :, places])


def _add_through_readings(
    addresses: IndexArray,
    slope: ResidualSlope,
    samples: IndexArray,
    first: int,
    derivatives: FloatArray,
    columns: IntArray,
    out: FloatArray,
) -> None:
    """Add the derivatives of some residuals through the sensor data.

    Args:
      addresses: The columns of the sensor data that were differentiated.
      slope: Of all residuals.
      samples: The residuals, ascending.
      first: The first row of the sensor data that was differentiated.
      derivatives: From there on, (steps, len(addresses), n).
      columns: Where the directions belong, (n,).
      out: Added to, of all residuals and columns.
    """
    total = np.empty(columns.size)

    def add(chosen: IndexArray, weights: FloatArray, read: IndexArray) -> None:
        slots, rows = np.searchsorted(addresses, read), slope.rows[_as_slice(chosen)]
        rows = rows - first if first else rows
        entry_points().interpolate(derivatives, rows, weights, slots, chosen, columns, total, out)

    turned = slope.turned
    if turned is None:
        place = _as_slice(samples)
        add(samples, slope.weights[place], slope.columns[place])
        return
    straight = np.setdiff1d(samples, turned.samples, assume_unique=True)
    add(straight, slope.weights[straight], slope.columns[straight])
    own = np.isin(turned.samples, samples)
    chosen, read = turned.samples[own], turned.columns[own]
    for k, factor in enumerate(turned.by_quaternion[own].T):
        add(chosen, slope.weights[chosen] * factor[:, np.newaxis], read + k)


def _as_slice(chosen: IndexArray) -> IndexArray | slice:
    """Ascending indices, as a slice where they leave none out, which copies nothing."""
    dense = chosen.size and chosen[-1] - chosen[0] + 1 == chosen.size
    return slice(int(chosen[0]), int(chosen[-1]) + 1) if dense else chosen
