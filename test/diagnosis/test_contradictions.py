# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A check says what the recordings contradict, and what of them is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from arm_recording import arm_model, simulate, write_experiment

from sysid_ros.dataset import FitInputs
from sysid_ros.diagnosis import FindingKind, check_dataset, check_experiment
from sysid_ros.experiment import load_experiment


@pytest.fixture
def experiment_file(tmp_path: Path) -> Path:
    xml = arm_model(5, 2)
    return write_experiment(tmp_path, xml, simulate(xml, 1, duration=4.0), velocities=True)


def test_two_nodes_on_one_topic_are_a_mistake(experiment_file: Path) -> None:
    inputs = FitInputs.read(load_experiment(experiment_file), None)
    dataset = inputs.dataset
    assert check_dataset(inputs.experiment, dataset) == ()
    joints, torques = dataset.quality
    shared = replace(dataset, quality=(replace(joints, interleaved=joints.messages), torques))
    (found,) = check_dataset(inputs.experiment, shared)
    assert found.kind is FindingKind.CONTRADICTION
    assert found.sentence.startswith(f"Two nodes seem to publish {joints.topic} in turn")


def test_a_recording_that_was_cut_off_is_noted(experiment_file: Path) -> None:
    (file,) = (experiment_file.parent / "bag").glob("*.mcap")
    whole = file.read_bytes()
    notes: list[str] = []
    check_experiment(load_experiment(experiment_file), None, on_note=notes.append)
    assert not any("cut off" in note or "promised" in note for note in notes)
    file.write_bytes(whole[: len(whole) * 2 // 3])
    check_experiment(load_experiment(experiment_file), None, on_note=notes.append)
    assert any("was cut off" in note for note in notes)
    assert any("was promised" in note for note in notes)
