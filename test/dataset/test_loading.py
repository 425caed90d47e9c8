# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings of an experiment as sequences of its models."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from pendulum_experiment import write_pendulum_experiment
from torque_arm import JOINTS, experiment_text, write_torque_bag

from sysid_ros.dataset import kept_recordings, load_dataset, loading, mapped_recordings, reading_of
from sysid_ros.dataset.loading import _sequence_configs
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import SequenceConfig, load_experiment
from sysid_ros.recording.bags import open_recording


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


def test_fits_of_the_same_signals_read_a_recording_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def opening(path: Path, **options: object) -> object:
        opened.append(path.name)
        return open_recording(path, **options)

    monkeypatch.setattr(loading, "open_recording", opening)
    experiment = load_experiment(write_pendulum_experiment(tmp_path, duration=1.0))
    first = load_dataset(experiment, None, reading="these")
    again = load_dataset(experiment, None, reading="these")
    assert sorted(opened) == ["first", "second"]
    assert again.hashes == first.hashes and again.quality == first.quality
    load_dataset(experiment, None, reading="others")  # whose signals may be mapped otherwise
    load_dataset(experiment, None)
    assert len(opened) == 6
    (model,) = load_dataset(experiment, None, reading=reading_of(experiment)).training
    fewer = replace(experiment, parameters=())  # is mapped alike
    found = mapped_recordings(fewer, model.sequence_name, None, model.spec)
    assert (list(found), len(opened)) == (model.sequence_name, 8)
    gaps = replace(experiment, fit=replace(experiment.fit, max_gap=1.0))
    mapped_recordings(gaps, model.sequence_name, None, model.spec)
    assert len(opened) == 9
    file = next(one for one in tmp_path.rglob("*.mcap") if "first" in one.parts[-2])
    file.write_bytes(file.read_bytes())  # somebody recorded it anew
    mapped_recordings(gaps, model.sequence_name, None, model.spec)
    assert len(opened) == 10
    monkeypatch.setattr(kept_recordings, "KEPT_BYTES", 0)
    for _ in range(2):  # without room
        load_dataset(experiment, None, reading="large ones")
    assert len(opened) == 14


def test_what_cannot_be_looked_at_in_a_bag_is_no_reason_to_refuse_it(tmp_path: Path) -> None:
    experiment = load_experiment(write_pendulum_experiment(tmp_path, duration=1.0))
    hashes = load_dataset(experiment, None).hashes
    (bag,) = {file.parent for file in tmp_path.rglob("*.mcap") if "first" in file.parts[-2]}
    (bag / "notes.txt").symlink_to(tmp_path / "gone.txt")
    assert load_dataset(experiment, None).hashes == hashes


def test_an_actuator_without_power_needs_no_signal(tmp_path: Path) -> None:
    file = write_pendulum_experiment(tmp_path, duration=1.0)
    text = file.read_text()
    driven = next(line for line in text.splitlines() if "actuator: " in line)
    file.write_text(text.replace(driven + "\n", ""))
    assert load_dataset(load_experiment(file), None).undriven == ("motor",)
    frozen = "parameters:\n  - {actuator: motor, gain: {initial: 0.0, frozen: true}}"
    file.write_text(file.read_text().replace("parameters:", frozen))
    assert load_dataset(load_experiment(file), None).undriven == ()


LIMITED = '<motor name="motor" joint="pivot" ctrlrange="-1 1" forcerange="-2 2"/>'


def test_limits_are_those_of_commands_and_not_of_measured_torque(tmp_path: Path) -> None:
    """What a drive has given is no less because a description promises less."""
    joints = "".join(
        f'<body name="of_{name}"><joint name="{name}" actuatorfrcrange="-1 1"/><geom size="0.1"/>'
        for name in JOINTS
    )
    bodies = joints + "</body>" * len(JOINTS)
    (tmp_path / "arm.xml").write_text(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    (tmp_path / "experiment.yaml").write_text(
        experiment_text(fit="{}").replace("frictionloss: ", "")
    )
    measured = np.sin(np.arange(600.0)).reshape(200, len(JOINTS))
    write_torque_bag(tmp_path / "bag", 0.01 * np.arange(200), measured, 5.0 * measured)
    (arm,) = load_dataset(load_experiment(tmp_path / "experiment.yaml"), None).training
    data = mujoco.MjData(arm.gt_model)
    data.ctrl[:] = 5.0
    mujoco.mj_forward(arm.gt_model, data)
    assert data.qfrc_actuator.tolist() == [5.0, 5.0, 5.0]

    file = write_pendulum_experiment(tmp_path / "commanded", duration=1.0)
    model = tmp_path / "commanded" / "pendulum.xml"
    model.write_text(model.read_text().replace('<motor name="motor" joint="pivot"/>', LIMITED))
    (pendulum,) = load_dataset(load_experiment(file), None).training
    assert pendulum.gt_model.actuator_ctrllimited[0] and pendulum.gt_model.actuator_forcelimited[0]
