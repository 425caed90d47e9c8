# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Execution of independent tasks: in this process, in local processes, or on a Dask cluster.

Everything that can be spread out (folds, models, starts) is a module-level function of one plain
argument, so that it can be sent anywhere. Local processes are spawned, never forked. A worker that
dies takes no result with it: its task runs again, on Dask by the scheduler's own doing, locally
in a fresh pool.
"""

from __future__ import annotations

import os
import platform
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import sysid_ros
from sysid_ros.closing import Closing
from sysid_ros.errors import ErrorCode, ExperimentError, StopRequestedError, SysidError
from sysid_ros.processes.process_life import die_with_parent

if TYPE_CHECKING:  # what runs in other processes is imported where they are started
    from concurrent.futures import Executor, Future

Task = TypeVar("Task")
Result = TypeVar("Result")

_ATTEMPTS = 3  # pools that may break before the tasks are to blame
_POLL = 0.1  # s between looks at should_stop


class WorkersError(SysidError):
    """The processes that should compute are not there or keep dying."""

    code = ErrorCode.WORKER_DIED


@dataclass(frozen=True)
class Workers:
    """The processes that compute."""

    count: int = 1  # processes on this machine; 1 computes in this one
    # address of a Dask scheduler, which has workers of its own; ``None`` for this machine
    dask: str | None = None

    def threads_each(self, wanted: int | None) -> int | None:
        """Simulation threads of one task, so that all tasks together fill the machine once."""
        if wanted is not None or self.dask is not None or self.count == 1:
            return wanted
        return max(1, len(os.sched_getaffinity(0)) // self.count)


IN_THIS_PROCESS = Workers()


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    workers: Workers = IN_THIS_PROCESS,
    *,
    on_done: Callable[[int, Result], None] = lambda index, result: None,
    should_stop: Callable[[], bool] | None = None,
) -> list[Result]:
    """Apply a function to every task, wherever the workers are.

    Args:
      function: A module-level function without side effects; it may run twice for one task.
      tasks: Plain data.
      workers: Where to run.
      on_done: Told the index and the result of every task as it ends, in this thread.
      should_stop: Asked while waiting; true gives up what has not ended.

    Returns:
      The results in the order of the tasks.

    Raises:
      SysidError: What a task raised, or the workers failed.
      StopRequestedError: ``should_stop`` asked for it.
    """
    with TaskPool(workers) as pool:
        return pool.run(function, tasks, on_done=on_done, should_stop=should_stop)


class TaskPool(Closing):
    """Workers that stay for several lists of tasks; also a context manager."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._open = ExitStack()
        self._executor: Executor | None = None

    @property
    def is_here(self) -> bool:
        """True if tasks run in this process."""
        return self._workers.dask is None and self._workers.count == 1

    def run(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        *,
        on_done: Callable[[int, Result], None] = lambda index, result: None,
        should_stop: Callable[[], bool] | None = None,
    ) -> list[Result]:
        """Apply a function to every task; see :func:`run_tasks`."""
        done: dict[int, Result] = {}

        def keep(index: int, result: Result) -> None:
            done[index] = result
            on_done(index, result)

        if self.is_here or (self._workers.dask is None and len(tasks) == 1):
            for index, task in enumerate(tasks):
                _stop_if(should_stop)
                keep(index, function(task))
            return [done[index] for index in range(len(tasks))]
        for _ in range(_ATTEMPTS):
            left = [index for index in range(len(tasks)) if index not in done]
            if not left:
                break
            self._attempt(function, {index: tasks[index] for index in left}, keep, should_stop)
        if len(done) < len(tasks):
            raise WorkersError(
                f"worker processes died {_ATTEMPTS} times with {len(tasks) - len(done)} of "
                f"{len(tasks)} tasks left; there may be too little memory, try fewer workers"
            )
        return [done[index] for index in range(len(tasks))]

    def _attempt(
        self,
        function: Callable[[Task], Result],
        tasks: Mapping[int, Task],
        keep: Callable[[int, Result], None],
        should_stop: Callable[[], bool] | None,
    ) -> None:
        """Run tasks as far as the workers live."""
        from concurrent.futures import BrokenExecutor

        if self._executor is None:
            self._executor = self._open.enter_context(_executor(self._workers))
        if self._workers.dask is not None:
            function = partial(_where_alike, function, _versions())
        futures: dict[Future[Any], int] = {}
        try:
            for index, task in tasks.items():  # which fails where a worker died since the last list
                futures[self._executor.submit(function, task)] = index
            _collect(futures, keep, should_stop)
        except BrokenExecutor:
            self.close()
        except BaseException as error:
            for future in futures:
                future.cancel()
            if self._workers.dask is not None:
                _refuse_failed_cluster(self._workers.dask, error)
            raise

    def close(self) -> None:
        """End the workers; the next tasks start new ones."""
        self._executor = None
        self._open.close()


