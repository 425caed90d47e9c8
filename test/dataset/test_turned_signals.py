# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands are told in the turns of their joints' positions, and slides are not joined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from arm_recording import ArmRecording, arm_model, write_bag, write_experiment

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import load_dataset
from sysid_ros.dataset.turned_signals import with_turned_commands, with_turned_positions
from sysid_ros.diagnosis import Finding, FindingKind, check_experiment
from sysid_ros.experiment import load_experiment
from sysid_ros.recording.mapping import MappedRecording, MappedSignal, SignalKind

TIMES = np.arange(0.0, 12.0, 0.005)
ANGLE = 9.0 * np.sin(0.7 * TIMES)
TURN = 2.0 * np.pi
JOINTS = """<mujoco><worldbody><body><joint name="turns" axis="0 0 1"/><geom size=".1"/>
<body><joint name="slides" type="slide" axis="0 0 1"/><geom size=".1"/></body></body></worldbody>
<actuator><position name="servo" joint="turns" kp="9"/><motor name="motor" joint="turns"/>
<position name="lift" joint="slides" kp="9"/></actuator></mujoco>"""


def modulo(values: FloatArray, turn: float = TURN) -> FloatArray:
    """Angles within one turn around zero."""
    return np.asarray((values + 0.5 * turn) % turn - 0.5 * turn)


def told(
    command: FloatArray,
    position: FloatArray,
    *,
    turns: int,
    name: str = "servo",
    joint: str = "turns",
) -> FloatArray:
    """What is made of a command."""
    control = MappedSignal(SignalKind.ACTUATOR, name, TIMES, command, True, None)
    measured = MappedSignal(SignalKind.QPOS, joint, TIMES, position, False, None, turns=turns)
    mapped = MappedRecording("run", 0, 12.0, (control,), (measured,))
    found = with_turned_commands(mapped, mujoco.MjSpec.from_string(JOINTS))
    assert bool(found.warnings) == (found is not mapped)
    return found.controls[0].values


@pytest.mark.parametrize(
    ("command", "position", "turns"),
    [
        (modulo(ANGLE), ANGLE, 5),  # both modulo a turn
        (modulo(ANGLE), ANGLE + 4.0 * TURN, 0),  # a driver that counts turns from elsewhere
        (ANGLE - 2.0 * TURN, ANGLE, 5),  # the position is modulo a turn, and the command is not
        (np.where(TIMES < 5.0, 0.5, -2.5), np.where(TIMES < 5.0, 0.5, -2.5) - 3.0 * TURN, 2),
    ],
)
def test_a_command_is_where_the_position_is(
    command: FloatArray, position: FloatArray, turns: int
) -> None:
    np.testing.assert_allclose(told(command, position, turns=turns), position, atol=1e-9)


def test_what_stays_as_it_is() -> None:
    steps = np.where(TIMES < 5.0, 0.0, 9.0)
    lag = np.where(TIMES < 5.5, 0.0, 9.0)
    assert told(steps, lag, turns=0) is steps  # of more than a turn
    small = 0.1 * ANGLE
    assert told(small, 30.0 * small, turns=0) is small  # in another unit
    torque = modulo(ANGLE)
    assert told(torque, ANGLE, turns=5, name="motor") is torque
    assert told(torque, ANGLE, turns=0, name="lift", joint="slides") is torque


