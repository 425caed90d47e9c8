# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints and commands beyond the ranges that the model has, by stops that were never there."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml
from robot_matrix import own_robots

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import joints_beyond_ranges, mistaken_values
from sysid_ros.diagnosis.checked_state import CheckedState
from sysid_ros.diagnosis.evidence import Finding, FindingKind, Recorded, Samples
from sysid_ros.diagnosis.range_violations import (
    beyond_ranges,
    clipped_commands,
    in_percent,
    in_pulses,
    turns_away,
)
from sysid_ros.experiment import parse_experiment
from sysid_ros.judgement.outcome import Judgement
from sysid_ros.pipeline import run_experiment
from sysid_ros.rehearsal import JointStates, Motion, Reading, RecordingPlan, generate

# A finger whose tip a mimic turns, as drawings have them.
FINGER = """<mujoco><compiler angle="radian"/><option timestep="0.002"/><worldbody><body>
  <joint name="knuckle" axis="0 1 0" {knuckle} damping="0.05" armature="0.002"/>
  <geom type="capsule" fromto="0 0 0 .05 0 0" size=".01" mass=".1" contype="0"/>
  <body pos=".05 0 0"><joint name="tip" axis="0 1 0" {tip} damping="0.01"/>
  <geom type="capsule" fromto="0 0 0 .03 0 0" size=".01" mass=".03" contype="0"/></body></body>
  </worldbody><equality><joint joint1="tip" joint2="knuckle" polycoef="0 -0.6 0 0 0"/></equality>
  <actuator><position name="servo" joint="knuckle" kp="8" kv=".2" {servo}/></actuator></mujoco>"""
