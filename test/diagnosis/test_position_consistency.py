# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions and commands that are all in degrees or millimetres, by the ranges of their joints."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import check_experiment
from sysid_ros.diagnosis.checks import check_dataset
from sysid_ros.diagnosis.evidence import Finding, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.position_consistency import other_units
from sysid_ros.experiment import parse_experiment
from sysid_ros.rehearsal import JointStates, Motion, Reading, RecordingPlan, generate

# A head that pans without end, tilts in a range, and an arm that it puts out.
HEAD = """<mujoco><compiler angle="radian"/><option timestep="0.002"/><worldbody><body>
  <joint name="pan" axis="0 0 1" damping="0.4"/><geom type="box" size=".1 .1 .05" mass="2"/>
  <body><joint name="tilt" axis="0 1 0" range="-0.8 0.9" damping="0.2"/>
  <geom type="box" size=".1 .1 .05" mass="1" pos=".05 0 0" contype="0"/>
  <body><joint name="arm" type="slide" axis="1 0 0" range="0 0.3" damping="8"/>
  <geom type="sphere" size=".05" mass="0.5" contype="0"/></body></body></body></worldbody>
  <actuator><position name="panning" joint="pan" kp="60" kv="2"/>
  <position name="tilting" joint="tilt" kp="60" kv="2"/>
  <position name="reaching" joint="arm" kp="2000" kv="60"/></actuator></mujoco>"""
INPUTS = ("panning", "tilting", "reaching")
DEGREES = 57.29577951308232  # per radian


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("head")
    (made / "robot.xml").write_text(HEAD)
    encoders = JointStates(position=Reading(noise=5e-5), velocity=Reading(noise=2e-3))
    plan = RecordingPlan(
        duration=6.0, motion=Motion(reach=0.6), settle=0.0, sensors=(encoders,)
    )  # fmt: skip
    generate(mujoco.MjSpec.from_string(HEAD), plan, made / "bag")
    return made


def found(
    folder: Path,
    measured: dict[str, float],
    told: dict[str, float],
    speeds: dict[str, float] | None = None,
) -> list[Finding]:
    """The findings in a recording of which some signals are multiplied by factors."""
    text = experiment_text(measured, told, speeds)
    experiment = parse_experiment(text, path=folder / "experiment.yaml")
    return list(check_dataset(experiment, load_dataset(experiment, None)))


def experiment_text(
    measured: dict[str, float], told: dict[str, float], speeds: dict[str, float] | None = None
) -> str:
    text = "model: robot.xml\nsequences: [bag]\nparameters: []\nsignals:\n"
    for joint in ("pan", "tilt", "arm"):
        scale = measured.get(joint, 1.0)
        text += f'  - {{qpos: {joint}, topic: /joint_states, field: "position[{joint}]", '
        text += f"scale: {scale}}}\n"
    for joint, scale in (speeds or {}).items():
        text += f'  - {{qvel: {joint}, topic: /joint_states, field: "velocity[{joint}]", '
        text += f"scale: {scale}}}\n"
    for place, name in enumerate(INPUTS):
        text += f"  - {{actuator: {name}, topic: /position_controller/commands, "
        text += f'field: "data[{place}]", scale: {told.get(name, 1.0)}}}\n'
    return text


def test_what_fits_its_range_is_in_no_other_unit(folder: Path) -> None:
    assert found(folder, {}, {}) == []


def test_degrees_of_positions_and_commands_alike_are_one_finding(folder: Path) -> None:
    [finding] = found(
        folder, {"pan": DEGREES, "tilt": DEGREES}, {"panning": DEGREES, "tilting": DEGREES}
    )
    assert finding.kind is FindingKind.DEGREES
    assert set(finding.signals) == {"pan_qpos", "tilt_qpos", "panning", "tilting"}
    assert "the model's range 1.7; degrees fit into it" in finding.sentence
    assert "'pan_qpos', 'panning' may be otherwise: no range tells" in finding.sentence


@pytest.mark.parametrize("unit", ["rev", None])
def test_what_is_known_to_be_in_turns_is_in_no_degrees(folder: Path, unit: str | None) -> None:
    """A motor's turns behind a gear of 57.3 are as far out of a range as degrees are."""
    factor = DEGREES / (2.0 * math.pi if unit else 1.0)
    tree = yaml.safe_load(experiment_text({"tilt": factor}, {"tilting": factor}))
    for entry in (tree["signals"][1], tree["signals"][4]):
        entry |= {"unit": unit} if unit else {}
    experiment = parse_experiment(yaml.safe_dump(tree), path=folder / "experiment.yaml")
    [finding] = check_dataset(experiment, load_dataset(experiment, None))
    assert finding.kind is (FindingKind.RANGE if unit else FindingKind.DEGREES)
    assert {"tilt_qpos"} <= {*finding.signals}


def test_millimetres_of_a_slide_beside_radians(folder: Path) -> None:
    [finding] = found(folder, {"arm": 1000.0}, {"reaching": 1000.0})
    assert finding.kind is FindingKind.MILLIMETRES
    assert set(finding.signals) == {"arm_qpos", "reaching"}
    assert "in millimetres" in finding.claim


