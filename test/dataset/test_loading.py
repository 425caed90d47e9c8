# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of an experiment as sequences of its models."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from pendulum_experiment import write_pendulum_experiment

from sysid_ros.dataset import load_dataset
from sysid_ros.dataset.loading import _sequence_configs
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import SequenceConfig, load_experiment


def test_a_wrong_name_is_told_before_any_bag_is_read(tmp_path: Path) -> None:
    file = write_pendulum_experiment(tmp_path, duration=1.0)
    file.write_text(file.read_text().replace("- joint: pivot", "- joint: pivto"))
    shutil.rmtree(tmp_path / "bags" / "first")

    with pytest.raises(ExperimentError, match=r"pivto.*pivot"):
        load_dataset(load_experiment(file), None)


def test_every_sequence_has_a_name_of_its_own():
    bags = (SequenceConfig("a", end=1.0), SequenceConfig("a", start=2.0), SequenceConfig("a_2"))
    validation = SimpleNamespace(condition=None, bags=())
    found = _sequence_configs(SimpleNamespace(sequences=bags, validation=validation))
    names = [name for name, _, _ in found]
    assert names[0] == "a" and names[2] == "a_2" and len(set(names)) == 3


def test_only_what_is_fitted_dates_a_result(tmp_path: Path) -> None:
    dataset = load_dataset(load_experiment(write_pendulum_experiment(tmp_path, duration=1.0)), None)
    assert {"first", "second"} < set(dataset.hashes)
    assert set(dataset.recorded) == {"first"}
