# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits that search for their start: out of a local minimum, spread out, killed and resumed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE
from pendulum_experiment import SLOW, TRUE, write_pendulum_experiment

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode
from sysid_ros.results import read_results
from sysid_ros.results.state_file import SEARCH_FILE

ROOT = Path(__file__).resolve().parents[2]
# From here a fit alone ends at a bound, with an error a hundred times as large.
MISLEADING = """
windows: {length: whole}
initial_state: {estimate: false}
parameters:
  - joint: pivot
    armature: {initial: 0.1, max: 5}
    damping: {initial: 0.0, max: 5}
    stiffness: {initial: 20, max: 200}
fit: {landscapes: 0}
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = write_pendulum_experiment(tmp_path_factory.mktemp("pendulum"), duration=6.0)
    (file.parent / "slow_hook.py").write_text(SLOW)
    text = file.read_text()
    file.write_text(text[: text.index("windows:")] + MISLEADING)
    return file


def fitted(
    experiment: Path, output: Path, *arguments: str, end: ErrorCode = ErrorCode.NONE
) -> Path:
    """The result folder of one fit."""
    assert main(["fit", str(experiment), "--output", str(output), "--quiet", *arguments]) == end
    (folder,) = output.iterdir()
    return folder


def test_a_fit_alone_is_led_astray(experiment: Path, tmp_path: Path) -> None:
    result = read_results(fitted(experiment, tmp_path))
    assert result.training is not None
    assert result.training.rmse_all > 0.1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--search", "starts", "--trials", "24"),
        ("--search", "cma-es", "--trials", "60"),
        ("--search", "random", "--trials", "65", "--set", "fit.loss=absolute"),
        ("--search", "nsga2", "--trials", "51", "--set", "fit.search.costs=[angle, '*']"),
    ],
    ids=lambda arguments: arguments[1],
)
def test_a_search_finds_the_way(
    experiment: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    folder = fitted(experiment, tmp_path, *arguments)
    result = read_results(folder)
    for name, true in TRUE.items():
        assert result.fit[name].value == pytest.approx(true, rel=0.05)
    assert result.fit["pivot_stiffness"].value < 0.1
    # What is reported as initial is the experiment's, not what the search found.
    assert result.fit["pivot_stiffness"].initial == 20.0
    assert result.training is not None
    assert result.training.rmse_all_initial > 0.1
    trials = (folder / "trials.csv").read_text().splitlines()
    assert len(trials) == 1 + int(arguments[3])
    assert f"{arguments[1]}, {arguments[3]} trials, seed 0" in result.provenance["search"]
    assert not (folder / SEARCH_FILE).exists()


def test_workers_change_nothing(experiment: Path, tmp_path: Path) -> None:
    """Neither the candidates, which are simulated in parts, nor the fits from the best of them."""
    asked = ("--search=starts", "--trials=9", "--set=fit.search.starts=2")
    folders = [fitted(experiment, tmp_path / n, *asked, "--workers", n) for n in ("1", "2")]
    here, there = ((folder / "trials.csv").read_text() for folder in folders)
    assert here == there


def test_a_killed_search_goes_on_to_the_same_answer(experiment: Path, tmp_path: Path) -> None:
    arguments = ["--search=cma-es", "--trials=50", "--set=modifiers=slow_hook:add"]
    whole = fitted(experiment, tmp_path / "whole", *arguments)
    output = tmp_path / "killed"
    command = ["-m", "sysid_ros", "fit", str(experiment), "--output", str(output), *arguments]
    process = subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "SLOW": "0.02"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + PATIENCE
    while not any(_trials(file) > 15 for file in output.glob(f"*/{SEARCH_FILE}")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (left,) = output.iterdir()
    best = json.loads((left / "checkpoint.json").read_text())["steps"][-1]
    state = json.loads((left / SEARCH_FILE).read_text())
    assert best["cost"] == pytest.approx(np.min(np.array(state["costs"], dtype=float)))

    resumed = fitted(experiment, output, *arguments, "--resume")
    assert (resumed / "trials.csv").read_text() == (whole / "trials.csv").read_text()
    assert read_results(resumed).fit["pivot_armature"].value == pytest.approx(
        read_results(whole).fit["pivot_armature"].value, rel=1e-6
    )


def _trials(file: Path) -> int:
    try:
        return len(json.loads(file.read_text())["costs"])
    except (OSError, ValueError):
        return 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--search=nsga2"], "must name two groups of signals"),
        (["--search=nsga2", "--set=fit.search.costs=[angle, vel]"], "unknown signal 'vel'"),
        (["--search=cmaes"], "unknown fit.search.method 'cmaes'"),
        (["--trials=0"], "fit.search.trials must be at least 1"),
    ],
)
def test_searches_that_cannot_be(
    experiment: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    output = ["--output", str(tmp_path)]
    assert main(["fit", str(experiment), *output, *arguments]) == ErrorCode.INVALID_EXPERIMENT
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