def _collect(
    futures: dict[Future[Result], int],
    keep: Callable[[int, Result], None],
    should_stop: Callable[[], bool] | None,
) -> None:
    from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait

    waiting = set(futures)
    while waiting:
        _stop_if(should_stop)
        ended, waiting = wait(waiting, _POLL, FIRST_COMPLETED)
        broken = None
        for future in ended:
            try:
                keep(futures[future], future.result())
            except BrokenExecutor as error:
                broken = error  # what else has ended is still kept
        if broken is not None:
            raise broken


def _where_alike(
    function: Callable[[Task], Result], versions: Mapping[str, str], task: Task
) -> Result:
    """Do a task, on another machine, where it gives the same result as here.

    Raises:
      WorkersError: Other versions are installed there.
    """
    for package, found in _versions().items():
        if found != versions[package]:
            raise WorkersError(
                f"the Dask worker on {platform.node()} has {package} {found}, and this machine "
                f"{versions[package]}: results would not go together; install the same version"
            )
    return function(task)


def _versions() -> dict[str, str]:
    """The versions that decide on a result."""
    from importlib import metadata  # which reads e-mail: as long as the rest of a room

    return {"sysid_ros": sysid_ros.__version__, "mujoco": metadata.version("mujoco")}


def _refuse_failed_cluster(address: str, error: BaseException) -> None:
    """Say in a sentence what has failed, if it is the cluster.

    Raises:
      WorkersError: Its scheduler has gone, or a task has killed several workers.
    """
    from concurrent.futures import CancelledError

    from distributed.scheduler import KilledWorker

    if isinstance(error, CancelledError):
        raise WorkersError(f"the Dask scheduler at {address!r} has gone") from error
    if isinstance(error, KilledWorker):
        raise WorkersError(
            f"workers of the Dask scheduler at {address!r} died again and again of a task; there "
            "may be too little memory, try fewer workers on a machine"
        ) from error


def _stop_if(should_stop: Callable[[], bool] | None) -> None:
    if should_stop is not None and should_stop():
        raise StopRequestedError


@contextmanager
def _executor(workers: Workers) -> Iterator[Executor]:
    if workers.dask is not None:
        with _dask_executor(workers.dask) as executor:
            yield executor
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(workers.count, get_context("spawn"), initializer=_begin_worker)
    try:
        yield pool
    finally:
        # Tasks under way are not waited for: their results are no longer wanted.
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _begin_worker() -> None:
    """Ctrl-C reaches the whole terminal, but how to end is the parent's decision."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()


@contextmanager
def _dask_executor(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise ExperimentError(
            "a Dask scheduler needs the package 'distributed': pip install 'sysid_ros[dask]'"
        ) from error
    try:
        make_client: Any = Client  # untyped
        client = make_client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkersError(f"there is no Dask scheduler at {address!r}: {error}") from error
    with client:
        executor: Executor = client.get_executor(pure=False)
        yield executor
