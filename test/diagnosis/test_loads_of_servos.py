# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sags of servos under loads that no equation of their joint has are no zeros of commands."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.fits import most_pushed
from sysid_ros.diagnosis.servo_mistakes import servo_explanations
from sysid_ros.experiment import parse_experiment
from sysid_ros.rehearsal import Controller, Motion, RecordingPlan, generate

# A body of 10 kg on a massless leg of 0.3 m that lies flat, its foot on the floor.
STANDING = """<mujoco><option timestep="0.002"/><worldbody>
  <geom type="plane" size="9 9 .1" pos="0 0 {floor}" friction="{friction}"/>
  <body pos="0 0 .05"><freejoint/>
    <geom type="box" size=".1 .1 .02" mass="10" contype="0" conaffinity="0"/>
    <body><joint name="knee" axis="0 1 0"/>
      <geom type="sphere" size=".05" pos=".3 0 0" mass="1e-6" friction="{friction}"/>
    </body></body></worldbody>
  <actuator><position name="servo" joint="knee" kp="{gain}"/></actuator></mujoco>"""
WEIGHT = 98.1  # N


def model(floor: float = 0.0, gain: float = 100.0, friction: float = 0.5) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        STANDING.format(floor=floor, gain=gain, friction=friction)
    )


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_floor_carries_the_weight_at_the_longest_arm_until_it_slips(friction: float) -> None:
    stands = model(friction=friction)
    postures = np.array([stands.qpos0, [*stands.qpos0[:-1], -0.01]])
    knee = most_pushed(stands, postures)[6]
    assert knee == pytest.approx(WEIGHT * np.hypot(0.3, 0.05 * friction), rel=2e-3)
    assert not most_pushed(model(floor=-0.5), postures).any()


def sagged(stands: mujoco.MjModel) -> Recorded:
    """A knee that stays 0.2 rad behind its command."""
    times = np.arange(0.0, 20.0, 0.01)
    knee = 0.1 * np.sin(2.0 * np.pi * 0.31 * times) + 0.05 * np.sin(2.0 * np.pi * 0.83 * times)
    base = [f"base[{i}]" for i in range(7)]
    signals = {
        "q": Samples(times, knee, "linear"),
        "u": Samples(times, knee + 0.2, "linear"),
        **{
            label: Samples(times, np.full_like(times, place), "linear")
            for label, place in zip(base, stands.qpos0[:7], strict=True)
        },
    }
    return Recorded(stands, (signals,), ({},), {1: "q"}, {}, {}, {0: "u"}, poses={0: tuple(base)})


@pytest.mark.parametrize(
    ("floor", "gain", "told"), [(0.0, 100.0, False), (0.0, 1000.0, True), (-0.5, 100.0, True)]
)
def test_what_a_floor_can_push_is_no_zero(floor: float, gain: float, told: bool) -> None:
    found = servo_explanations(sagged(model(floor, gain)))
    kinds = [FindingKind.OFFSET] if told else []
    assert [one.change.kind for one in found] == kinds


# The head hangs level, which an equality sees to; nothing measures its joint.
CRANE = """<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody>
  <body pos="0 0 1"><joint name="boom" axis="0 -1 0" damping="2" armature="1"/>
    <geom type="capsule" fromto="0 0 0 2 0 0" size=".04" mass="12" contype="0" conaffinity="0"/>
    <body pos="2 0 0"><joint name="level" axis="0 -1 0" damping=".2"/>
      <geom type="box" size=".1 .05 .05" pos="0 0 -.1" mass="6" contype="0" conaffinity="0"/>
    </body></body></worldbody>
  <equality><joint joint1="level" joint2="boom" polycoef="0 -1 0 0 0"/></equality>
  <actuator><velocity name="drive" joint="boom" kv="900"/></actuator></mujoco>"""


def test_a_weight_behind_a_joint_that_an_equality_ties_lets_a_drive_sag(tmp_path: Path) -> None:
    plan = RecordingPlan(
        controllers=(Controller(topic="/speeds", delay=0.01),), duration=12.0,
        motion=Motion(reach=0.4), timestep=5e-4,
    )  # fmt: skip
    generate(mujoco.MjSpec.from_string(CRANE), plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(CRANE)
    text = """model: robot.xml
sequences: [bag]
signals:
  - {qpos: boom, topic: /joint_states, field: "position[boom]"}
  - {actuator: drive, topic: /speeds, field: "data[0]"%s}
parameters: [{joint: boom, damping: , frictionloss: , armature: }, {signal: drive, delay: }]
"""
    right = parse_experiment(text % "", path=tmp_path / "experiment.yaml")
    wrong = parse_experiment(text % ", offset: 3.0", path=tmp_path / "experiment.yaml")
    assert check_experiment(right, None) == ()
    assert [one.kind for one in check_experiment(wrong, None)] == [FindingKind.OFFSET]


# A spring from the wall bears the arm, as of exoskeletons and of lamps.
BORNE = """<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody>
  <site name="wall" pos="-.1 0 1.25"/>
  <body pos="0 0 1"><joint name="lift" axis="0 -1 0" damping=".8" armature=".08"/>
    <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass="2" contype="0" conaffinity="0"/>
    <site name="end" pos=".12 0 .03"/></body></worldbody>
  <tendon><spatial name="spring" stiffness="{stiffness}" springlength=".12">
    <site site="wall"/><site site="end"/></spatial></tendon>
  <actuator><position name="drive" joint="lift" kp="200" kv="12"/></actuator></mujoco>"""


def test_a_spring_that_is_stiffer_than_the_model_has_it_is_no_scale_of_a_position(
    tmp_path: Path,
) -> None:
    plan = RecordingPlan(duration=12.0, motion=Motion(reach=0.7))
    generate(mujoco.MjSpec.from_string(BORNE.format(stiffness=1200)), plan, tmp_path / "bag")
    (tmp_path / "robot.xml").write_text(BORNE.format(stiffness=900))
    text = """model: robot.xml
sequences: [bag]
signals:
  - {qpos: lift, topic: /joint_states, field: "position[lift]"}
  - {actuator: drive, topic: /position_controller/commands, field: "data[0]"}
parameters: [{tendon: spring, stiffness: }, {joint: lift, damping: , frictionloss: }]
"""
    file = tmp_path / "experiment.yaml"
    assert check_experiment(parse_experiment(text, path=file), None) == ()
