# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A search and its fits on a real Dask scheduler, one of whose workers gets killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from pendulum_experiment import write_pendulum_experiment

from sysid_ros.dataset import FitInputs
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.processes.execution import IN_THIS_PROCESS, Workers
from sysid_ros.search.start import FoundStart, SearchListener, find_start
from sysid_ros.search.trials import Trials

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra sysid_ros[dask] is absent")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    file = write_pendulum_experiment(tmp_path / "pendulum", duration=3.0)
    settings = ["fit.search={method: cma-es, trials: 60, seed: 4}", "fit.threads=1"]
    experiment = with_overrides(load_experiment(file), settings)
    inputs = FitInputs.read(experiment, None)

    def search(workers: Workers, listener: SearchListener) -> FoundStart:
        return find_start(inputs, workers=workers, listener=listener)

    alone = search(IN_THIS_PROCESS, SearchListener())
    cluster_settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**cluster_settings, silence_logs=50) as cluster:
        killed: list[int] = []

        def kill_one(trials: Trials) -> None:
            if len(trials) > 15 and not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        spread = search(Workers(dask=cluster.scheduler_address), SearchListener(trials=kill_one))
    assert killed
    np.testing.assert_array_equal(spread.trials.values, alone.trials.values)
    np.testing.assert_array_equal(spread.trials.costs, alone.trials.costs)
    np.testing.assert_array_equal(spread.values, alone.values)