# Its motor takes a share of its most, in newton metres.
ARM = """<mujoco><option timestep="0.002"/><worldbody><body>
  <joint name="shoulder" axis="0 1 0" damping="2" armature=".05"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".04" mass="60" contype="0"/></body></worldbody>
  <actuator><motor name="drive" joint="shoulder" gear="{most}" ctrlrange="-{own} {own}"/></actuator>
</mujoco>"""
COUNT = 2.0**-12  # rad
REACH = 0.8  # of what the knuckle may turn by


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of the knuckle without any stops."""
    made: Path = tmp_path_factory.mktemp("finger")
    encoder = JointStates(position=Reading(noise=5e-5, quantum=COUNT), joints=("knuckle",))
    spec = mujoco.MjSpec.from_string(FINGER.format(knuckle="", tip="", servo=""))
    generate(
        spec,
        RecordingPlan(duration=6.0, motion=Motion(reach=REACH), settle=0.0, sensors=(encoder,)),
        made / "bag",
    )
    return made


def text_of(folder: Path, knuckle: str = "", tip: str = "", servo: str = "") -> str:
    """An experiment with a model of some ranges."""
    model = FINGER.format(knuckle=knuckle, tip=tip, servo=servo)
    (folder / "robot.xml").write_text(model)
    own = {"topic": "/joint_states", "field": "position[knuckle]"}
    told = {"topic": "/position_controller/commands", "field": "data[0]"}
    signals = [{"qpos": "knuckle", **own}, {"actuator": "servo", **told}]
    parameters = [{"joint": "knuckle", "damping": None}]
    return yaml.safe_dump(
        {"model": "robot.xml", "sequences": ["bag"], "signals": signals, "parameters": parameters}
    )


def state_of(folder: Path, text: str) -> CheckedState:
    experiment = parse_experiment(text, path=folder / "experiment.yaml")
    return CheckedState.of(experiment, load_dataset(experiment, None))


@pytest.mark.parametrize(
    ("ranges", "told"),
    [
        ({"knuckle": 'range="-0.4 1.6"'}, []),
        ({"knuckle": 'range="0 1.6"'}, ["knuckle_qpos"]),
        ({"knuckle": 'range="0 1.6" limited="false"'}, []),
        ({"tip": 'range="-0.4 0.2"'}, []),
        ({"tip": 'range="0 1.2"'}, ["tip"]),  # which half of the motion turns the other way
    ],
)
def test_joints_that_left_their_ranges_are_told(
    folder: Path, ranges: dict[str, str], told: list[str]
) -> None:
    state = state_of(folder, text_of(folder, **ranges))
    found: list[Finding] = beyond_ranges(state.recorded)
    assert [label for one in found for label in one.signals] == told
    for one in found:
        assert one.evidence["lowest"] < float(one.sentence.partition("range of ")[2].split()[0])
        assert ("what ties it" in one.sentence) == (told == ["tip"])


@pytest.mark.parametrize(
    ("scale", "offset", "advice"),
    [
        (1.0, 5.0, "or give the offset of its encoder."),
        (-1.0, -2.0, "or give its sign (scale: -1) or the offset of its encoder."),
        (
            1.0 / COUNT,
            2048.0,
            "its encoder's counts (0.001534 where 4096 are a turn) and its offset.",
        ),
        (
            1000.0,
            0.0,
            "give the unit or scale, which of a motor behind a gear is 1 over its ratio.",
        ),
    ],
)
def test_what_no_offset_puts_into_a_range_is_in_another_unit(
    folder: Path, scale: float, offset: float, advice: str
) -> None:
    tree = yaml.safe_load(text_of(folder, knuckle='range="0.6 3.4"'))
    tree["signals"][0] |= {"scale": scale, "offset": offset}
    [finding] = beyond_ranges(state_of(folder, yaml.safe_dump(tree)).recorded)
    assert finding.sentence.endswith(advice)


def test_the_verdict_tells_a_range_that_was_left(folder: Path) -> None:
    text = text_of(folder, knuckle='range="0.1 1.6"')
    experiment = parse_experiment(text, path=folder / "experiment.yaml")
    outcome = run_experiment(experiment, output_dir=folder / "results").outcome
    assert outcome.judgement is Judgement.SUSPECT_DATA
    assert "beyond the model's range of 0.1 to 1.6 rad" in outcome.verdict


@pytest.mark.parametrize(
    ("limits", "turned", "told"),
    [
        ("-1.6 1.6", ["servo", "knuckle_qpos"], True),  # as 0 to 360 degrees in both
        ("-1.6 1.6", ["knuckle_qpos"], True),
        ("-1.6 1.6", [], False),
        ("0.3 1.6", ["servo", "knuckle_qpos"], False),  # nor do turns put it into the range
    ],
)
def test_angles_that_are_whole_turns_away_are_told(
    folder: Path, limits: str, turned: list[str], told: bool
) -> None:
    tree = yaml.safe_load(text_of(folder, knuckle=f'range="{limits}"'))
    for line, label in zip(tree["signals"], ("knuckle_qpos", "servo"), strict=True):
        if label in turned:
            line["offset"] = 2.0 * math.pi
    experiment = parse_experiment(yaml.safe_dump(tree), path=folder / "experiment.yaml")
    found = mistaken_values(experiment, load_dataset(experiment, None))
    assert [one.kind for one in found if one.kind is FindingKind.UNIT] == [FindingKind.UNIT] * told
    if told:
        assert sorted(found[0].signals) == sorted(turned)
        assert "offset" not in found[0].repair and "whole turns" in found[0].sentence


@pytest.mark.parametrize(
    ("offsets", "told"),
    [
        ((math.pi, math.pi), True),  # as servos of 0 to 360 degrees with their middle as zero
        ((math.pi, -math.pi), False),
        ((math.pi, 0.0), False),
        ((2.6, 2.6), False),  # within no range with half a turn less
    ],
)
def test_angles_that_are_all_half_a_turn_away_are_told(
    tmp_path: Path, offsets: tuple[float, float], told: bool
) -> None:
    link = '<geom type="capsule" fromto="0 0 0 .1 0 0" size=".01" mass=".1" contype="0"/>'
    names = ("first", "second")
    joints = [
        f'<body pos=".1 0 0"><joint name="{n}" axis="0 0 1" range="-.6 .6" damping=".1"/>{link}'
        for n in names
    ]
    servos = [f'<position name="{n}_servo" joint="{n}" kp="8" kv=".2"/>' for n in names]
    model = (
        f'<mujoco><option timestep="0.002"/><compiler angle="radian"/><worldbody>{joints[0]}'
        f"{joints[1]}</body></body></worldbody><actuator>{servos[0]}{servos[1]}</actuator></mujoco>"
    )
    (tmp_path / "robot.xml").write_text(model)
    encoder = JointStates(position=Reading(noise=5e-5), joints=names)
    plan = RecordingPlan(duration=3.0, motion=Motion(reach=0.5), settle=0.0, sensors=(encoder,))
    generate(mujoco.MjSpec.from_string(model), plan, tmp_path / "bag")
    signals: list[dict[str, object]] = []
    for place, (name, offset) in enumerate(zip(names, offsets, strict=True)):
        own = {"topic": "/joint_states", "field": f"position[{name}]", "offset": offset}
        asked = {"topic": "/position_controller/commands", "field": f"data[{place}]"}
        signals += [{"qpos": name, **own}, {"actuator": f"{name}_servo", **asked, "offset": offset}]
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals}
    text = yaml.safe_dump({**tree, "parameters": [{"joint": "*", "damping": None}]})
    found = turns_away(state_of(tmp_path, text).recorded)
    assert bool(found) == told
    for change, claim, _ in found:
        labels = [label for n in names for label in (f"{n}_qpos", f"{n}_servo")]
        assert dict(change.offset) == pytest.approx(dict.fromkeys(labels, -math.pi))
        assert "half a turn" in claim


def test_signs_that_may_be_wrong_are_no_half_turns() -> None:
    """Of encoders that count the other way half a turn puts one-sided ranges right, too."""
    bodies = [f'<body><joint name="{n}" range="0 2.6"/><geom size=".1"/>' for n in "ab"]
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><worldbody>{bodies[0]}{bodies[1]}</body></body>'
        "</worldbody></mujoco>"
    )
    times = np.linspace(0.0, 10.0, 1001)
    for away, count in ((lambda q: -q, 0), (lambda q: q + math.pi, 1)):
        told = {f"{n}_qpos": Samples(times, away(1.3 + 0.6 * np.sin(times))) for n in "ab"}
        recorded = Recorded(model, (told,), ({},), {0: "a_qpos", 1: "b_qpos"}, {}, {}, {})
        assert len(turns_away(recorded)) == count


@pytest.mark.parametrize(
    ("scale", "clips", "told"), [(10.0, True, True), (1.0, True, False), (10.0, False, False)]
)
def test_commands_that_the_model_would_clip_are_told(
    folder: Path, scale: float, clips: bool, told: bool
) -> None:
    """In another unit, of which the motion tells nothing, as the model hears its limits alone."""
    text = text_of(folder, servo='ctrlrange="-0.4 0.4" ctrllimited="true"')
    if not clips:
        spec = mujoco.MjSpec.from_file(str(folder / "robot.xml"))
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
        (folder / "robot.xml").write_text(spec.to_xml())
    text = text.replace("actuator: servo", f"actuator: servo\n  scale: {scale}")
    found = clipped_commands(state_of(folder, text).recorded)
    assert [label for one in found for label in one.signals] == ["servo"] * told


@pytest.mark.parametrize(("kind", "scale", "told"), [("motor", 100.0, True), ("motor", 24.0, False),
                                                     ("position", 100.0, False)])  # fmt: skip
def test_a_duty_cycle_in_percent_is_told(folder: Path, kind: str, scale: float, told: bool) -> None:
    """A servo of a range of one radian may as well be told degrees, of which its joint knows."""
    text = text_of(folder, servo='ctrlrange="-1 1" ctrllimited="true"')
    if kind == "motor":
        spec = mujoco.MjSpec.from_file(str(folder / "robot.xml"))
        spec.actuators[0].set_to_motor()
        (folder / "robot.xml").write_text(spec.to_xml())
    state = state_of(folder, text.replace("actuator: servo", f"actuator: servo\n  scale: {scale}"))
    found = [dict(change.scale) for change, _, _ in in_percent(state.recorded)]
    assert found == [{"servo": 0.01}] * told


@pytest.mark.parametrize(("shown", "scale"), [
    ('ctrlrange="-1 1"', {"a": 0.01, "b": 0.01}),
    ('ctrlrange="-12 12"', {"a": 0.12, "b": 0.12}),
    ('ctrlrange="-12 12" gear="10"', None),  # the most at its joint, in newton metres
])  # fmt: skip
def test_motors_are_in_percent_together(
    tmp_path: Path, shown: str, scale: dict[str, float] | None
) -> None:
    """One that never goes beyond half of its most is told by one that does."""
    text = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="{0}" damping="2"
      armature=".05"/><geom size=".1" contype="0"/></body><body pos="1 0 0"><joint name="{1}"
      damping="2" armature=".05"/><geom size=".1" contype="0"/></body></worldbody><actuator>
      <motor name="a" joint="{0}" {2}/><motor name="b" joint="{1}" {3}/></actuator></mujoco>"""
    ranges = ('gear="0.01" ctrlrange="-90 90"', 'gear="0.01" ctrlrange="-30 30"')
    spec = mujoco.MjSpec.from_string(text.format("left", "right", *ranges))
    plan = RecordingPlan(duration=6.0, sensors=(JointStates(position=Reading(noise=5e-5)),))
    generate(spec, plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(text.format("left", "right", shown, shown))
    topic = {"topic": "/position_controller/commands"}
    signals = [{"actuator": name, **topic, "field": f"data[{k}]"} for k, name in enumerate("ab")]
    signals.append({"qpos": "left", "topic": "/joint_states", "field": "position[left]"})
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals, "parameters": []}
    experiment = parse_experiment(yaml.safe_dump(tree), path=tmp_path / "experiment.yaml")
    recorded = CheckedState.of(experiment, load_dataset(experiment, None)).recorded
    assert [dict(c.scale) for c, _, _ in in_percent(recorded)] == [scale] * (scale is not None)
    assert [one.signals for one in clipped_commands(recorded)] == [("a", "b")]


