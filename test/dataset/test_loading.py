# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of an experiment as sequences of its models."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pendulum_experiment import write_pendulum_experiment

from sysid_ros.dataset import load_dataset
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import load_experiment


def test_a_wrong_name_is_told_before_any_bag_is_read(tmp_path: Path) -> None:
    file = write_pendulum_experiment(tmp_path, duration=1.0)
    file.write_text(file.read_text().replace("- joint: pivot", "- joint: pivto"))
    shutil.rmtree(tmp_path / "bags" / "first")

    with pytest.raises(ExperimentError, match=r"pivto.*pivot"):
        load_dataset(load_experiment(file), None)
