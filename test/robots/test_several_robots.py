# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Several identical robots in one fit: what they share, and what is each one's own."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import pytest
from pendulum_experiment import EXPERIMENT, MODEL, write_pendulum_bag

from sysid_ros.cli import main
from sysid_ros.errors import ErrorCode, ExperimentError
from sysid_ros.experiment import parse_experiment
from sysid_ros.robots.several_robots import check_robot, with_namespace

DAMPING = {"left": 0.15, "right": 0.4}
ARMATURE = 0.02


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pendulums that differ in damping; the right one records under its own name."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "bags").mkdir()
    (folder / "pendulum.xml").write_text(MODEL.format(armature=0.1, damping=0.3))
    for seed, (robot, damping) in enumerate(DAMPING.items()):
        for part in ("a", "b"):
            write_pendulum_bag(
                folder / "bags" / f"{robot}_{part}",
                duration=3.0,
                seed=2 * seed + (part == "b"),
                true={"pivot_armature": ARMATURE, "pivot_damping": damping},
                namespace="/right" if robot == "right" else "",
            )
    text = EXPERIMENT.replace("damping: {max: 1.0}", "damping: {max: 1.0, per_robot: true}")
    recordings = [f"{{bag: bags/{robot}_a, robot: {robot}}}" for robot in DAMPING]
    held_out = [f"{{bag: bags/{robot}_b, robot: {robot}}}" for robot in DAMPING]
    text = text.replace("[bags/first]", f"[{', '.join(recordings)}]")
    text = text.replace("[bags/second]", f"[{', '.join(held_out)}]")
    (folder / "experiment.yaml").write_text(text)
    return folder / "experiment.yaml"


def test_shared_and_own_parameters_are_found(experiment: Path, tmp_path: Path) -> None:
    assert main(["fit", str(experiment), "--output", str(tmp_path), "--quiet"]) == ErrorCode.NONE
    (folder,) = tmp_path.iterdir()
    document = json.loads((folder / "result.json").read_text())
    found = document["parameters"]
    assert list(found) == ["pivot_armature", "left/pivot_damping", "right/pivot_damping"]
    assert found["pivot_armature"]["value"] == pytest.approx(ARMATURE, rel=0.02)
    for robot, damping in DAMPING.items():
        assert found[f"{robot}/pivot_damping"]["value"] == pytest.approx(damping, rel=0.01)
        model = mujoco.MjModel.from_xml_path(str(folder / robot / "model.xml"))
        assert model.dof_damping[0] == pytest.approx(damping, rel=0.01)
        assert model.dof_armature[0] == pytest.approx(ARMATURE, rel=0.02)
    assert document["derivatives"]["right/pivot_damping"] == "exact"
    assert document["validation"]["rmse_all"] < 0.05 * document["validation"]["rmse_all_initial"]

    found_again = ["evaluate", str(experiment), "--parameters", str(folder)]
    assert main(found_again) == ErrorCode.NONE


def test_a_recording_of_nobody_is_refused(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = "sequences=[{bag: bags/left_a, robot: left}, bags/left_b]"
    arguments = ["fit", str(experiment), "--set", setting, "--set", "validation={}"]
    assert main([*arguments, "--output", str(tmp_path)]) == ErrorCode.INVALID_EXPERIMENT
    assert "per_robot needs a robot for every recording; 'left_b'" in capsys.readouterr().err
    setting = "sequences=[{bag: bags/left_a, robot: ../left}]"
    assert main(["fit", str(experiment), "--set", setting]) == ErrorCode.INVALID_EXPERIMENT
    assert "a name takes letters, digits, _ and -" in capsys.readouterr().err


def test_robots_may_share_a_bag() -> None:
    text = EXPERIMENT.replace(
        "[bags/first]", "[{bag: bags/a, robot: left}, {bag: bags/a, robot: right}]"
    )
    assert [s.robot for s in parse_experiment(text).sequences] == ["left", "right"]


def test_what_a_robot_records_under_its_name_is_exported(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = experiment.read_text()
    twice = text.replace("robot: right}", "robot: right}, {bag: bags/right_a, robot: third}", 1)
    both = experiment.with_name("both.yaml")
    both.write_text(twice)
    command = [
        "export",
        str(experiment),
        "--bag",
        "bags/right_a",
        "--output",
        str(tmp_path / "r.csv"),
    ]
    assert main(command) == ErrorCode.NONE
    assert len((tmp_path / "r.csv").read_text().splitlines()) > 100
    assert main([*command[:1], str(both), *command[2:]]) == ErrorCode.DATA_UNUSABLE
    assert "choose --robot right or third" in capsys.readouterr().err
    assert main([*command[:1], str(both), *command[2:], "--robot", "right"]) == ErrorCode.NONE


@pytest.mark.parametrize("command", ["export", "live"])
def test_a_robot_that_nobody_knows_is_refused(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    options = ["--bag", "bags/right_a", "--output", str(tmp_path / "r.csv"), "--robot", "nope"]
    assert main([command, str(experiment), *options]) == ErrorCode.INVALID_EXPERIMENT
    assert "unknown robot 'nope'; valid: 'left', 'right'" in capsys.readouterr().err


def test_topics_under_the_robots_name_come_first() -> None:
    experiment = parse_experiment(EXPERIMENT + "enabled_when: {topic: powered, field: data}\n")
    topics = ["/joint_states", "/left/joint_states", "/torque", "/left/powered"]
    own = with_namespace(experiment, "left", topics)
    assert [signal.topic for signal in own.signals] == ["/torque", "/left/joint_states"]
    assert own.enabled_when[0].topic == "/left/powered"
    assert with_namespace(experiment, None, topics) is experiment


def test_a_robot_is_known_by_the_topics_under_its_name() -> None:
    experiment = parse_experiment(EXPERIMENT)
    check_robot(experiment, "third", ["/third/joint_states"])
    with pytest.raises(ExperimentError, match="valid: 'third'"):
        check_robot(experiment, "fourth", ["/third/joint_states", "/joint_states", "/x/other"])