@pytest.mark.parametrize(
    ("angle", "turns", "begins"),
    [
        (0.6 * np.sin(TIMES) - 0.4, 0, TURN),  # told as 300 degrees and never through zero
        (0.6 * np.sin(TIMES) + 0.4, 3, TURN),
        (0.6 * np.sin(TIMES), 3, 0.0),
        (0.6 * np.sin(TIMES), 0, 2.0),  # which no turns put into the range
    ],
)
def test_angles_modulo_a_turn_are_in_that_of_their_range(
    angle: FloatArray, turns: int, begins: float
) -> None:
    """Of 0 to 360 degrees each recording began in another turn, beyond the range in some."""
    text = JOINTS.replace('name="turns"', 'name="turns" range="-120 120"').replace(
        "</worldbody>", '<body><joint name="other"/><geom size=".1"/></body></worldbody>'
    )
    own = MappedSignal(SignalKind.QPOS, "turns", TIMES, angle + begins, False, None, turns=turns)
    other = MappedSignal(SignalKind.QPOS, "other", TIMES, ANGLE, False, None, turns=5)
    control = MappedSignal(SignalKind.ACTUATOR, "servo", TIMES, angle % TURN, True, None)
    spec = mujoco.MjSpec.from_string(text)
    mapped = MappedRecording("run", 0, 12.0, (control,), (own, other))
    found = with_turned_positions(mapped, spec)
    away = begins % TURN
    np.testing.assert_allclose(found.measured[0].values, angle + away, atol=1e-9)
    assert found.measured[1] is other
    assert bool(found.warnings) == (begins == TURN)
    if not away:
        told = with_turned_commands(found, spec).controls[0].values
        np.testing.assert_allclose(told, found.measured[0].values, atol=1e-9)
    alone = replace(mapped, measured=(replace(own, turns=0),))  # none jumped: they may be so
    assert with_turned_positions(alone, spec) is alone


def test_every_angle_of_a_joint_is_moved_and_no_other_of_its_name() -> None:
    """A joint with two encoders; a sensor on it that is called as another joint."""
    text = JOINTS.replace('name="turns"', 'name="turns" range="-120 120"').replace(
        "</worldbody>",
        '<body><joint name="other"/><geom size=".1"/></body></worldbody>'
        '<sensor><jointpos name="other" joint="turns"/></sensor>',
    )
    near = 0.6 * np.sin(TIMES)
    own = MappedSignal(SignalKind.QPOS, "turns", TIMES, near + TURN, False, None, turns=1)
    second = replace(own, kind=SignalKind.SENSOR, name="other")
    other = replace(own, name="other", values=ANGLE)
    mapped = MappedRecording("run", 0, 12.0, (), (own, second, other))
    found = with_turned_positions(mapped, mujoco.MjSpec.from_string(text)).measured
    for one in found[:2]:
        np.testing.assert_allclose(one.values, near, atol=1e-9)
    assert found[2] is other


def test_angles_within_a_range_of_two_turns_stay() -> None:
    """As an arm's may be at 4.5 rad of -2 pi to 2 pi."""
    text = JOINTS.replace('name="turns"', 'name="turns" range="-360 360"')
    own = MappedSignal(SignalKind.QPOS, "turns", TIMES, 4.5 + 0.6 * np.sin(TIMES), False, None)
    mapped = MappedRecording("run", 0, 12.0, (), (replace(own, turns=1),))
    assert with_turned_positions(mapped, mujoco.MjSpec.from_string(text)) is mapped


def test_a_step_of_most_of_a_turn_stays_while_the_joint_overshoots() -> None:
    since = np.maximum(TIMES - 1.0, 0.0)
    steps = np.where(TIMES < 1.0, 0.0, 6.0)
    swing = 6.0 * (1.0 - np.exp(-3.0 * since) * (np.cos(7.0 * since) + 3 / 7 * np.sin(7.0 * since)))
    assert np.ptp(swing) > TURN
    assert told(steps, swing, turns=0) is steps


@pytest.mark.parametrize("name", ["motor", "lift"])
def test_what_no_angle_is_told_is_not_turned_by_another_sensor(name: str) -> None:
    spec = mujoco.MjSpec.from_string(JOINTS)
    spec.add_sensor(
        name="speed", type=mujoco.mjtSensor.mjSENS_JOINTVEL,
        objtype=mujoco.mjtObj.mjOBJ_JOINT, objname="turns",
    )  # fmt: skip
    steps = np.where(np.sin(TIMES) > 0.0, 3.0, -3.0)
    control = MappedSignal(SignalKind.ACTUATOR, name, TIMES, steps, True, None)
    speed = MappedSignal(SignalKind.SENSOR, "speed", TIMES, 5.0 * np.sin(TIMES - 1.5), False, None)
    mapped = MappedRecording("run", 0, 12.0, (control,), (speed,))
    assert with_turned_commands(mapped, spec) is mapped


