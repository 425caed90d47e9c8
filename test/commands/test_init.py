# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``sysid_ros init`` writes a new file and never over another."""

from __future__ import annotations

from pathlib import Path

import pytest
import urdf_robot
from arm_recording import arm_model, simulate, write_bag

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode
from sysid_ros.experiment import load_experiment


def test_the_file_loads_and_is_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "arm.xml").write_text(arm_model(0, 1))
    write_bag(tmp_path / "bag", simulate(arm_model(0, 1), 0, duration=6.0))
    output = tmp_path / "experiment.yaml"
    arguments = ["init", "--model", str(tmp_path / "arm.xml"), "--bag", str(tmp_path / "bag")]
    arguments += ["--output", str(output)]
    assert main(arguments) == 0
    experiment = load_experiment(output)
    assert (experiment.model, experiment.sequences[0].bag) == ("arm.xml", "bag")
    before = output.read_text()
    assert main(arguments) == ErrorCode.OUTPUT_UNWRITABLE
    assert output.read_text() == before
    assert "never overwritten" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.xml", "bag", output.name]


def test_a_folder_that_cannot_be_written_is_told_before_the_work(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["init", "--model", "no.xml", "--bag", "no_bag", "--output", "/proc/new.yaml"]
    assert main(arguments) == ErrorCode.OUTPUT_UNWRITABLE
    said = capsys.readouterr().err
    assert "cannot write to /proc/new.yaml" in said and "loading" not in said


def test_a_recording_without_its_end_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "arm.xml").write_text(arm_model(0, 1))
    write_bag(tmp_path / "bag", simulate(arm_model(0, 1), 0, duration=6.0))
    (storage,) = (tmp_path / "bag").glob("*.mcap")
    storage.write_bytes(storage.read_bytes()[:-2000])
    arguments = ["init", "--model", str(tmp_path / "arm.xml"), "--bag", str(tmp_path / "bag")]
    assert main([*arguments, "--output", str(tmp_path / "my arm.yaml")]) == 0
    said = capsys.readouterr()
    assert f"bag: {storage.name} was cut off" in said.err
    assert said.out.endswith(f"then: sysid_ros fit '{tmp_path / 'my arm.yaml'}'\n")


def test_the_model_may_come_from_the_recording(tmp_path: Path) -> None:
    urdf_robot.write_bag(tmp_path / "bag", urdf_robot.urdf(damping=0.3), damping=0.12)
    package = urdf_robot.write_package(tmp_path / "src" / "swing_description")
    output = tmp_path / "experiment.yaml"
    arguments = ["init", "--robot-description", "--bag", str(tmp_path / "bag")]
    arguments += ["--package-path", str(package.parent), "--output", str(output)]
    assert main(arguments) == 0
    experiment = load_experiment(output)
    assert (experiment.model_topic, experiment.package_path) == ("/robot_description", ("src",))
    assert main(["fit", str(output), "--output", str(tmp_path / "results"), "--quiet"]) == 0
    (package / "swing.urdf").write_text(urdf_robot.urdf(damping=0.3))
    arguments[1:2] = ["--model", "package://swing_description/swing.urdf"]
    arguments[-1] = str(tmp_path / "second.yaml")
    assert main(arguments) == 0
    assert load_experiment(arguments[-1]).model == "src/swing_description/swing.urdf"
