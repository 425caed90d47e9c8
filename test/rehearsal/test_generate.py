# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Generated recordings say what the simulated robot did, as real ones would."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import ModelError
from sysid_ros.recording.bags import open_recording, read_columns
from sysid_ros.recording.messages import parse_field
from sysid_ros.rehearsal import (
    Base,
    CommandForm,
    Controller,
    GeneratedRecording,
    ImuReadings,
    JointStates,
    Motion,
    OdometryReadings,
    Reading,
    RecordingPlan,
    RehearsalError,
    Timing,
    TrueParameter,
    WrenchReadings,
    generate,
)
from sysid_ros.rehearsal.simulation import Seen

ARM = """<mujoco><option timestep="0.002"/><worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.5" armature="0.02"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" contype="0" conaffinity="0"/>
    <body pos="0 0 -.3"><joint name="b" axis="0 1 0" damping="0.2" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" contype="0" conaffinity="0"/>
    </body></body></worldbody>
  <actuator>{}</actuator></mujoco>"""
SERVOS = '<position name="sa" joint="a" kp="40" kv="2"/><position name="sb" joint="b" kp="40"/>'
MOTORS = '<motor name="ma" joint="a"/><motor name="mb" joint="b" gear="2"/>'
DRONE = """<mujoco><worldbody><body name="drone" pos="0 0 1"><freejoint/>
  <geom type="box" size=".1 .1 .02" mass="1"/><site name="imu"/>
  <site name="s1" pos=".1 .1 0"/><site name="s2" pos="-.1 .1 0"/>
  <site name="s3" pos="-.1 -.1 0"/><site name="s4" pos=".1 -.1 0"/></body></worldbody>
  <actuator><motor name="t1" site="s1" gear="0 0 1 0 0 .02" ctrllimited="true" ctrlrange="0 8"/>
  <motor name="t2" site="s2" gear="0 0 1 0 0 -.02" ctrllimited="true" ctrlrange="0 8"/>
  <motor name="t3" site="s3" gear="0 0 1 0 0 .02" ctrllimited="true" ctrlrange="0 8"/>
  <motor name="t4" site="s4" gear="0 0 1 0 0 -.02" ctrllimited="true" ctrlrange="0 8"/></actuator>
  <sensor><gyro name="gyro" site="imu"/><accelerometer name="acc" site="imu"/></sensor>
</mujoco>"""


def spec(text: str) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(text)


def columns(
    recording: GeneratedRecording, topic: str, *fields: str
) -> tuple[FloatArray, FloatArray]:
    """Stamps [s since the beginning] and values of some fields of a topic."""
    with open_recording(recording.bag) as bag:
        table = read_columns(bag, {topic: [parse_field(field) for field in fields]})[topic]
    stamps = table.header_ns if table.header_ns is not None else table.publish_ns
    return (stamps - RecordingPlan().start_ns) / 1e9, table.values


def test_stamps_and_values_are_those_of_the_true_motion(tmp_path: Path) -> None:
    states = JointStates(
        joints=("b", "a"),
        position=Reading(noise=1e-4),
        velocity=Reading(),
        timing=Timing(rate=250.0, jitter=4e-4, latency=0.003),
    )
    plan = RecordingPlan(sensors=(states,), duration=4.0)
    made = generate(spec(ARM.format(SERVOS)), plan, tmp_path / "bag")
    seen = made.course.seen["/joint_states"]
    stamps, values = columns(
        made, "/joint_states", "position[a]", "position[b]", "velocity[a]", "velocity[b]"
    )
    assert stamps - 0.003 == pytest.approx(seen.times, abs=1e-8)
    assert np.std(np.diff(stamps)) > 2e-4  # uneven, and the stamps say so
    assert values[:, 2:] == pytest.approx(seen.qvel)
    assert np.std(values[:, :2] - seen.qpos) == pytest.approx(1e-4, rel=0.1)
    assert np.ptp(seen.qpos, axis=0).min() > 0.3


