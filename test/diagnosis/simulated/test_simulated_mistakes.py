# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes that only a simulation of the whole model shows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import mujoco
import mujoco.rollout
import numpy as np
import pytest

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis.checks import check_dataset
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.recorded import recorded
from sysid_ros.diagnosis.simulated.simulated_mistakes import _Search, simulated_explanations
from sysid_ros.diagnosis.simulated.tried_repairs import Tried
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.experiment import parse_experiment
from sysid_ros.rehearsal import Motion, RecordingPlan, generate

SEGMENTS = 5  # of each axis; more of them than signals for which repairs are tried
JOINTS = [f"{axis}{k}" for k in range(SEGMENTS) for axis in "xy"]
DT = 0.002


def soft_arm() -> str:
    """Elastic segments that bend about two axes, each by a tendon of all of them."""
    segment = (
        '<body pos="0 0 -.05"><joint name="x{k}" axis="1 0 0" stiffness="{x}" damping=".02"/>'
        '<joint name="y{k}" axis="0 1 0" stiffness="1" damping=".02"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -.05" size=".01" mass=".03" contype="0"/>'
    )  # x is softer, so that its segments are those that are explained worst
    bodies = "".join(segment.format(k=k, x=0.5) for k in range(SEGMENTS)) + "</body>" * SEGMENTS
    pulled = {
        axis: "".join(f'<joint joint="{axis}{k}" coef=".02"/>' for k in range(SEGMENTS))
        for axis in "xy"
    }
    tendons = "".join(f'<fixed name="{axis}">{own}</fixed>' for axis, own in pulled.items())
    servos = "".join(f'<position name="pull_{a}" tendon="{a}" kp="3000" kv="30"/>' for a in "xy")
    sensors = "".join(f'<jointpos name="{joint}_pos" joint="{joint}"/>' for joint in JOINTS)
    return (
        f'<mujoco><option timestep="{DT}" integrator="implicitfast"/><worldbody>{bodies}'
        f"</worldbody><tendon>{tendons}</tendon><actuator>{servos}</actuator>"
        f"<sensor>{sensors}</sensor></mujoco>"
    )


@pytest.mark.parametrize(
    "topics", [("/tendons", "/tendons"), ("/pull_x", "/pull_y")], ids=["one array", "a topic each"]
)
@pytest.mark.parametrize("exchanged", [False, True])
def test_commands_of_tendons_that_bend_other_joints(
    topics: tuple[str, str], exchanged: bool
) -> None:
    model = mujoco.MjModel.from_xml_string(soft_arm())
    times = DT * np.arange(3000)
    pulled = 0.03 * np.column_stack([np.sin(3.0 * times), np.sin(4.3 * times + 1.0)])
    start = create_initial_state(model, model.qpos0, np.zeros(model.nv))
    _, seen = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], pulled[None])
    told = pulled[:, ::-1] if exchanged else pulled
    names = [f"{joint}_pos" for joint in JOINTS]
    group = ModelSequences(
        "arm", mujoco.MjSpec.from_string(soft_arm()), "recording", start,
        TimeSeries(times, told, {
            f"pull_{axis}": (SignalType.MjCtrl, np.array([k])) for k, axis in enumerate("xy")
        }),
        TimeSeries(times + DT, seen[0], {
            name: (SignalType.MjSensor, np.array([k])) for k, name in enumerate(names)
        }),
    )  # fmt: skip
    entries = dict(zip(("pull_x", "pull_y"), topics, strict=True)) | dict.fromkeys(names, "/states")
    found = simulated_explanations(recorded([group]), group, ParameterDict(), 1.0, [], entries)
    assert [(one.change.kind, {*one.change.signals}) for one in found] == (
        [(FindingKind.SWAP, {"pull_x", "pull_y"})] if exchanged else []
    )


DECK = """<mujoco><option timestep="0.002" integrator="implicitfast"/><worldbody><body>
  <joint name="heave" type="slide" axis="0 0 1" {spring}/><geom size=".3" mass="40" contype="0"/>
  <body><joint name="turn" axis="0 1 0" damping="2" armature=".3"/>
  <geom type="capsule" size=".03" fromto="0 0 0 .5 0 0" mass="3" contype="0"/></body></body>
  <body name="rod" pos="3 0 0"><joint name="swing"/><geom pos="0 .1 0" size=".1" mass="1"/></body>
  </worldbody><equality><connect body1="rod" body2="world" anchor="0 0 0"/></equality>
  <tendon><fixed name="ropes" {rope}><joint joint="heave" coef="1"/></fixed></tendon>
  <actuator><position name="turning" joint="turn" kp="300" kv="20"/>{waves}</actuator></mujoco>"""
HELD = 'stiffness="9000" damping="90" '


