# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lists of rollouts in as few native calls as memory and a quick answer to "stop" allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar

import mujoco
import numpy as np
import numpy.typing as npt

from sysid_ros.errors import StopRequestedError as StopRequestedError
from sysid_ros.sysid.rollout_pool import Rollout, RolloutPool

FloatArray = npt.NDArray[np.float64]
Result = TypeVar("Result")

# Bytes of controls, states and sensor data in one native call.
MAX_BYTES = 64 << 20


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
      should_stop: Asked between native calls; true raises :class:`StopRequestedError`.
    """

    def __init__(
        self, n_threads: int | None = None, *, should_stop: Callable[[], bool] | None = None
    ) -> None:
        self._pool = RolloutPool(n_threads)
        self._should_stop = should_stop
        self._workers: ThreadPoolExecutor | None = None

    def __enter__(self) -> RolloutBatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pool.close()
        if self._workers is not None:
            self._workers.shutdown()

    def sensordata(self, jobs: Sequence[RolloutJob]) -> list[FloatArray]:
        """Roll out all jobs and return the sensor data of each; see :meth:`run`."""
        return [rollout.sensordata for rollout in self.run(jobs)]

    def run(self, jobs: Sequence[RolloutJob]) -> list[Rollout]:
        """Roll out all jobs.

        Args:
          jobs: Rollouts of any models and lengths.

        Returns:
          For each job states, shape (nstep, nstate), and sensor readings, shape (nstep,
          nsensordata). Row i of the readings is the sensors' value at the state *before* step i,
          that is, i time steps after the start; rows after a divergence are NaN.

        Raises:
          StopRequestedError: ``should_stop`` asked for it.
        """
        results: list[Rollout] = []
        for part in _parts(jobs):
            if self._should_stop is not None and self._should_stop():
                raise StopRequestedError
            results += self._pool.rollout(
                [job.model for job in part],
                [job.start for job in part],
                [job.control for job in part],
            )
        return results

    def map(self, function: Callable[..., Result], *items: Iterable[Any]) -> Iterator[Result]:
        """Like the built-in ``map``, on the threads, for code without the interpreter's lock."""
        if self._pool.n_threads == 1:
            return map(function, *items)
        if self._workers is None:
            self._workers = ThreadPoolExecutor(self._pool.n_threads)
        return self._workers.map(function, *items)


def _parts(jobs: Sequence[RolloutJob]) -> Iterator[Sequence[RolloutJob]]:
    part: list[RolloutJob] = []
    size = 0
    for job in jobs:
        size += 8 * len(job.control) * (job.model.nu + job.model.nsensordata + len(job.start))
        part.append(job)
        if size > MAX_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part