def test_the_same_plan_gives_the_same_bytes(tmp_path: Path) -> None:
    def messages(name: str, seed: int) -> list[bytes]:
        plan = RecordingPlan(duration=1.0, seed=seed)
        bag = generate(spec(ARM.format(MOTORS)), plan, tmp_path / name).bag
        with open_recording(bag) as recording:
            return [bytes(one.data) for one in recording.messages(list(recording.topics))]

    first = messages("one", 1)
    assert first == messages("two", 1)
    assert first != messages("three", 2)


def test_a_delay_shifts_the_motion_and_not_the_commands(tmp_path: Path) -> None:
    def motion(name: str, delay: float) -> GeneratedRecording:
        plan = RecordingPlan(controllers=(Controller(delay=delay),), duration=3.0)
        return generate(spec(ARM.format(SERVOS)), plan, tmp_path / name)

    at_once, late = motion("at_once", 0.0), motion("late", 0.05)
    assert late.course.controls == pytest.approx(at_once.course.controls)
    one, other = (made.course.seen["/joint_states"].qpos for made in (at_once, late))
    assert other[110:] == pytest.approx(one[100:-10], abs=2e-3)
    assert np.abs(other[100:-10] - one[100:-10]).max() > 0.02


def test_a_truth_changes_the_motion_and_not_the_given_model(tmp_path: Path) -> None:
    model = spec(ARM.format(SERVOS))
    plain = RecordingPlan(duration=2.0)
    heavy = replace(plain, truth=(TrueParameter("joint", "a", "armature", 0.5),))
    one, other = (
        generate(model, plan, tmp_path / name).course.seen["/joint_states"].qpos
        for name, plan in (("plain", plain), ("heavy", heavy))
    )
    assert np.abs(one - other).max() > 0.01
    assert model.joint("a").armature == 0.02


@pytest.mark.parametrize("form", CommandForm)
def test_commands_are_where_their_controller_puts_them(tmp_path: Path, form: CommandForm) -> None:
    controller = Controller(topic="/c/commands", actuators=("mb", "ma"), form=form)
    plan = RecordingPlan(controllers=(controller,), duration=1.0)
    made = generate(spec(ARM.format(MOTORS)), plan, tmp_path / "bag")
    places = {one.name: one.field for one in made.signals if one.kind == "actuator"}
    _, values = columns(made, "/c/commands", places["ma"], places["mb"])
    assert values == pytest.approx(made.course.controls)


def test_an_encoder_counts_steps_and_messages_are_lost(tmp_path: Path) -> None:
    states = JointStates(position=Reading(quantum=0.01), timing=Timing(rate=200.0, loss=0.25))
    made = generate(
        spec(ARM.format(SERVOS)), RecordingPlan(sensors=(states,), duration=5.0), tmp_path / "bag"
    )
    _, values = columns(made, "/joint_states", "position[a]")
    assert values / 0.01 == pytest.approx(np.round(values / 0.01), abs=1e-9)
    assert 650 < len(values) < 850


def test_what_flies_is_balanced_and_seen_by_odometry_and_imu(tmp_path: Path) -> None:
    plan = RecordingPlan(
        sensors=(
            OdometryReadings(linear=Reading()),
            ImuReadings(gyro="gyro", accelerometer="acc", rates=Reading()),
        ),
        motion=Motion(reach=0.5, dither=0.1),
        duration=6.0,
    )
    made = generate(spec(DRONE), plan, tmp_path / "bag")
    seen = made.course.seen["/odom"]
    assert np.abs(seen.qpos[:, 2] - 1.0).max() < 1.0
    _, values = columns(
        made, "/odom", "pose.pose.position.z", "pose.pose.orientation.w", "twist.twist.linear.x"
    )
    assert values[:, 0] == pytest.approx(seen.qpos[:, 2], abs=0.01)
    assert values[:, 1] == pytest.approx(seen.qpos[:, 3], abs=0.01)
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, seen.qpos[300, 3:7])
    assert values[300, 2] == pytest.approx(float(rotation.reshape(3, 3)[:, 0] @ seen.qvel[300, :3]))
    _, rates = columns(made, "/imu/data", "angular_velocity.y")
    assert rates[:, 0] == pytest.approx(made.course.seen["/imu/data"].qvel[:, 4])