@pytest.mark.parametrize(("ends", "most", "step", "told"), [
    ("0 8", 2000.0, 1.0, (0.008, -8.0)),
    ("-1 1", 2000.0, 1.0, (0.002, -3.0)),  # which turns both ways
    ("0 8", 2000.0, 0.37, None),  # no whole numbers
    ("0 8", 4000.0, 1.0, None),  # beyond any pulse
])  # fmt: skip
def test_pulses_of_an_autopilot_are_told(
    tmp_path: Path, ends: str, most: float, step: float, told: tuple[float, float] | None
) -> None:
    """As of MAVROS' RCOut."""
    text = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="shoulder" damping="2"
      armature=".05"/><geom size=".1" contype="0"/></body></worldbody><actuator>
      <motor name="drive" joint="shoulder" ctrlrange="{}"/></actuator></mujoco>"""
    plan = RecordingPlan(duration=4.0, sensors=(JointStates(position=Reading(noise=5e-5)),))
    generate(mujoco.MjSpec.from_string(text.format("-1 1")), plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(text.format(ends))
    own = {"topic": "/joint_states", "field": "position[shoulder]"}
    asked = {"topic": "/position_controller/commands", "field": "data[0]"}
    signals = [{"qpos": "shoulder", **own}, {"actuator": "drive", **asked}]
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals, "parameters": []}
    experiment = parse_experiment(yaml.safe_dump(tree), path=tmp_path / "experiment.yaml")
    state = CheckedState.of(experiment, load_dataset(experiment, None))
    [signal] = (recorded := state.recorded).recordings
    share = (signal["drive"].values - signal["drive"].values.min()) / np.ptp(signal["drive"].values)
    pulses = replace(
        signal["drive"], values=step * np.round((1000.0 + (most - 1000.0) * share) / step)
    )
    recorded = replace(recorded, recordings=({**signal, "drive": pulses},))
    found = in_pulses(recorded, state.lines.config)
    assert [(c.scale["drive"], c.offset["drive"]) for c, _, _ in found] == (
        [pytest.approx(told)] if told else []
    )
    turns = replace(state.lines.config("drive"), field="rotor_rpm[0]")
    assert not in_pulses(recorded, lambda label: turns)


BOOM = """<mujoco><worldbody><body><joint name="boom" axis="0 -1 0" damping="1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 4 0 0" mass="{}"/></body></worldbody>
  <actuator><motor name="drive" joint="boom" ctrlrange="-100 100"/></actuator></mujoco>"""


@pytest.mark.parametrize(("mass", "pulses"), [(80.0, False), (0.8, True)])
def test_whole_newton_metres_that_the_bodies_take_are_no_pulses(mass: float, pulses: bool) -> None:
    """As of an excavator's boom, up to some 1800 N m of a motor whose range is too small."""
    truth = mujoco.MjModel.from_xml_string(BOOM.format(80.0))
    times, data = np.arange(0.0, 20.0, 0.01), mujoco.MjData(truth)
    angles = 0.3 * np.sin(times) + 0.1 * np.sin(2.3 * times)
    rates = np.gradient(angles, times)
    torques = np.empty_like(times)
    for k, motion in enumerate(zip(angles, rates, np.gradient(rates, times), strict=True)):
        data.qpos[0], data.qvel[0], data.qacc[0] = motion
        mujoco.mj_inverse(truth, data)
        torques[k] = np.round(data.qfrc_inverse[0])
    assert 1000.0 < torques.min() < torques.max() < 2000.0
    signals = {"q": Samples(times, angles), "drive": Samples(times, torques, "zoh")}
    text = "model: a.xml\nsequences: [bag]\nparameters: []\nsignals:\n"
    text += "  - {actuator: drive, topic: /a, field: data}\n"
    [own] = parse_experiment(text, path=Path("a.yaml")).signals
    model = mujoco.MjModel.from_xml_string(BOOM.format(mass))
    seen = Recorded(model, (signals,), (), {0: "q"}, {}, {0: "drive"}, {})
    assert bool(in_pulses(seen, lambda _: own)) == pulses


