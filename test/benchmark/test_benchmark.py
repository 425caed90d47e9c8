# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The benchmark runs and says what it must; how fast anything is, is not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(find_spec("absl") is None, reason="mujoco[sysid] is not installed")
def test_one_problem_is_compared_and_written() -> None:
    arguments = ("--quick", "--problem", "arm", "--name", "test")
    ended = subprocess.run(
        [sys.executable, "-m", "benchmark", *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    file = ROOT / "benchmark" / "results" / "test.json"
    try:
        found = json.loads(file.read_text())["problems"]["arm"]
    finally:
        file.unlink(missing_ok=True)
    assert {"cpu_ratio", "wall_ratio", "memory_ratio", "runs"} <= found.keys()
    assert [run["library"] for run in found["runs"]] == ["sysid_ros.sysid", "mujoco.sysid"]
    assert found["cost_excess"]["sysid_ros.sysid"] < 1e-4


def test_the_panda_needs_its_file() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmark.one_run", "sysid_ros.sysid", "panda21"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode != 0
    assert "--panda PATH" in ended.stderr
