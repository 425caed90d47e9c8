"""Many rollouts in one native call, on a thread pool that is kept.

``mujoco.rollout`` needs every rollout of a call to have the same number of steps. Windows of
unequal length are grouped by length, and large batches are split so that the state and sensor
arrays stay within a memory budget.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

import mujoco
import mujoco.rollout
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# Beyond this the simulation has left every physical range although it is still finite.
DIVERGENCE_LIMIT = 1e8


@dataclass(frozen=True)
class RolloutJob:
    """One rollout: a model, where it starts and what it is told.

    Attributes:
      model: The compiled model.
      start: ``mjSTATE_FULLPHYSICS`` vector, shape (nstate,).
      control: One row per step, shape (nstep, nu).
    """

    model: mujoco.MjModel
    start: FloatArray
    control: FloatArray


class RolloutBatch:
    """Runs lists of :class:`RolloutJob` on a reusable pool of threads.

    Args:
      n_threads: Worker threads; ``None`` for one per available core.
      max_bytes: Budget for the arrays of one native call.
      should_stop: Asked between native calls; true raises :class:`Interrupted`.
    """

    def __init__(
        self,
        n_threads: int | None = None,
        *,
        max_bytes: int = 64 << 20,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.n_threads = n_threads or len(os.sched_getaffinity(0))
        self.steps = 0
        self._max_bytes = max_bytes
        self._should_stop = should_stop
        self._pool = mujoco.rollout.Rollout(nthread=self.n_threads)
        self._data: dict[tuple[int, ...], list[mujoco.MjData]] = {}

    def __enter__(self) -> RolloutBatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the threads; the object cannot be used afterwards."""
        self._pool.close()

    def sensordata(self, jobs: Sequence[RolloutJob]) -> list[FloatArray]:
        """Roll out all jobs.

        Args:
          jobs: Rollouts of any models and lengths.

        Returns:
          For each job its sensor readings, shape (nstep, nsensordata). Row i is the sensors'
          value at the state *before* step i, that is, i time steps after the start. A rollout
          that diverged is NaN throughout.

        Raises:
          Interrupted: ``should_stop`` asked for it.
        """
        results: list[FloatArray] = [np.empty(0)] * len(jobs)
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, job in enumerate(jobs):
            groups.setdefault((*_signature(job.model), len(job.control)), []).append(i)
        for (*signature, nstep), members in groups.items():
            data = self._data_for(tuple(signature), jobs[members[0]].model)
            for part in self._parts(members, jobs[members[0]], nstep):
                if self._should_stop is not None and self._should_stop():
                    raise Interrupted
                self._run(part, jobs, data, results)
                self.steps += nstep * len(part)
        return results

    def _data_for(self, signature: tuple[int, ...], model: mujoco.MjModel) -> list[mujoco.MjData]:
        if signature not in self._data:
            self._data[signature] = [mujoco.MjData(model) for _ in range(self.n_threads)]
        return self._data[signature]

    def _parts(self, members: list[int], job: RolloutJob, nstep: int) -> list[list[int]]:
        row = job.model.nu + job.model.nsensordata + len(job.start)
        size = max(self.n_threads, self._max_bytes // (8 * max(1, nstep * row)))
        return [members[i : i + size] for i in range(0, len(members), size)]

    def _run(
        self,
        part: list[int],
        jobs: Sequence[RolloutJob],
        data: list[mujoco.MjData],
        results: list[FloatArray],
    ) -> None:
        state, sensors = self._pool.rollout(
            [jobs[i].model for i in part],
            data,
            np.stack([jobs[i].start for i in part]),
            np.stack([jobs[i].control for i in part]),
        )
        with np.errstate(invalid="ignore"):
            diverged = ~np.all(np.abs(state[:, -1]) < DIVERGENCE_LIMIT, axis=-1)
        sensors[diverged] = np.nan
        for k, i in enumerate(part):
            results[i] = sensors[k]


class Interrupted(Exception):
    """The user asked a running computation to stop; carries nothing."""


def _signature(model: mujoco.MjModel) -> tuple[int, ...]:
    return (model.nq, model.nv, model.na, model.nu, model.nbody, model.ngeom, model.nsensordata,
            model.nM, model.nuserdata, model.nplugin)  # fmt: skip
