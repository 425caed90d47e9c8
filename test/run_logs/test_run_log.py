# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is recorded of a run, read back with the tools it is recorded for."""

from __future__ import annotations

import csv
import logging
import struct
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from outcomes import outcome as synthetic
from patience import PATIENCE
from pendulum_experiment import write_pendulum_experiment

from sysid_ros.choices import LOG_NAMES
from sysid_ros.cli import main
from sysid_ros.engine.least_squares.search_progress import Iteration
from sysid_ros.errors import ErrorCode, ExperimentError
from sysid_ros.results import read_results
from sysid_ros.run_logs.run_log import LOGS, Run, RunLogs, summary_of


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pendulum_experiment(tmp_path_factory.mktemp("pendulum"), duration=3.0)


def step(number: int) -> Iteration:
    names = ("mass", "inertia[3]")
    return Iteration(number, 10.0 / (1 + number), 0.5, names, np.array([1.0 + number, 2.0]), 0.1)


def recorded(folder: Path, *names: str) -> Run:
    """The run of which two steps and an outcome were recorded."""
    folder.mkdir(exist_ok=True)
    run = Run("a run", folder, folder.parent, {"loss": "linear"})
    logs = RunLogs(names, run)
    for number in range(2):
        logs.step(step(number))
    logs.end(synthetic())
    return run


def test_every_fit_leaves_a_csv_file_with_its_steps(experiment: Path, tmp_path: Path) -> None:
    arguments = ["fit", str(experiment), "--output", str(tmp_path), "--quiet"]
    assert main([*arguments, "--set", "fit.max_iterations=2"]) == ErrorCode.NOT_CONVERGED
    assert main([*arguments, "--resume"]) == ErrorCode.NONE
    folder = max(tmp_path.iterdir())
    with (folder / "progress.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    trace = read_results(folder).fit.trace
    assert [int(row["iteration"]) for row in rows] == [step.iteration for step in trace]
    assert [float(row["cost"]) for row in rows] == [step.cost for step in trace]
    assert float(rows[0]["pivot_damping"]) == 0.5
    assert [int(row["step"]) for row in rows] == list(range(len(trace)))


def test_a_summary_has_numbers_and_words_only() -> None:
    summary = summary_of(synthetic())
    assert summary["status"] == "CONVERGED"
    assert summary["final/elbow_damping"] == 0.0231
    assert "standard_error/shoulder_damping" not in summary
    assert all(isinstance(value, (str, float)) for value in summary.values())


def test_the_experiment_file_takes_the_logs_that_there_are(tmp_path: Path) -> None:
    assert tuple(LOGS) == LOG_NAMES
    with pytest.raises(ExperimentError, match="unknown log 'tensorbored'; nearest: 'tensorboard'"):
        recorded(tmp_path / "run", "tensorbored")


def test_a_log_that_fails_does_not_end_the_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing:
        def step(self, number: int, numbers: Mapping[str, float]) -> None:
            raise ConnectionError("the server went away")

        def end(self, summary: Mapping[str, float | str]) -> None:
            raise AssertionError("it was given up")

    monkeypatch.setattr("sysid_ros.run_logs.run_log.LOGS", {"failing": lambda run: Failing()})
    with caplog.at_level(logging.WARNING):
        recorded(tmp_path / "run", "failing")
    assert "the log failing is given up: the server went away" in caplog.text
    assert len((tmp_path / "run" / "progress.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("log", "module", "package"),
    [
        ("tensorboard", "tensorboardX", "tensorboardX"),
        ("wandb", "wandb", "wandb"),
        ("mlflow", "mlflow.entities", "mlflow"),
    ],
)
def test_a_package_that_is_absent_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str, module: str, package: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ExperimentError, match=rf"'{package}': pip install 'sysid_ros\[{log}\]'"):
        recorded(tmp_path / "run", log)


def test_unknown_logs_are_refused(experiment: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(experiment), "--log", "tensorbord"]) == ErrorCode.INVALID_EXPERIMENT
    assert "unknown logs[0] 'tensorbord'; nearest: 'tensorboard'" in capsys.readouterr().err


def test_tensorboard_reads_the_scalars(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX", reason="the extra sysid_ros[tensorboard] is absent")
    from tensorboardX.proto.event_pb2 import Event

    recorded(tmp_path / "run", "tensorboard")
    (file,) = (tmp_path / "run" / "tensorboard").iterdir()
    scalars: dict[str, list[float]] = {}
    content = file.read_bytes()
    while content:  # records: length, its checksum, an event, its checksum
        (length,) = struct.unpack("<Q", content[:8])
        event = Event.FromString(content[12 : 12 + length])
        content = content[16 + length :]
        for value in event.summary.value:
            scalars.setdefault(value.tag, []).append(value.simple_value)
    assert scalars["cost"] == [10.0, 5.0]
    assert scalars["parameters/mass"] == [1.0, 2.0]
    assert scalars["final/elbow_damping"] == pytest.approx([0.0231])


def test_wandb_records_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="the extra sysid_ros[wandb] is absent")
    monkeypatch.setenv("WANDB_MODE", "offline")
    recorded(tmp_path / "run", "wandb")
    (file,) = (tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")
    names = (b"parameters/inertia[3]", b"gradient_norm", b"final/elbow_damping", b"a run")
    deadline = time.monotonic() + PATIENCE  # another process writes it, in its own time
    while not all(name in file.read_bytes() for name in names):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_mlflow_keeps_the_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="the extra sysid_ros[mlflow] is absent")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    recorded(tmp_path / "run", "mlflow")
    client = mlflow.tracking.MlflowClient(f"sqlite:///{tmp_path / 'mlflow.db'}")
    (run,) = client.search_runs([client.get_experiment_by_name("a run").experiment_id])
    assert run.info.status == "FINISHED"
    assert run.data.params["loss"] == "linear"
    history = client.get_metric_history(run.info.run_id, "parameters/inertia.3.")
    assert [metric.value for metric in history] == [2.0, 2.0]
    assert run.data.metrics["final/elbow_damping"] == pytest.approx(0.0231)
    assert run.data.tags["status"] == "CONVERGED"