@pytest.mark.parametrize("held", ["", "spring", "rope"])
def test_what_moved_a_joint_that_the_model_neither_drives_nor_holds_is_asked_for(
    tmp_path: Path, held: str
) -> None:
    """An arm on a deck that waves lift, which no message tells, and on one that springs hold."""
    parts = {
        "spring": HELD + 'springref="0.05"' if held == "spring" else "",
        "rope": HELD + 'springlength="0.05"' if held == "rope" else "",
    }
    waves = "" if held else '<position name="waves" joint="heave" kp="90000" kv="9000"/>'
    truth = DECK.format(**parts, waves=waves)
    (tmp_path / "robot.xml").write_text(DECK.format(**parts, waves=""))
    plan = RecordingPlan(duration=6.0, motion=Motion(reach=0.3), settle=0.0)
    generate(mujoco.MjSpec.from_string(truth), plan, tmp_path / "bag")
    text = "model: robot.xml\nsequences: [bag]\nparameters: []\nsignals:\n"
    for joint in ("heave", "turn"):
        text += f'  - {{qpos: {joint}, topic: /joint_states, field: "position[{joint}]"}}\n'
    text += '  - {actuator: turning, topic: /position_controller/commands, field: "data[0]"}\n'
    experiment = parse_experiment(text, path=tmp_path / "experiment.yaml")
    notes: list[str] = []
    check_dataset(experiment, load_dataset(experiment, None), on_note=notes.append)
    asked = [one for one in notes if "position actuator" in one]
    assert len(asked) == (not held)
    assert all("'heave'" in one and "'turn'" not in one for one in asked)


SEESAW = """<mujoco><option timestep="0.005" integrator="implicitfast"/><worldbody><body>
  <joint name="tilt" axis="0 1 0"/><site name="left" pos="-.1 0 0"/>
  <site name="right" pos=".1 0 0"/>
  <inertial pos="0 0 {low}" mass=".3" diaginertia=".002 .002 .002"/></body></worldbody><actuator>
  <motor name="left" site="left" gear="0 0 {gain} 0 0 0"/>
  <motor name="right" site="right" gear="0 0 {gain} 0 0 0"/></actuator><sensor>
  <jointpos name="tilt_pos" joint="tilt"/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("low", "late", "kinds"),
    [
        (-1e-5, 0, []),
        (-1e-5, 0, [FindingKind.DEGREES]),
        (-0.01, 16, [FindingKind.DEGREES, FindingKind.LAG]),  # its weight tells
    ],
)
def test_forces_of_another_size_are_no_unit(
    low: float, late: int, kinds: list[FindingKind]
) -> None:
    """A seesaw of two rotors, whose thrusts a guess has sixty times too large."""
    degrees = bool(kinds)
    truth = mujoco.MjModel.from_xml_string(SEESAW.format(gain=0.03, low=low))
    times = 0.005 * np.arange(1200)
    differ = 0.3 * np.sin(2.0 * np.pi * times) + 0.2 * np.sin(7.0 * np.pi * times + 1.0)
    thrusts = 0.5 + 0.5 * differ[:, None] * [-1.0, 1.0]
    start = create_initial_state(truth, truth.qpos0, np.zeros(truth.nv))
    _, seen = mujoco.rollout.rollout(truth, mujoco.MjData(truth), start[None], thrusts[None])
    thrusts = np.concatenate([thrusts[late:], np.repeat(thrusts[-1:], late, axis=0)])
    file = SEESAW.format(gain=0.03 if degrees else 1.8, low=low)
    group = ModelSequences(
        "seesaw", mujoco.MjSpec.from_string(file), "recording", start,
        TimeSeries(times, thrusts, {
            side: (SignalType.MjCtrl, np.array([k])) for k, side in enumerate(("left", "right"))
        }),
        TimeSeries(times + 0.005, np.rad2deg(seen[0]) if degrees else seen[0], {
            "tilt_pos": (SignalType.MjSensor, np.array([0]))
        }),
    )  # fmt: skip
    entries = {"left": "/thrusts", "right": "/thrusts", "tilt_pos": "/states"}
    found = simulated_explanations(recorded([group]), group, ParameterDict(), 1.0, [], entries)
    assert [one.change.kind for one in found] == kinds


def test_a_repair_that_leaves_more_than_it_explains_is_none() -> None:
    """As where two others of a multirotor's thrusts steady its height and turn it over."""
    before = {"height": np.full(12, 0.28), "roll": np.full(12, 2.1), "pitch": np.full(12, 2.1)}
    change = (Change(FindingKind.SIGN, scale={"thrust": -1.0}),)
    search = _Search.__new__(_Search)
    search._could_be = SimpleNamespace(matters=lambda *_: True)
    for turned, accepted in ((2.1, True), (2.45, False)):
        after = {"height": np.full(12, 0.03), "roll": np.full(12, turned)}
        one = Tried(change, 0.0, {**after, "pitch": after["roll"]})
        assert one.may_be_accepted(before)
        assert search._accepted(before, one) is accepted
