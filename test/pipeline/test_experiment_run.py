# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The whole line on recordings of real hardware, against the benchmarks of their folders."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import pytest

from sysid_ros.engine.least_squares.search_progress import FitStatus
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.pipeline.experiment_run import RunReport, run_experiment

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def double_pendulum(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> RunReport:
    return run_experiment(
        load_experiment(EXAMPLES / "double_pendulum" / "experiment.yaml"),
        data_dir=shared_data / "double_pendulum",
        output_dir=tmp_path_factory.mktemp("double_pendulum"),
    )


def test_double_pendulum_beats_the_published_parameters(double_pendulum: RunReport) -> None:
    validation = double_pendulum.outcome.validation
    assert validation is not None
    assert validation.windows == 98 + 98 + 58
    assert validation.rmse_all <= 0.0172
    assert validation.rmse_all_initial == pytest.approx(0.0262, abs=0.001)
    assert double_pendulum.outcome.fit.status is FitStatus.CONVERGED
    assert double_pendulum.outcome.verdict.startswith("Improved")


def test_every_topic_is_accounted_for(double_pendulum: RunReport) -> None:
    quality = double_pendulum.outcome.quality
    assert len(quality) == 9
    assert all(row.messages == row.promised and row.clock == "header" for row in quality)


def test_measured_torque_is_warned_about(double_pendulum: RunReport) -> None:
    assert any("measured effort" in warning for warning in double_pendulum.outcome.warnings)


def test_the_result_folder_stands_alone(double_pendulum: RunReport) -> None:
    assert double_pendulum.files.model is not None
    model = mujoco.MjModel.from_xml_path(str(double_pendulum.files.model))
    fitted = double_pendulum.outcome.fit
    assert model.joint("elbow").armature[0] == fitted["elbow_armature"].value
    assert model.body("link2").ipos[2] == fitted["link2_com_z"].value
    stored = json.loads((double_pendulum.files.folder / "result.json").read_text(encoding="utf-8"))
    assert stored["validation"]["rmse_all"] == fitted_score(double_pendulum)
    assert set(stored["parameters"]) == {p.name for p in fitted.parameters}


def fitted_score(report: RunReport) -> float:
    assert report.outcome.validation is not None
    return report.outcome.validation.rmse_all


def test_hold_out_in_time_keeps_the_sets_apart(shared_data: Path, tmp_path: Path) -> None:
    experiment = with_overrides(
        load_experiment(EXAMPLES / "double_pendulum" / "experiment.yaml"),
        ["sequences=[bags/trajectory_00]", "validation={fraction: 0.3}", "fit.max_iterations=1"],
    )
    report = run_experiment(
        experiment, data_dir=shared_data / "double_pendulum", output_dir=tmp_path
    )
    training, held_out = report.outcome.sequences
    assert (training.role, held_out.role) == ("training", "validation")
    last_fitted = max(signal.times.max() for signal in training.signals)
    first_held_out = min(signal.times.min() for signal in held_out.signals)
    assert first_held_out - last_fitted > 0.4
    assert held_out.window_starts.min() == pytest.approx(7.0, abs=0.05)


@pytest.mark.slow
def test_servo_reaches_its_benchmark(shared_data: Path, tmp_path: Path) -> None:
    report = run_experiment(
        load_experiment(EXAMPLES / "servo" / "experiment.yaml"),
        data_dir=shared_data / "servo",
        output_dir=tmp_path,
    )
    assert fitted_score(report) <= 0.10