@pytest.mark.parametrize("dynamics", ["filter", "filterexact", "integrator"])
def test_what_flies_by_slow_thrusters_is_balanced(tmp_path: Path, dynamics: str) -> None:
    slow = f'<general dyntype="{dynamics}" dynprm="0.04"'
    plan = RecordingPlan(
        sensors=(OdometryReadings(linear=Reading()),), motion=Motion(reach=0.5), duration=6.0
    )
    thrusters = DRONE.replace("<motor", slow).replace('ctrlrange="0 8"', 'ctrlrange="-8 8"')
    made = generate(spec(thrusters), plan, tmp_path / "bag")
    assert np.abs(made.course.seen["/odom"].qpos[:, 2] - 1.0).max() < 1.0


def test_a_wrist_feels_what_it_carries(tmp_path: Path) -> None:
    arm = spec(ARM.format(SERVOS))
    arm.bodies[-1].add_site(name="wrist")
    site = mujoco.mjtObj.mjOBJ_SITE
    arm.add_sensor(name="f", type=mujoco.mjtSensor.mjSENS_FORCE, objtype=site, objname="wrist")
    sensors = (WrenchReadings(force="f", forces=Reading(), torques=Reading()),)
    made = generate(arm, RecordingPlan(sensors=sensors, duration=0.5), tmp_path / "bag")
    _, values = columns(made, "/ft_sensor/wrench", "wrench.force.z", "wrench.torque.z")
    weight = 9.81 * float(arm.compile().body_mass[-1])
    assert abs(values[0, 0]) == pytest.approx(weight, rel=0.05)  # at rest, hanging
    assert not values[:, 1].any()


LEGGED = """<mujoco><worldbody><body name="trunk" pos="0 0 2"><freejoint/>
  <geom type="box" size=".2 .2 .05" mass="3"/>
  <body pos=".1 0 -.1"><joint name="leg" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/></body></body></worldbody>
  <actuator><position name="leg" joint="leg" kp="30" kv="1"/></actuator></mujoco>"""


def test_a_base_hangs_or_stands(tmp_path: Path) -> None:
    plan = RecordingPlan(duration=1.0, motion=Motion(reach=0.2))
    hanging = generate(spec(LEGGED), replace(plan, base=Base.HANGING), tmp_path / "hanging")
    assert hanging.course.seen["/joint_states"].qpos.shape[1] == 1
    ground = generate(spec(LEGGED), replace(plan, base=Base.GROUND), tmp_path / "ground")
    height = ground.course.seen["/joint_states"].qpos[:, 2]
    assert height.min() > 0.0 and height.max() < 0.5  # neither through the floor nor in the air
    with pytest.raises(ModelError, match="free joint"):
        generate(spec(ARM.format(SERVOS)), replace(plan, base=Base.HANGING), tmp_path / "none")


def test_what_cannot_be_made_says_why(tmp_path: Path) -> None:
    arm = spec(ARM.format(SERVOS))
    with pytest.raises(RehearsalError, match="no actuators"):
        generate(spec(ARM.format("")), RecordingPlan(), tmp_path / "a")
    with pytest.raises(RehearsalError, match="no joint 'c'; there are a, b"):
        plan = RecordingPlan(sensors=(JointStates(joints=("c",)),), duration=0.5)
        generate(arm, plan, tmp_path / "b")
    with pytest.raises(RehearsalError, match="no actuator 'x'; there are sa, sb"):
        plan = RecordingPlan(controllers=(Controller(actuators=("x",)),), duration=0.5)
        generate(arm, plan, tmp_path / "c")
    with pytest.raises(RehearsalError, match="flies apart"):
        stiff = (TrueParameter("actuator", "s*", "kp", 1e9),)
        generate(arm, RecordingPlan(truth=stiff, timestep=0.01), tmp_path / "d")
    with pytest.raises(RehearsalError, match="rate must be positive"):
        RecordingPlan(rate=0.0)


