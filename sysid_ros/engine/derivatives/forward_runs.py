# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Batches simulated by the pass's own equation of motion, where MuJoCo confirms it.

A step of :mod:`.forward_rollout` costs a fraction of MuJoCo's, which visits 40 functions for a
single hinge. It is used for what a search tries, never for what a result is scored by.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import mujoco
import numpy as np

from sysid_ros.arrays import IndexArray
from sysid_ros.engine.derivatives.compilation import compilable, entry_points
from sysid_ros.engine.derivatives.forward_rollout import new_room
from sysid_ros.engine.derivatives.model_parts import ModelPart, model_parts, renewed_parts
from sysid_ros.engine.derivatives.sensors import readings, sensors_of, unsupported_sensor
from sysid_ros.engine.mechanics import (
    RK4,
    Tables,
    has_connections,
    tables_of,
    unsupported,
    with_own_course,
)
from sysid_ros.engine.simulation import (
    BatchRollout,
    BatchSimulation,
    RolloutPool,
    even_portions,
    run_slices,
    size_signature,
    step_times,
)
from sysid_ros.engine.windows import any_touch, can_touch

# Of a reading's standard deviation: what MuJoCo's solver leaves moves it by less than 1e-7.
AGREEMENT = 1e-6
_PIECES = 2  # per thread, so that threads end at about the same time
_FEWEST_STEPS = 2000  # of a piece, which takes Python as long as half of so many
_GLANCE = 0.01  # s between postures in which touches are looked for: by default they last longer
_DISABLE = mujoco.mjtDisableBit


@dataclass(frozen=True)
class _Covered:
    """A model that is covered."""

    model: mujoco.MjModel
    tables: Tables
    parts: tuple[ModelPart, ...]


class ForwardRuns:
    """Simulations of one model with any parameters.

    The first are MuJoCo's, as there may be no others. The next are compared with MuJoCo's, and what
    :meth:`compared` is asked for. Where one differs, where geoms touch in one, and of a model that
    is not covered, all are MuJoCo's.

    Args:
      addresses: The columns of the sensor data that are read, ascending; others are NaN.
      rollouts: Where simulations run.

    Attributes:
      trusted: Whether they agreed, and nothing touched; ``None`` before they were compared.
      used: Whether the latest are not MuJoCo's.
    """

    def __init__(self, addresses: IndexArray, rollouts: RolloutPool) -> None:
        self._addresses, self._rollouts = addresses, rollouts
        self.trusted: bool | None = None
        self.used = self._called = False
        self._latest: _Covered | None = None

    def run_batches(self, jobs: Sequence[BatchSimulation]) -> list[BatchRollout]:
        """Simulate batches together.

        Raises:
          StopRequestedError: As :meth:`RolloutPool.run`.
        """
        if self.trusted is None and self._called:
            return self.compared(jobs)
        self._called = True
        done = self._simulated(jobs) if self.trusted else None
        self.used = done is not None
        return self._rollouts.run_batches(jobs) if done is None else done

    def compared(self, jobs: Sequence[BatchSimulation]) -> list[BatchRollout]:
        """MuJoCo's rollouts, to which those here are to be trusted no longer where they differ."""
        plain = self._rollouts.run_batches(jobs)
        if self.trusted is not False:
            self.confirm(jobs, plain)
        return plain

    def confirm(self, jobs: Sequence[BatchSimulation], plain: Sequence[BatchRollout]) -> None:
        """Find out whether rollouts here are those of MuJoCo, which are given."""
        own = self._simulated(jobs)
        if own is not None:
            self.trusted = all(map(self._agree, own, plain))

    def _agree(self, own: BatchRollout, plain: BatchRollout) -> bool:
        """Return whether two rollouts read the same, as far as they did not break off."""
        theirs = plain.sensordata[:, self._addresses]
        sound = np.isfinite(theirs).all(axis=1)
        apart = np.abs(own.sensordata[sound][:, self._addresses] - theirs[sound])
        theirs = theirs[sound]
        if not len(theirs):
            return False
        size = theirs.std(axis=0) + 1e-6 * np.abs(theirs).max(axis=0)
        return bool(np.all(apart <= AGREEMENT * size))

    def _simulated(self, jobs: Sequence[BatchSimulation]) -> list[BatchRollout] | None:
        """The rollouts; ``None`` where a model is not covered, or something touches."""
        self._rollouts.give_way()
        done: list[BatchRollout] = []
        for _, own in itertools.groupby(jobs, key=lambda job: id(job.model)):
            some = list(own)
            parts = self._parts(some[0])
            if parts is None:
                return None
            together = _Together(some, parts, self._addresses)
            list(self._rollouts.map(together.simulate, together.pieces(self._rollouts.n_threads)))
            found = together.results(self._rollouts)
            if self._touches(some[0].model, found):
                self.trusted = False
                return None
            done += found
        return done

    def _touches(self, model: mujoco.MjModel, done: Sequence[BatchRollout]) -> bool:
        """Return whether geoms touch in some of the rollouts, in which they felt nothing of it."""
        if not can_touch(model):
            return False
        every = max(1, round(_GLANCE / model.opt.timestep))
        seen = [rollout.states[::every, 1 : 1 + model.nq] for rollout in done]
        return any(self._rollouts.map(partial(any_touch, model), seen))

    def _parts(self, job: BatchSimulation) -> tuple[ModelPart, ...] | None:
        """The parts of a job's model; ``None`` where it is not covered."""
        model, before = job.model, self._latest
        if before is None or before.model is not model:
            if not self._covers(model):
                return None
            tables, parts = tables_of(model), None
            if tables.holds:
                return None
            if before is not None and size_signature(before.model) == size_signature(model):
                parts = renewed_parts(before.parts, before.tables, tables)
            parts = parts or model_parts(tables, readings(model, self._addresses))
            self._latest = before = _Covered(model, tables, parts)
        fits = job.starts.shape[1] == 1 + model.nq + model.nv + model.na
        framed = any(part.readings.frames.row.size for part in before.parts)
        return before.parts if fits and not framed else None

    def _covers(self, model: mujoco.MjModel) -> bool:
        """Return whether nothing acts in a model, touches aside, that rollouts here do not know."""
        disabled = int(model.opt.disableflags)
        sensors = np.unique(sensors_of(model, self._addresses)).tolist()
        return bool(
            not has_connections(model)
            and not disabled & int(_DISABLE.mjDSBL_CONSTRAINT)
            and not model.opt.enableflags
            and int(model.opt.integrator) != RK4
            and unsupported(model) is None
            and unsupported_sensor(model, sensors) is None
        )


