# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An experiment that is fitted in chunks, here, by processes that get killed, and on Dask."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pendulum_experiment import write_pendulum_bag, write_pendulum_experiment

from sysid_ros.dataset import FitInputs
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import Experiment, load_experiment, with_bags, with_overrides
from sysid_ros.pipeline import Resume, run_experiment
from sysid_ros.processes import IN_THIS_PROCESS, Workers

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """Three recordings to fit, in chunks of two, and one that is held out."""
    file = write_pendulum_experiment(tmp_path / "pendulum", duration=4.0)
    for seed, name in enumerate(("third", "fourth"), start=2):
        write_pendulum_bag(file.parent / "bags" / name, duration=4.0, seed=seed)
    found = with_bags(load_experiment(file), ["bags/third", "bags/fourth"])
    return with_overrides(found, ["fit.chunk=2", "fit.threads=1"])


def test_a_run_in_chunks_is_that_of_all_recordings(experiment: Experiment, tmp_path: Path) -> None:
    _check(experiment, tmp_path, IN_THIS_PROCESS, lambda step: None)


@pytest.mark.slow
def test_a_killed_process_changes_nothing(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    killed: list[int] = []

    def kill_one(step: Iteration) -> None:
        if not killed:
            killed.append(multiprocessing.active_children()[0].pid or 0)
            os.kill(killed[0], signal.SIGKILL)

    _check(experiment, tmp_path, Workers(2), kill_one)
    assert killed


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_changes_nothing(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra sysid_ros[dask] is absent")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings, silence_logs=50) as cluster:
        killed: list[int] = []

        def kill_one(step: Iteration) -> None:
            if not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        _check(experiment, tmp_path, Workers(dask=cluster.scheduler_address), kill_one)
        assert killed


def _check(
    experiment: Experiment,
    folder: Path,
    workers: Workers,
    on_iteration: Callable[[Iteration], None],
) -> None:
    """Compare a run in chunks with a fit of everything at once."""
    whole = FitInputs.read(experiment, None).fitted(landscapes=False)
    report = run_experiment(
        experiment, output_dir=folder / "out", workers=workers, on_iteration=on_iteration
    )
    found = report.outcome.fit
    assert found.status is FitStatus.CONVERGED
    np.testing.assert_allclose(found.values, whole.values, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, whole.covariance, rtol=1e-9)
    assert any("the first 2 of 3 recordings" in one for one in report.outcome.warnings)
    assert [each.name for each in report.outcome.sequences] == ["first", "third", "second"]


def test_what_needs_all_recordings_is_refused(experiment: Experiment, tmp_path: Path) -> None:
    asked = with_overrides(experiment, ["fit.bias_check=true"])
    with pytest.raises(ExperimentError, match=r"fit.chunk does not go with fit.bias_check"):
        run_experiment(asked, output_dir=tmp_path / "out")
    with pytest.raises(ExperimentError, match="leave out --resume"):
        run_experiment(experiment, output_dir=tmp_path / "out", resume=Resume(None))