def test_a_verdict_hears_of_no_clipped_commands_of_servos(folder: Path) -> None:
    """Their drivers clip as the model does, so that a fit may be right."""
    text = text_of(folder, servo='ctrlrange="-0.4 0.4" ctrllimited="true"')
    text = text.replace("actuator: servo", "actuator: servo\n  scale: 10.0")
    experiment = parse_experiment(text, path=folder / "experiment.yaml")
    assert not joints_beyond_ranges(experiment, load_dataset(experiment, None))


def test_newton_metres_are_not_percent_where_torques_tell_the_factor(tmp_path: Path) -> None:
    """Of a motor that gives 250 N m, told up to some 80: percent would be 2.5 times too much."""
    spec = mujoco.MjSpec.from_string(ARM.format(most=1, own=250))
    plan = RecordingPlan(duration=6.0, sensors=(JointStates(position=Reading(noise=5e-5)),))
    generate(spec, plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(ARM.format(most=250, own=1))
    own = {"topic": "/joint_states", "field": "position[shoulder]"}
    told = {"topic": "/position_controller/commands", "field": "data[0]"}
    signals = [{"qpos": "shoulder", **own}, {"actuator": "drive", **told}]
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals, "parameters": []}
    experiment = parse_experiment(yaml.safe_dump(tree), path=tmp_path / "experiment.yaml")
    dataset = load_dataset(experiment, None)
    assert in_percent(CheckedState.of(experiment, dataset).recorded)
    found = mistaken_values(experiment, dataset)
    assert [one.kind for one in found] == [FindingKind.SCALE]
    assert float(found[0].repair.partition("scale: ")[2].rstrip("}")) == pytest.approx(0.004, 0.1)


