# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Tasks in this process, in processes of their own and on Dask, with workers that get killed."""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest
from patience import PATIENCE
from worker_tasks import die_once, fail, process_id, sleep_and_square, square

from sysid_ros.errors import DataError, ExperimentError, StopRequestedError
from sysid_ros.processes import execution
from sysid_ros.processes.execution import TaskPool, Workers, WorkersError, run_tasks

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def _tasks_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{TESTS}{os.pathsep}{TESTS.parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    monkeypatch.setenv("PYTHONPATH", path)


@pytest.mark.parametrize("count", [1, 2])
def test_results_come_in_the_order_of_the_tasks(count: int) -> None:
    ended: list[int] = []
    results = run_tasks(
        square, [3, 1, 2], Workers(count), on_done=lambda index, result: ended.append(index)
    )
    assert results == [9, 1, 4]
    assert sorted(ended) == [0, 1, 2]


def test_one_worker_is_this_process_and_two_are_others() -> None:
    assert run_tasks(process_id, [0, 1]) == [os.getpid()] * 2
    assert os.getpid() not in run_tasks(process_id, [0, 1], Workers(2))


def test_an_error_of_a_task_arrives_as_itself() -> None:
    with pytest.raises(DataError, match=r"task [12] cannot be done"):
        run_tasks(fail, [1, 2], Workers(2))


def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    tasks = [(str(tmp_path / "died"), i) for i in range(6)]
    assert run_tasks(die_once, tasks, Workers(2)) == [i**2 for i in range(6)]
    assert (tmp_path / "died").exists()


def test_workers_that_die_between_two_lists_lose_nothing() -> None:
    with TaskPool(Workers(2)) as pool:
        for worker in set(pool.run(process_id, [0, 1])):
            os.kill(worker, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while not pool._executor._broken:  # then it refuses the next task
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert pool.run(square, [3, 1, 2]) == [9, 1, 4]


def test_tasks_that_kill_every_worker_are_given_up(tmp_path: Path) -> None:
    with pytest.raises(WorkersError, match="died 3 times with 2 of 2"):
        run_tasks(die_once, [("", 0), ("", 1)], Workers(2))


def test_a_stop_does_not_wait_for_what_is_under_way() -> None:
    began = time.monotonic()
    with pytest.raises(StopRequestedError):
        run_tasks(
            sleep_and_square,
            [(2 * PATIENCE, 1), (2 * PATIENCE, 2)],
            Workers(2),
            should_stop=lambda: time.monotonic() - began > 0.5,
        )
    assert time.monotonic() - began < PATIENCE


def test_dask_runs_on_when_one_of_its_workers_is_killed(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra sysid_ros[dask] is absent")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings, silence_logs=50) as cluster:
        died = tmp_path / "killed"

        def kill_one(index: int, result: int) -> None:
            if not died.exists():
                died.touch()
                pids = run_tasks(
                    process_id, list(range(8)), Workers(dask=cluster.scheduler_address)
                )
                os.kill(pids[0], signal.SIGKILL)

        tasks = [(0.3, i) for i in range(12)]
        workers = Workers(dask=cluster.scheduler_address)
        results = run_tasks(sleep_and_square, tasks, workers, on_done=kill_one)
        assert results == [i**2 for i in range(12)]
        assert died.exists()


@pytest.mark.parametrize(("package", "found"), [("mujoco", "1.50"), ("sysid_ros", "0.0.1")])
def test_a_worker_with_other_versions_is_refused(package: str, found: str) -> None:
    here = execution._versions()
    assert execution._where_alike(square, here, 3) == 9
    with pytest.raises(WorkersError, match=rf"{package} {here[package]}, and this machine {found}"):
        execution._where_alike(square, {**here, package: found}, 3)


@pytest.mark.parametrize("gone", [True, False])
def test_a_cluster_that_fails_is_a_sentence(gone: bool) -> None:
    scheduler = pytest.importorskip(
        "distributed.scheduler", reason="the extra sysid_ros[dask] is absent"
    )
    future: Future[int] = Future()
    if gone:
        future.cancel()
        future.set_running_or_notify_cancel()
    else:
        future.set_exception(scheduler.KilledWorker("task", None, 4))
    pool = TaskPool(Workers(dask="tcp://host:1"))
    pool._executor = SimpleNamespace(submit=lambda *task: future)  # type: ignore[assignment]
    with pytest.raises(WorkersError, match="has gone" if gone else "died again and again"):
        pool.run(square, [1])


def test_a_scheduler_that_is_not_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorkersError, match="no Dask scheduler at 'nonsense://'"):
        run_tasks(square, [1, 2], Workers(dask="nonsense://"))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ExperimentError, match=r"sysid_ros\[dask\]"):
        run_tasks(square, [1, 2], Workers(dask="tcp://localhost:1"))