def test_millimetres_beside_metres_per_second_are_the_positions_alone(folder: Path) -> None:
    kind = FindingKind.MILLIMETRES
    [finding] = found(folder, {"arm": 1000.0}, {}, {"arm": 1.0})
    assert (finding.kind, finding.signals) == (kind, ("arm_qpos",))
    [finding] = found(folder, {}, {}, {"arm": 1000.0})
    assert (finding.kind, finding.signals) == (kind, ("arm_qvel",))
    both = found(folder, {"arm": 1000.0}, {"reaching": 1000.0}, {"arm": 1.0})
    assert [(one.kind, one.signals) for one in both] == [
        (kind, ("arm_qpos",)),
        (kind, ("reaching",)),
    ]


def test_commands_alone_are_in_millimetres(folder: Path) -> None:
    [finding] = found(folder, {}, {"reaching": 1000.0})
    assert (finding.kind, finding.signals) == (FindingKind.MILLIMETRES, ("reaching",))


def test_no_ways_between_commands_are_compared_in_a_wrong_unit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[bool] = []
    monkeypatch.setattr(
        "sysid_ros.diagnosis.experiment_check.command_samplings",
        lambda *_: compared.append(True) or (),
    )
    for scale in (1000.0, 100.0):
        text = experiment_text({"arm": scale}, {"reaching": scale})
        check_experiment(parse_experiment(text, path=folder / "experiment.yaml"), None)
    assert not compared


def test_a_topic_one_of_whose_ranges_is_too_narrow_for_degrees_is_in_another_unit(
    folder: Path,
) -> None:
    limited = HEAD.replace('name="pan"', 'name="pan" range="-1.5 1.5"')
    counts = {"pan": 600.0, "tilt": 60.0}  # the latter would fit as degrees
    (folder / "limited.xml").write_text(limited)
    asked = {"panning": 600.0, "tilting": 60.0}
    text = experiment_text(counts, asked).replace("robot.xml", "limited.xml")
    experiment = parse_experiment(text, path=folder / "experiment.yaml")
    found_there = check_dataset(experiment, load_dataset(experiment, None))
    assert FindingKind.DEGREES not in [one.kind for one in found_there]
    [finding] = [one for one in found_there if one.signals == ("pan_qpos",)]
    assert finding.kind is FindingKind.RANGE
    assert "give the unit or scale, " in finding.sentence


def test_centimetres_are_left_as_a_range(folder: Path) -> None:
    [finding] = [
        one
        for one in found(folder, {"arm": 100.0}, {"reaching": 100.0})
        if one.signals[0] == "arm_qpos"
    ]
    assert finding.kind is FindingKind.RANGE


@pytest.mark.parametrize(
    ("positions", "speeds", "unit"),
    [
        ({}, {"pan": 60.0 / (2.0 * math.pi)}, "rpm"),
        ({"pan": 1.0 / (2.0 * math.pi)}, {"pan": 1.0}, "rev"),
        ({}, {"pan": 10.0}, ""),  # a motor's, in front of a gear
        ({}, {"pan": 6.0}, ""),
        ({}, {"arm": 60.0 / (2.0 * math.pi)}, ""),  # a slide makes no turns
    ],
)
def test_turns_are_named_and_gears_are_none(
    folder: Path, positions: dict[str, float], speeds: dict[str, float], unit: str
) -> None:
    first = found(folder, positions, {}, speeds)[0]
    joint = next(iter(speeds))
    if unit:
        label = f"{joint}_qvel" if unit == "rpm" else f"{joint}_qpos"
        assert (first.kind, first.signals) == (FindingKind.UNIT, (label,))
        assert f"'{label}' is in {unit}; the model uses rad" in first.sentence
    else:
        assert first.kind is FindingKind.SCALE


def test_a_joint_that_turns_on_beyond_its_range_is_in_radians_as_torques_tell() -> None:
    """Drawings give a range of one turn to what has no stop; a pendulum goes round and round."""
    drawn = """<mujoco><compiler angle="radian"/><worldbody><body>
      <joint name="swing" axis="0 1 0" range="-3.1416 3.1416" limited="LIMITED" damping="0.4"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass="0.7"/></body></worldbody>
      <actuator><motor name="push" joint="swing"/></actuator></mujoco>"""
    free = mujoco.MjModel.from_xml_string(drawn.replace("LIMITED", "false"))
    model = mujoco.MjModel.from_xml_string(drawn.replace("LIMITED", "true"))

    def told(torque: float, scale: float) -> list[FindingKind]:
        data, rows = mujoco.MjData(free), []
        for _ in range(6000):
            data.ctrl[0] = torque * math.sin(0.4 * data.time) + 0.5 * math.sin(7.0 * data.time)
            mujoco.mj_step(free, data)
            rows.append((data.time, scale * data.qpos[0], data.ctrl[0]))
        times, places, torques = np.array(rows).T
        assert np.ptp(places) > 4.0 * math.pi
        signals = {"q": Samples(times, places), "push": Samples(times, torques)}
        seen = Recorded(model, (signals,), ({},), {0: "q"}, {}, {0: "push"}, {})
        return [change.kind for change, _ in other_units(seen, {}, {})]

    assert told(2.5, 1.0) == []
    assert told(1.2, DEGREES) == [FindingKind.DEGREES]