def test_the_time_step_of_the_truth_is_not_in_what_is_recorded(tmp_path: Path) -> None:
    """A mass on a spring that is pulled: twice the time step errs four times as much, not twice."""
    text = """<mujoco><worldbody><body><joint name="a" type="slide" axis="1 0 0"/>
      <geom size=".1" mass="1"/></body></worldbody>
      <actuator><position name="pull" joint="a" kp="400"/></actuator></mujoco>"""

    def motion(step: float) -> Seen:
        plan = RecordingPlan(
            duration=1.5, timestep=step, controllers=(Controller(delay=0.011),), settle=0.0,
            sensors=(JointStates(timing=Timing(rate=125.0)),), rate=25.0,
        )  # fmt: skip
        return generate(spec(text), plan, tmp_path / f"{step}").course.seen["/joint_states"]

    finest, fine, coarse = motion(1.25e-4), motion(5e-4), motion(1e-3)
    for quantity in ("qpos", "qvel"):
        best = getattr(finest, quantity)
        error = np.std(getattr(coarse, quantity) - best)
        assert error > 3.0 * np.std(getattr(fine, quantity) - best)
        assert error < 1e-3 * np.std(best)


def test_a_slider_crank_moves_and_suction_is_switched(tmp_path: Path) -> None:
    model = """<mujoco><option timestep="0.002"/><worldbody><site name="slide" pos="0 0 -.4"/>
      <body><joint name="wheel" axis="0 1 0" damping=".1" armature=".05"/>
        <geom type="cylinder" size=".1 .02" euler="90 0 0" mass="1" contype="0" conaffinity="0"/>
        <site name="pin" pos=".1 0 0"/></body>
      <body name="cup" pos="1 0 0"><geom size=".05"/></body></worldbody>
      <actuator><position name="piston" cranksite="pin" slidersite="slide" cranklength=".4"
          kp="3000" kv="150"/>
        <adhesion name="suction" body="cup" ctrlrange="0 1" gain="20"/></actuator></mujoco>"""
    motion = Motion(reach=0.05, speed=0.3, acceleration=3.0)
    plan = RecordingPlan(duration=4.0, timestep=0.002, motion=motion)
    made = generate(spec(model), plan, tmp_path / "bag")
    assert np.ptp(made.course.seen["/joint_states"].qpos[:, 0]) > 0.2
    assert set(made.course.controls[:, 1]) == {0.0, 1.0}


@pytest.mark.parametrize("joined", [False, True])
def test_a_topic_shows_some_of_the_commands_that_act(joined: bool, tmp_path: Path) -> None:
    plan = RecordingPlan(rate=500.0, shown=25, joined=joined, duration=3.0)
    made = generate(spec(ARM.format(SERVOS)), plan, tmp_path / "bag")
    stamps, values = columns(made, "/position_controller/commands", "data[0]", "data[1]")
    sent, acting = made.course.sent, made.course.controls
    assert np.diff(stamps) == pytest.approx(0.05)
    assert values == pytest.approx(acting[::25])
    lines = np.column_stack([np.interp(sent, stamps, one) for one in values.T])
    inside = sent <= stamps[-1]
    away = np.abs(lines - acting)[inside].max()
    assert away < 1e-9 if joined else away > 1e-3


def test_joints_of_a_bus_are_read_one_after_the_other_under_one_stamp(tmp_path: Path) -> None:
    states = JointStates(position=Reading(), joints=("b", "a"), dwell=2e-3)
    plan = RecordingPlan(sensors=(states,), duration=3.0)
    made = generate(spec(ARM.format(SERVOS)), plan, tmp_path / "bag")
    seen = made.course.seen["/joint_states"]
    stamps, values = columns(made, "/joint_states", "position[b]", "position[a]")
    assert stamps == pytest.approx(seen.times, abs=1e-8)
    assert values[:, 0] == pytest.approx(seen.qpos[:, 1])
    later = np.interp(seen.times + 2e-3, seen.times, seen.qpos[:, 0])
    assert values[:-1, 1] == pytest.approx(later[:-1], abs=2e-4)
    assert np.abs(values[:, 1] - seen.qpos[:, 0]).max() > 2e-3