def test_torques_beyond_a_range_that_is_too_small_are_no_percent(tmp_path: Path) -> None:
    """Up to some 80 N m of a motor whose range ends at 12: percent would be 0.12 times as much."""
    spec = mujoco.MjSpec.from_string(ARM.format(most=1, own=250))
    noise = Reading(noise=5e-5)
    plan = RecordingPlan(
        duration=6.0, seed=3, timestep=1e-3, sensors=(JointStates(position=noise),)
    )
    generate(spec, plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(ARM.format(most=1, own=12))
    own = {"topic": "/joint_states", "field": "position[shoulder]"}
    told = {"topic": "/position_controller/commands", "field": "data[0]"}
    signals = [{"qpos": "shoulder", **own}, {"actuator": "drive", **told}]
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals, "parameters": []}
    experiment = parse_experiment(yaml.safe_dump(tree), path=tmp_path / "experiment.yaml")
    dataset = load_dataset(experiment, None)
    recorded = CheckedState.of(experiment, dataset).recorded
    assert not in_percent(recorded)
    [finding] = clipped_commands(recorded)
    assert joints_beyond_ranges(experiment, dataset) == (finding,)  # a verdict hears of motors
    assert finding.evidence["highest"] > 50.0
    assert "the range is too small" in finding.sentence