class _Together:
    """Batches of one model, part by part of it."""

    def __init__(
        self, jobs: Sequence[BatchSimulation], parts: Sequence[ModelPart], addresses: IndexArray
    ) -> None:
        self._jobs, self._parts, self._addresses = jobs, parts, addresses
        model = self._model = jobs[0].model
        starts = self._starts = np.concatenate([job.starts for job in jobs])
        controls = np.concatenate([job.controls for job in jobs])
        self._steps = np.concatenate([job.steps for job in jobs]).astype(np.int64)
        self._edges = np.append(0, np.cumsum(self._steps))
        # Every run's states with its start before them.
        self._begins = self._edges[:-1] + np.arange(len(starts))
        self._whole = np.ones((len(parts), len(starts)), dtype=np.int64)
        self._columns = [
            np.array([*own.positions, *model.nq + own.dofs, *model.nq + model.nv + own.activations])
            for own in (part.elements for part in parts)
        ]
        count = len(controls)
        self._states = [np.empty((count + len(starts), own.size)) for own in self._columns]
        for states, own in zip(self._states, self._columns, strict=True):
            states[self._begins] = starts[:, 1 + own]
        self._controls = [compilable(controls[:, part.elements.actuators]) for part in parts]
        self._readings = [np.empty((count, part.rows.size)) for part in parts]

    def pieces(self, n_threads: int) -> list[tuple[int, int, int]]:
        """Parts of the model, each with neighbouring runs of about as many steps."""
        size = self._edges[-1] / (_PIECES * n_threads if n_threads > 1 else 1)
        runs = even_portions(self._edges[1:], max(size, _FEWEST_STEPS))
        return [(part, one.start, one.stop) for part in range(len(self._parts)) for one in runs]

    def simulate(self, piece: tuple[int, int, int]) -> None:
        """Simulate some runs in a part of the model, on any thread."""
        number, begin, end = piece
        part, (first, last) = self._parts[number], self._edges[[begin, end]].tolist()
        tables = part.tables._replace(lines=with_own_course(part.tables.lines))
        entry_points().simulate_rollouts(
            tables,
            part.readings,
            self._steps[begin:end],
            self._controls[number][first:last],
            new_room(tables),
            self._states[number][first + begin : last + end],
            self._readings[number][first:last],
            self._whole[number, begin:end],
        )

    def results(self, rollouts: RolloutPool) -> list[BatchRollout]:
        """The rollouts of each batch, once all are done; of runs that broke off MuJoCo's."""
        edges, model = self._edges, self._model
        states = np.empty((edges[-1], self._starts.shape[1]))
        data = np.full((edges[-1], model.nsensordata), np.nan)
        after = np.ones(edges[-1] + len(self._starts), dtype=bool)
        after[self._begins] = False
        for part, own, columns, read in zip(
            self._parts, self._states, self._columns, self._readings, strict=True
        ):
            states[:, 1 + columns] = own[after]
            data[:, self._addresses[part.rows]] = read
        within = np.arange(edges[-1]) - np.repeat(edges[:-1], self._steps)
        for start in np.unique(self._starts[:, 0]).tolist():  # one, as a rule
            own_steps = np.repeat(self._starts[:, 0] == start, self._steps)
            times = step_times(start, model.opt.timestep, int(self._steps.max()))
            states[own_steps, 0] = times[within[own_steps]]
        diverged = np.zeros(len(self._steps), dtype=bool)
        broken = np.flatnonzero(~self._whole.all(axis=0)).tolist()
        runs = [run for job in self._jobs for run in job.runs()] if broken else []
        for k in broken:
            (run,) = rollouts.run([runs[k]])
            states[edges[k] : edges[k + 1]] = run.states
            data[edges[k] : edges[k + 1]] = run.sensordata
            diverged[k] = run.diverged
        return [
            BatchRollout(
                states[edges[own.start] : edges[own.stop]],
                data[edges[own.start] : edges[own.stop]],
                diverged[own],
            )
            for own in run_slices(np.array([len(job.steps) for job in self._jobs]))
        ]