def turning() -> ArmRecording:
    """An arm whose first joint turns and turns."""
    model = mujoco.MjModel.from_xml_string(arm_model(1, 2, servos=True))
    data = mujoco.MjData(model)
    command = np.column_stack([ANGLE, 0.6 * np.sin(3.0 * TIMES)])
    position, velocity = np.empty_like(command), np.empty_like(command)
    for k, goal in enumerate(command):
        position[k], velocity[k], data.ctrl[:] = data.qpos, data.qvel, goal
        for _ in range(5):
            mujoco.mj_step(model, data)
    noise = 5e-4 * np.random.default_rng(0).standard_normal(position.shape)
    return ArmRecording(TIMES, position + noise, velocity, command)


def checked(folder: Path, recording: ArmRecording) -> tuple[Finding, ...]:
    """What is found in a recording of it."""
    file = write_experiment(folder, arm_model(1, 2, servos=True), recording)
    return check_experiment(load_experiment(file), None)


def test_check_finds_nothing_in_angles_modulo_a_turn(tmp_path: Path) -> None:
    command = turning().changed("command", 0, modulo)
    assert checked(tmp_path / "command", command) == ()
    assert checked(tmp_path / "both", command.changed("position", 0, modulo)) == ()


def test_radians_beyond_the_range_of_a_joint_are_no_degrees(tmp_path: Path) -> None:
    model = arm_model(1, 2, servos=True).replace('name="j0"', 'name="j0" range="-180 180"')
    recording = turning().changed("command", 0, modulo).changed("position", 0, modulo)
    findings = check_experiment(load_experiment(write_experiment(tmp_path, model, recording)), None)
    assert {one.kind for one in findings} == {FindingKind.RANGE}


def test_degrees_that_jump_by_360_are_degrees(tmp_path: Path) -> None:
    right = turning()
    degrees = [modulo(np.degrees(one), 360.0) for one in (right.position, right.command)]
    found = checked(tmp_path, replace(right, position=degrees[0], command=degrees[1]))
    assert [one.kind for one in found] == [FindingKind.DEGREES] * 2
    assert [one.signals for one in found] == [("p0", "p1"), ("m0", "m1")]
    assert "'p0' jumps by 360 where a turn is over" in found[0].sentence


def test_a_slide_that_jumps_by_six_metres_is_not_joined(tmp_path: Path) -> None:
    (tmp_path / "model.xml").write_text(JOINTS)
    place = 3.0 * np.sin(0.7 * TIMES) % 6.2
    nothing = np.zeros((len(TIMES), 2))
    recording = ArmRecording(TIMES, np.column_stack([0.1 * ANGLE, place]), nothing, nothing)
    write_bag(tmp_path / "bag", recording, names=["turns", "slides"], commands=False)
    (tmp_path / "experiment.yaml").write_text(
        "model: model.xml\nsequences: [bag]\nsignals:\n"
        '  - {qpos: turns, topic: /joint_states, field: "position[turns]"}\n'
        '  - {qpos: slides, topic: /joint_states, field: "position[slides]"}\n'
        "parameters: [{joint: turns, damping: }]\n"
    )
    dataset = load_dataset(load_experiment(tmp_path / "experiment.yaml"), None)
    series = dataset.training[0].sensordata[0]
    assert series.signal_mapping is not None
    (column,) = series.signal_mapping["slides_qpos"][1]
    np.testing.assert_allclose(series.data[:, column], place)
    assert not any("turn" in warning for warning in dataset.warnings)
