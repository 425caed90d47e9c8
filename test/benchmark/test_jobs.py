# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The benchmark of whole commands: what it runs, counts and leaves out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mujoco
import pytest
from arm_recording import arm_model, simulate, write_experiment

from benchmark import jobs


def test_robots_without_data_are_left_out_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(jobs, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(sys, "argv", ["jobs", "--data", str(tmp_path)])
    assert jobs.main() == 0
    said = capsys.readouterr().out
    for name in ("double pendulum", "servo", "quadruped", "arm of 7 joints"):
        assert f"left out: {name}, because " in said
    assert json.loads((tmp_path / "results" / "jobs.json").read_text())["jobs"] == []


def test_a_process_is_counted_from_its_start_to_its_exit() -> None:
    cost = jobs.measured(["--version"])
    assert cost.status == 0
    assert cost.cpu > 0.0
    assert cost.wall > 0.0
    assert 5.0 < cost.memory < 600.0


def test_the_limit_is_one_reading_and_one_pass_over_all_windows(tmp_path: Path) -> None:
    xml = arm_model(1, 2)
    recording = simulate(xml, 1, duration=2.0)
    experiment = write_experiment(tmp_path / "arm", xml, recording)
    limit = jobs.limit_of(experiment, tmp_path / "arm")
    timestep = mujoco.MjModel.from_xml_string(xml).opt.timestep
    assert limit.steps == pytest.approx(2.0 / timestep, rel=0.1)
    assert limit.reading > 0.0
    assert limit.evaluation > 0.0
