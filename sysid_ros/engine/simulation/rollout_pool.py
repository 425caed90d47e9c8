# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many simulations of any models and lengths, each native call running as many as it can."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import mujoco
import mujoco.rollout
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.closing import Closing
from sysid_ros.engine.friction import friction_callback, has_friction
from sysid_ros.engine.simulation.mujoco_warnings import collected_warnings
from sysid_ros.engine.simulation.portions import portions
from sysid_ros.engine.simulation.simulation import (
    BatchRollout,
    BatchSimulation,
    Rollout,
    Simulation,
    checked,
    is_whole,
)
from sysid_ros.engine.simulation.simulation_batch import SimulationBatch
from sysid_ros.engine.simulation.timers import timers_at_rest
from sysid_ros.errors import SignalError, StopRequestedError

Result = TypeVar("Result")

_CONTROL = int(mujoco.mjtState.mjSTATE_CTRL.value)

# Rollouts of unequal length share a native call where the steps that padding adds to the shorter
# cost no more than a call of its own.
_CALL_STEPS = 16
# Controls, states and sensor data of one native call of :meth:`RolloutPool.run`.
_MAX_BYTES = 64 << 20
# Parts per thread, so that threads end at about the same time.
_PARTS = 4


class RolloutPool(Closing):
    """Runs simulations on threads that are kept between calls.

    :meth:`rollout` runs whole trajectories and :meth:`run` long lists of them, which can be
    stopped; :meth:`batch` makes simulations that are stepped.

    Attributes:
      n_threads: Number of threads.
      warnings: What MuJoCo warned about in the last call, such as a simulation that diverged.

    Usage::

        with RolloutPool() as pool:
            rollouts = pool.rollout(models, initial_states, controls)
    """

    def __init__(
        self, n_threads: int | None = None, *, should_stop: Callable[[], bool] | None = None
    ) -> None:
        """Start the threads.

        Args:
          n_threads: How many; ``None``: one per core that this process may use.
          should_stop: Asked by :meth:`run` between native calls; true stops it.
        """
        self._should_stop = should_stop
        self.n_threads = n_threads or len(os.sched_getaffinity(0))
        self.warnings: list[str] = []
        self._workers = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None
        self._runners = [mujoco.rollout.Rollout(nthread=0) for _ in range(self.n_threads)]
        self._datas: dict[tuple[int, ...], list[Any]] = {}

    def close(self) -> None:
        """End the threads; the pool cannot be used afterwards."""
        for runner in self._runners:
            runner.close()
        if self._workers is not None:
            self._workers.shutdown()

    def run(self, jobs: Sequence[Simulation]) -> list[Rollout]:
        """Simulate jobs of any models and lengths, in calls that memory and a quick stop allow.

        Raises:
          StopRequestedError: ``should_stop`` asked for it.
        """
        results: list[Rollout] = []
        for rows in portions([job.size for job in jobs], _MAX_BYTES):
            part = jobs[rows]
            self.give_way()
            results += self.rollout(
                [job.model for job in part],
                [job.start for job in part],
                [job.controls.values for job in part],
            )
        return results

    def give_way(self) -> None:
        """Stop where that is asked for.

        Raises:
          StopRequestedError: ``should_stop`` asked for it.
        """
        if self._should_stop is not None and self._should_stop():
            raise StopRequestedError

    def map(self, function: Callable[..., Result], *items: Iterable[Any]) -> Iterator[Result]:
        """Like the built-in ``map``, on the threads, for code without the interpreter's lock."""
        if self._workers is None:
            return map(function, *items)
        return self._workers.map(function, *items)

    def run_batches(self, batches: Sequence[BatchSimulation]) -> list[BatchRollout]:
        """Simulate batches together; see :meth:`run`."""
        jobs = [run for batch in batches for run in batch.runs()]
        done = iter(self.run(jobs))
        return [BatchRollout.of([next(done) for _ in batch.steps]) for batch in batches]

    def rollout(
        self,
        models: Sequence[Any],
        initial_states: Sequence[FloatArray],
        controls: Sequence[FloatArray],
        *,
        control_spec: int = _CONTROL,
        substeps: int = 1,
    ) -> list[Rollout]:
        """Simulate.

        Args:
          models: One MjModel per simulation.
          initial_states: One full-physics state per simulation, (nstate,).
          controls: One array per simulation, (number of steps, size of the control).
          control_spec: What the columns of the controls are, as for ``mujoco.rollout``: for
            example ``mjSTATE_CTRL | mjSTATE_XFRC_APPLIED`` for applied forces as well, or
            ``mjSTATE_MOCAP_POS | mjSTATE_MOCAP_QUAT``. Columns follow the bits' order.
          substeps: Time steps for which each row of a control is held.

        Returns:
          One result per simulation, in order, with one row per row of its control.

        Raises:
          SignalError: The lists differ in length, or a control in its width.
        """
        self._check(models, initial_states, controls, control_spec, substeps)
        if substeps > 1:
            controls = [np.repeat(control, substeps, axis=0) for control in controls]
        results: list[Rollout | None] = [None] * len(models)
        lengths = [len(control) for control in controls]
        distinct = {id(model): model for model in models}
        signatures = {key: size_signature(model) for key, model in distinct.items()}
        own = [signatures[id(model)] for model in models]
        parts = deque(_parts(own, lengths, self.n_threads))
        for signature in {part.signature for part in parts} - self._datas.keys():
            model = models[own.index(signature)]
            self._datas[signature] = [mujoco.MjData(model) for _ in range(self.n_threads)]

        def work(thread: int) -> None:
            while True:
                try:
                    part = parts.popleft()  # from any thread
                except IndexError:
                    return
                done = self._run(
                    thread,
                    part.signature,
                    [models[i] for i in part.members],
                    [initial_states[i] for i in part.members],
                    [controls[i] for i in part.members],
                    control_spec,
                )
                for i, result in zip(part.members, done, strict=True):
                    results[i] = result

        # Only where it is needed: the callback is the process's, and loading numba takes a second.
        friction = (
            friction_callback() if any(map(has_friction, distinct.values())) else nullcontext()
        )
        with friction, timers_at_rest(), collected_warnings() as self.warnings:
            if self._workers is None or len(parts) == 1:
                work(0)
            else:
                list(self._workers.map(work, range(min(self.n_threads, len(parts)))))
        done_all = [result for result in results if result is not None]
        return done_all if substeps == 1 else [result.every(substeps) for result in done_all]

    def batch(self, models: Any, count: int | None = None) -> SimulationBatch:
        """Simulations whose states are kept, read and set, and which are stepped together.

        Args:
          models: One MjModel to be simulated ``count`` times, or one per simulation, all of the
            same size.
          count: How many simulations of one model.

        Raises:
          SignalError: The models differ in size.
        """
        if isinstance(models, mujoco.MjModel):
            models = [models] * (1 if count is None else count)
        if len({size_signature(model) for model in models}) > 1:
            raise SignalError("the models of a batch must have the same elements")
        return SimulationBatch(self.rollout, models)

    @staticmethod
    def _check(
        models: Sequence[Any],
        initial_states: Sequence[FloatArray],
        controls: Sequence[FloatArray],
        control_spec: int,
        substeps: int,
    ) -> None:
        if not len(models) == len(initial_states) == len(controls):
            raise SignalError(
                f"{len(models)} models, {len(initial_states)} initial states and "
                f"{len(controls)} controls: one of each per simulation is needed"
            )
        if substeps < 1:
            raise SignalError(f"substeps must be at least 1, got {substeps}")
        distinct = {id(model): model for model in models}
        widths = {key: mujoco.mj_stateSize(each, control_spec) for key, each in distinct.items()}
        for model, control in zip(models, controls, strict=True):
            width = widths[id(model)]
            if control.ndim != 2 or not len(control) or control.shape[1] != width:
                raise SignalError(
                    f"a control has shape {control.shape}, expected (steps, {width}) for control "
                    f"spec {control_spec}"
                )

    def _run(
        self,
        thread: int,
        signature: tuple[int, ...],
        models: list[Any],
        initial_states: list[FloatArray],
        controls: list[FloatArray],
        control_spec: int,
    ) -> list[Rollout]:
        """Simulate models of one size for as long as the longest control, in one native call."""
        lengths = [len(control) for control in controls]
        padded = np.empty((len(controls), max(lengths), controls[0].shape[1]))
        for row, control in zip(padded, controls, strict=True):
            row[: len(control)] = control
            row[len(control) :] = control[-1:]
        starts = np.stack(initial_states)
        states, sensors = self._runners[thread].rollout(
            models, self._datas[signature][thread], starts, padded, control_spec=control_spec
        )
        steps = np.array([model.opt.timestep for model in models])
        whole = is_whole(states, sensors, starts[:, 0], steps)
        return [
            Rollout(states[k, :length], sensors[k, :length], length)
            if whole[k]
            else checked(states[k, :length], sensors[k, :length], starts[k, 0], steps[k])
            for k, length in enumerate(lengths)
        ]