def test_thrusts_of_a_drone_beyond_their_range(tmp_path: Path) -> None:
    """No joint is measured, so that torques have no size by the model's bodies."""
    name = "Micro drone of a thrust and three moments"
    robot = next(one for one in own_robots() if one.name == name)
    generate(robot.model(), replace(robot.plan, duration=4.0), tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(robot.model().to_xml())
    names = ("body_thrust", "x_moment", "y_moment", "z_moment")
    signals: list[dict[str, object]] = [
        {"actuator": one, "topic": "/cf2/wrench", "field": f"data[{k}]"}
        for k, one in enumerate(names)
    ]
    signals[0]["scale"] = 3.0
    signals.append({"qpos": "cf2", "topic": "/cf2/odom", "field": "pose.pose"})
    tree = {"model": "robot.xml", "sequences": ["bag"], "signals": signals, "parameters": []}
    experiment = parse_experiment(yaml.safe_dump(tree), path=tmp_path / "experiment.yaml")
    (finding,) = joints_beyond_ranges(experiment, load_dataset(experiment, None))
    assert (finding.kind, finding.signals) == (FindingKind.RANGE, ("body_thrust",))


@pytest.mark.parametrize(("width", "several"), [(2.0, True), (1.0, False), (20.0, False)])
def test_radians_that_are_read_as_degrees_are_told_once(width: float, several: bool) -> None:
    """Of a model without its compiler's angle; not where the motion is beyond radians as well."""
    links = "".join(
        f'<body pos="0 0 -.2"><joint name="j{k}" axis="0 1 0" range="-{width} {width}"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02"/>'
        for k in range(3)
    )
    text = f"<mujoco><worldbody>{links}{'</body>' * 3}</worldbody></mujoco>"
    times = np.arange(0.0, 4.0, 0.01)
    signals = {f"q{k}": Samples(times, 1.5 * np.sin(times + k)) for k in range(3)}
    recorded = Recorded(
        mujoco.MjModel.from_xml_string(text), (signals,), ({},), {k: f"q{k}" for k in range(3)},
        {}, {}, {},
    )  # fmt: skip
    found = beyond_ranges(recorded)
    assert len(found) == (1 if several else 3)
    assert ("<compiler" in found[0].sentence) == several
    assert [label for one in found for label in one.signals] == ["q0", "q1", "q2"]