def size_signature(model: Any) -> tuple[int, ...]:
    """Return the sizes that two models must share to be simulated with the same MjData."""
    return (
        model.nq, model.nv, model.na, model.nu, model.nbody, model.njnt, model.ngeom, model.nsite,
        model.nmocap, model.ntendon, model.neq, model.nsensor, model.nsensordata, model.nuserdata,
        model.npluginstate, model.nM, model.nB, model.nC, model.nD,
        mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION.value),
    )  # fmt: skip


@dataclass(frozen=True)
class _Part:
    """Simulations that share a native call: of one size of model, and of about one length."""

    signature: tuple[int, ...]
    members: Sequence[int]


def _parts(
    signatures: Sequence[tuple[int, ...]], lengths: Sequence[int], n_threads: int
) -> list[_Part]:
    """Split simulations into native calls, the longest first."""
    groups: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], signatures[i]), reverse=True):
        first = groups[-1][0] if groups else None
        if (
            first is not None
            and signatures[first] == signatures[i]
            and lengths[first] - lengths[i] <= _CALL_STEPS
        ):
            groups[-1].append(i)
        else:
            groups.append([i])
    most = max(1, sum(lengths) // (_PARTS * n_threads)) if n_threads > 1 else sum(lengths)
    parts = []
    for group in groups:
        size = max(1, most // lengths[group[0]])
        parts += [
            _Part(signatures[group[0]], group[k : k + size]) for k in range(0, len(group), size)
        ]
    return parts
