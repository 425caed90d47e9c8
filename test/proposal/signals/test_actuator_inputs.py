# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands are assigned by names, stated orders and the array's order; by motion if it decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.proposal.signals.actuator_inputs import Assigned, command_lines
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import drives_of
from sysid_ros.proposal.signals.mapping import map_channels, map_robot
from sysid_ros.proposal.signals.orders import Order
from sysid_ros.recording.messages import parse_fields

TIMES = 1e9 + np.arange(0.0, 20.0, 0.01)
DRONE = """<mujoco><worldbody><body name="drone"><freejoint/><geom size=".1" mass="1"/>
  <site name="front"/><site name="rear"/></body></worldbody><actuator>
  <motor name="t1" site="front" gear="0 0 1 0 0 0"/><motor name="t2" site="rear"/></actuator>
</mujoco>"""
GRIPPER = """<mujoco><worldbody>
  <body><joint name="left" type="slide"/><geom size=".1" mass="1"/></body>
  <body><joint name="right" type="slide"/><geom size=".1" mass="1"/></body></worldbody>
  <tendon><fixed name="grip"><joint joint="left" coef=".5"/><joint joint="right" coef=".5"/>
  </fixed></tendon><actuator><position name="fingers" tendon="grip" kp="100"/></actuator>
</mujoco>"""
CRANK = """<mujoco><worldbody><site name="slider"/><body><joint name="wheel"/>
  <geom size=".1" mass="1"/><site name="pin" pos=".1 0 0"/></body></worldbody><actuator>
  <motor name="piston" cranksite="pin" slidersite="slider" cranklength=".3"/></actuator></mujoco>"""


def servos(count: int) -> mujoco.MjModel:
    bodies = "".join(
        f'<body><joint name="j{i}" axis="0 1 0"/><geom size=".1" mass="1"/></body>'
        for i in range(count)
    )
    actuators = "".join(f'<position name="s{i}" joint="j{i}" kp="9"/>' for i in range(count))
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{bodies}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )


def array(values: FloatArray, topic: str = "/commands") -> list[Channel]:
    kind = "std_msgs/msg/Float64MultiArray"
    quantity = "position" if "position" in topic else ""
    return [
        Channel(topic, kind, f"data[{i}]", "", quantity, i, True, (TIMES,), (column,))
        for i, column in enumerate(values.T)
    ]


def driven(names: Sequence[str], drive: str) -> mujoco.MjModel:
    """A joint of its own for each name, with a drive that is formatted with it."""
    bodies = "".join(f'<body><joint name="{n}"/><geom size=".1" mass="1"/></body>' for n in names)
    drives = "".join(map(drive.format, names))
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{bodies}</worldbody><actuator>{drives}</actuator></mujoco>"
    )


def test_arrays_are_of_the_actuators_that_their_topics_name() -> None:
    """Two of two motors each, of which neither the length nor a word of all of them tells which."""
    names = ("left_wheel", "main_brush", "right_wheel", "side_brush")
    model = driven(names, '<motor name="{0}_motor" joint="{0}"/>')
    values = motions(4)
    told = [*array(values[:, :2], "/motor_pwm/brushes"), *array(values[:, 2:], "/wheel_pwm")]
    found = command_lines(model, drives_of(model), told, {}, [])
    assert {line.name: (line.channel.topic, line.channel.index) for line in found.lines} == {
        "main_brush_motor": ("/motor_pwm/brushes", 0),
        "side_brush_motor": ("/motor_pwm/brushes", 1),
        "left_wheel_motor": ("/wheel_pwm", 0),
        "right_wheel_motor": ("/wheel_pwm", 1),
    }


@pytest.mark.parametrize(
    ("others", "measured"), [([], True), (["/left_arm"], True), (["/left_arm"], False)]
)
def test_a_word_of_a_topic_does_not_outweigh_motion(others: list[str], measured: bool) -> None:
    """The left one's gripper, of which no actuator has the word, moves what is not called left."""
    names = ("left_shoulder", "left_elbow", "finger_a", "finger_b")
    model = driven(names, '<position name="{0}" joint="{0}"/>')
    values = motions(4)
    told = [channel for topic in others for channel in array(values[:, :2], topic)]
    told += array(values[:, 2:], "/left_gripper")
    known = positions(values) if measured else {}
    found = command_lines(model, drives_of(model), told, known, [])
    lines = {line.name: line.channel.topic for line in found.lines}
    right = dict.fromkeys(names[2:], "/left_gripper")
    right |= {name: topic for name in names[:2] for topic in others}
    # Where nothing tells which of the two is the arm's, neither is taken.
    assert lines == (right if measured else {})
    assert measured or {line.name: line.channel.topic for line in found.possible} == right


def positions(values: FloatArray) -> dict[int, Channel]:
    kind = "sensor_msgs/msg/JointState"
    return {
        i: Channel(
            "/joint_states", kind, f"position[j{i}]", f"j{i}", "position", i, False, (TIMES,),
            (column,),
        )
        for i, column in enumerate(values.T)
    }  # fmt: skip


def motions(count: int, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    angle = TIMES[:, None, None] * rng.uniform(1.0, 8.0, (count, 5)) + rng.uniform(0, 6, (count, 5))
    return np.asarray(np.sin(angle).sum(axis=2))


def fields(found: Assigned) -> dict[str, str]:
    return {line.name: line.channel.field for line in found.lines}


def late(values: FloatArray) -> FloatArray:
    return np.roll(values, 3, axis=0)


def assigned(
    model: mujoco.MjModel,
    measured: FloatArray,
    commands: list[Channel],
    orders: tuple[Order, ...] = (),
) -> Assigned:
    return command_lines(model, drives_of(model), commands, positions(measured), orders)


def test_set_points_of_joints_controllers_are_commands_of_servos_but_of_no_motor() -> None:
    wanted = motions(2)
    kind = "control_msgs/msg/JointControllerState"
    told = [
        Channel(f"/j{i}_controller/state", kind, "set_point", "", "position", 0, True, (TIMES,),
                (wanted[:, i],))
        for i in range(2)
    ]  # fmt: skip
    found = {line.name: line.channel.topic for line in assigned(servos(2), wanted, told).lines}
    assert found == {"s0": "/j0_controller/state", "s1": "/j1_controller/state"}
    motor = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j0"/><geom size=".1"/></body></worldbody><actuator>'
        '<motor joint="j0" name="j0"/></actuator></mujoco>'
    )
    assert not assigned(motor, wanted[:, :1], told[:1]).lines


def test_equal_commands_keep_the_order_of_the_array() -> None:
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    chirp = np.sin(2.0 * (TIMES - TIMES[0]) ** 1.5)[:, None] * signs
    noise = 1e-3 * np.random.default_rng(0).standard_normal(chirp.shape)
    found = assigned(servos(4), 0.9 * late(chirp) + noise, array(chirp))
    assert fields(found) == {f"s{i}": f"data[{i}]" for i in range(4)}
    assert not any(line.doubt for line in found.lines)
    assert all("order of the model's actuators" in line.grounds for line in found.lines)


def test_one_joint_in_a_namespace_hides_no_array_outside_of_it() -> None:
    """An arm publishes in ``/arm``, the base that it stands on in none."""
    wanted = motions(3)
    measured = positions(late(wanted))
    measured[2] = replace(measured[2], topic="/arm/joint_states")
    told = [*array(wanted[:, :2], "/wheels/commands"), *array(wanted[:, 2:], "/arm/x/commands")]
    model = servos(3)
    found = command_lines(model, drives_of(model), told, measured, ())
    topics = {line.name: line.channel.topic for line in found.lines}
    assert topics == {"s0": "/wheels/commands", "s1": "/wheels/commands", "s2": "/arm/x/commands"}


def test_places_for_more_motors_than_there_are_and_numbers_of_a_gripper_are_inputs() -> None:
    wanted = motions(3)
    spare = array(np.hstack([wanted, np.zeros((len(TIMES), 2))]))
    found = assigned(servos(3), late(wanted), spare)
    assert fields(found) == {f"s{i}": f"data[{i}]" for i in range(3)}
    assert not assigned(servos(3), late(wanted), array(motions(5, 1))).lines
    kind = "control_msgs/msg/GripperCommand"
    asked = [
        Channel("/gripper/command", kind, field, "", quantity, 0, True, (TIMES,), (values,))
        for field, quantity, values in (
            ("position", "position", wanted[:, 0]), ("max_effort", "effort", 0.0 * TIMES + 5.0)
        )
    ]  # fmt: skip
    assert fields(assigned(servos(1), late(wanted[:, :1]), asked)) == {"s0": "position"}
    motor = servos(1)
    motor.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_NONE
    named = [replace(one, topic="/s0/command") for one in asked]
    assert not assigned(motor, late(wanted[:, :1]), named).lines  # a limit is no torque


def test_an_order_that_motion_refutes_is_left_and_both_scores_are_told() -> None:
    wanted = motions(3)
    found = assigned(servos(3), late(wanted[:, [1, 0, 2]]), array(wanted))
    assert fields(found) == {"s0": "data[1]", "s1": "data[0]", "s2": "data[2]"}
    first = found.lines[0]
    assert "correlation 0.9" in first.doubt and "not data[0]" in first.doubt
    assert not found.lines[2].doubt


def test_weak_correlations_do_not_change_the_order() -> None:
    wanted = motions(3)
    blurred = 0.4 * late(wanted[:, [1, 0, 2]]) + motions(3, 7)
    found = assigned(servos(3), blurred, array(wanted))
    assert fields(found) == {f"s{i}": f"data[{i}]" for i in range(3)}
    assert all("guess" in line.doubt for line in found.lines)


def test_an_order_that_the_recording_states_comes_before_that_of_the_model() -> None:
    wanted = motions(3)
    orders = (Order(("a", "b", "c"), "/other"), Order(("j2", "j0", "j1"), "/arm/state"))
    found = assigned(servos(3), late(wanted), array(wanted), orders)
    assert fields(found) == {"s0": "data[1]", "s1": "data[2]", "s2": "data[0]"}
    assert {line.grounds for line in found.lines} == {"in the order of /arm/state"}


def test_an_array_of_another_length_is_assigned_by_motion_if_that_decides() -> None:
    wanted = motions(4)
    found = assigned(servos(3), late(wanted[:, [3, 1, 0]]), array(wanted))
    assert fields(found) == {"s0": "data[3]", "s1": "data[1]", "s2": "data[0]"}
    assert all("next best" in line.doubt for line in found.lines)


def test_what_motion_does_not_decide_is_only_possible() -> None:
    wanted = motions(4)
    found = assigned(servos(3), motions(3, 5) + 0.5 * wanted[:, :3], array(wanted))
    assert found.lines == ()
    assert {line.name for line in found.possible} == {"s0", "s1", "s2"}
    assert all("next best" in line.doubt for line in found.possible)


ROVER = """<mujoco><worldbody>
  <body><joint name="w1"/><geom size=".1" mass="1"/></body>
  <body><joint name="w2"/><geom size=".1" mass="1"/></body>
  <body><joint name="a1"/><geom size=".1" mass="1"/></body>
  <body><joint name="a2"/><geom size=".1" mass="1"/></body></worldbody><actuator>
  <velocity name="left" joint="w1" kv="9"/><velocity name="right" joint="w2" kv="9"/>
  <position name="lift" joint="a1" kp="9"/><position name="reach" joint="a2" kp="9"/></actuator>
</mujoco>"""


def test_of_two_arrays_of_one_length_the_one_that_is_followed_is_taken() -> None:
    wheels, arm = motions(2), motions(2, 1)
    moved = np.column_stack([0.01 * np.cumsum(wheels, axis=0), late(arm)])
    commands = [*array(arm, "/a_commands"), *array(wheels, "/b_commands")]
    found = assigned(mujoco.MjModel.from_xml_string(ROVER), moved, commands)
    topics = {line.name: line.channel.topic for line in found.lines}
    assert topics == {
        "left": "/b_commands", "right": "/b_commands", "lift": "/a_commands", "reach": "/a_commands"
    }  # fmt: skip


def test_of_two_arrays_of_one_length_the_one_that_asks_by_name_is_taken() -> None:
    """Measured pressures of muscles are followed as well as those that are asked for."""
    values = motions(3)
    measured, asked = array(late(values), "/pressures"), array(values, "/pressure_commands")
    model = servos(3)
    found = command_lines(
        model, drives_of(model), [*measured, *asked], positions(late(late(values))), []
    )
    assert {line.channel.topic for line in found.lines} == {"/pressure_commands"}


def test_wheels_of_coarse_encoders_follow_their_speeds() -> None:
    """Their rates are mostly steps of the encoder: the order of the array had seemed a guess."""
    asked, arm = 0.1 * motions(2), motions(2, 1)
    turned = np.cumsum(asked, axis=0) * 0.01
    moved = np.column_stack([np.round(turned / 0.01) * 0.01, late(arm)])
    commands = [*array(asked, "/b_commands"), *array(arm, "/position_commands")]
    found = assigned(mujoco.MjModel.from_xml_string(ROVER), moved, commands)
    wheels = [line for line in found.lines if line.channel.topic == "/b_commands"]
    assert [line.name for line in wheels] == ["left", "right"]
    assert not any(line.doubt for line in wheels)


def test_drives_of_a_topic_each_are_named_by_it() -> None:
    """As ODrive's: positions and commands among other numbers, in messages that name no joint."""
    asked = motions(2)
    turned = 0.01 * np.cumsum(asked, axis=0)
    status = {"pos_estimate": turned, "vel_estimate": asked, "torque_estimate": 0.1 * asked}
    told = {"input_pos": 0.0 * asked, "input_vel": asked, "input_torque": 0.0 * asked}
    quantity = {"pos": "position", "vel": "velocity", "torque": "effort"}
    channels = [
        Channel(
            f"/{wheel}/{topic}", f"odrive_can/msg/{kind}", field, "",
            next(value for key, value in quantity.items() if key in field), 0, commanded, (TIMES,),
            (values[:, i],),
        )
        for i, wheel in enumerate(("w1", "w2"))
        for topic, kind, commanded, fields in (
            ("controller_status", "ControllerStatus", False, status),
            ("control_message", "ControlMessage", True, told),
        )
        for field, values in fields.items()
    ]  # fmt: skip
    wheels = ROVER.partition("<position")[0] + "</actuator></mujoco>"
    found = map_channels(mujoco.MjModel.from_xml_string(wheels), channels)
    lines = {(line.kind, line.name, line.channel.topic, line.channel.field) for line in found.lines}
    assert lines >= {
        ("actuator", "left", "/w1/control_message", "input_vel"),
        ("actuator", "right", "/w2/control_message", "input_vel"),
        ("qpos", "w1", "/w1/controller_status", "pos_estimate"),
        ("qpos", "w2", "/w2/controller_status", "pos_estimate"),
    }


def test_two_arrays_that_nothing_follows_are_only_possible() -> None:
    model = mujoco.MjModel.from_xml_string(ROVER)
    commands = [*array(motions(2), "/a_commands"), *array(motions(2, 1), "/b_commands")]
    found = assigned(model, motions(4, 2), commands)
    assert not found.lines
    assert {line.name for line in found.possible} == {"left", "right", "lift", "reach"}
    assert all("/a_commands or /b_commands" in line.grounds for line in found.possible[:2])


def test_commands_that_say_another_quantity_are_only_possible() -> None:
    model = mujoco.MjModel.from_xml_string(DRONE)
    found = map_channels(model, array(motions(2), "/position_controller/commands"))
    assert found.lines == ()
    assert {line.name: line.channel.field for line in found.possible} == {
        "t1": "data[0]",
        "t2": "data[1]",
    }
    assert any("'t1' has no input" in note for note in found.unmapped)


def test_single_numbers_are_named_by_their_topics() -> None:
    wanted = motions(2)
    commands = [
        Channel(f"/j{i}_controller/command", "std_msgs/msg/Float64", "data", "", "", 0, True,
                (TIMES,), (wanted[:, i],))
        for i in (1, 0)
    ]  # fmt: skip
    found = assigned(servos(2), late(wanted), commands)
    topics = {line.name: line.channel.topic for line in found.lines}
    assert topics == {"s0": "/j0_controller/command", "s1": "/j1_controller/command"}


def test_the_only_number_of_a_makers_type_is_named_by_its_topic() -> None:
    """As of amplifiers that are told currents, which is no quantity of a joint."""
    model = driven(["x_axis", "y_axis"], '<motor name="{0}_motor" joint="{0}" gear="55"/>')
    channels = [
        asked(f"/{name}/{topic}", f"stage_msgs/msg/{kind}", values, field=field)
        for name, values in zip(("x_axis", "y_axis"), motions(2).T, strict=True)
        for topic, kind, field in (
            ("current_command", "Current", "current_a"),
            ("info", "Info", "current_a"),  # asks for nothing
            ("limits_command", "Limits", "current_a"),
            ("limits_command", "Limits", "rise_time"),
        )
    ]
    lines = map_channels(model, channels).lines
    assert {(line.name, line.channel.topic) for line in lines} == {
        (f"{name}_motor", f"/{name}/current_command") for name in ("x_axis", "y_axis")
    }


def test_what_has_the_name_of_another_actuator_on_the_joint_is_not_told_its_servo() -> None:
    """A brake that is commanded by a topic of its own, and the array of the servos beside it."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint name="tilt"/><geom size=".1" mass="1"/>
        <body><joint name="roll"/><geom size=".1" mass="1"/></body></body></worldbody><actuator>
        <position name="tilt_servo" joint="tilt" kp="9"/><damper name="tilt_brake" joint="tilt"
        ctrlrange="0 1" kv="3"/><position name="roll_servo" joint="roll" kp="9"/></actuator>
        </mujoco>"""
    )
    values = motions(3)
    brake = replace(array(values[:, 2:], "/tilt_brake/command")[0], msgtype="std_msgs/msg/Float64",
                    field="data", index=0)  # fmt: skip
    told = [brake, *array(values[:, :2], "/head_controller/commands")]
    found = command_lines(model, drives_of(model), told, {}, [])
    assert {line.name: (line.channel.topic, line.channel.index) for line in found.lines} == {
        "tilt_brake": ("/tilt_brake/command", 0),
        "tilt_servo": ("/head_controller/commands", 0),
        "roll_servo": ("/head_controller/commands", 1),
    }


def test_arrays_of_one_number_are_named_by_their_topics_too() -> None:
    wanted = motions(2)
    commands = [*array(wanted[:, 1:], "/j1_position_controller/commands"),
                *array(wanted[:, :1], "/j0_position_controller/commands")]  # fmt: skip
    found = assigned(servos(2), late(wanted), commands)
    topics = {line.name: line.channel.topic for line in found.lines}
    assert topics == {f"s{k}": f"/j{k}_position_controller/commands" for k in (0, 1)}
    assert not any(line.doubt for line in found.lines)


def test_of_two_robots_the_commands_go_with_the_positions() -> None:
    wanted = motions(2)
    commands = [
        replace(channel, name=f"j{k}", topic=f"/{space}/commands")
        for space in ("a", "b")
        for k, channel in enumerate(array(wanted))
    ]
    for space in ("a", "b"):
        told = positions(late(wanted))
        own = {k: replace(one, topic=f"/{space}/joint_states") for k, one in told.items()}
        found = command_lines(servos(2), drives_of(servos(2)), commands, own, [])
        assert {line.channel.topic for line in found.lines} == {f"/{space}/commands"}


@pytest.mark.parametrize(
    ("xml", "names"), [(DRONE, ["t1", "t2"]), (GRIPPER, ["fingers"]), (CRANK, ["piston"])]
)
def test_sites_tendons_and_cranks_get_inputs(xml: str, names: list[str]) -> None:
    model = mujoco.MjModel.from_xml_string(xml)
    found = map_channels(model, array(motions(len(names)), "/thrusts"))
    lines = {line.name: line.channel.field for line in found.lines}
    assert lines == {name: f"data[{i}]" for i, name in enumerate(names)}
    assert not any("has no input" in note for note in found.unmapped)


def test_a_tendon_follows_its_length() -> None:
    model = mujoco.MjModel.from_xml_string(GRIPPER)
    wanted = motions(3)
    fingers = np.stack([late(wanted[:, 1])] * 2, axis=1)
    found = assigned(model, fingers, array(wanted))
    assert fields(found) == {"fingers": "data[1]"}


def test_of_two_robots_the_commands_beside_the_positions_count() -> None:
    motion = np.sin(np.outer(TIMES - 1e9, [1.0, 1.7]))
    seen = {
        joint: replace(one, topic="/b/joint_states") for joint, one in positions(motion).items()
    }
    model = servos(2)
    commands = [*array(motion, "/a/commands"), *array(motion, "/b/commands")]
    found = command_lines(model, drives_of(model), commands, seen, [])
    assert [(line.name, line.channel.topic) for line in found.lines] == [
        ("s0", "/b/commands"), ("s1", "/b/commands"),
    ]  # fmt: skip
    assert not found.possible


def test_a_command_that_never_changes_is_possible_only() -> None:
    model, motion = servos(2), np.sin(np.outer(TIMES - 1e9, [1.0, 1.7]))
    found = command_lines(
        model, drives_of(model), array(np.ones_like(motion)), positions(motion), []
    )
    assert not found.lines
    assert [(line.name, line.grounds) for line in found.possible] == [
        ("s0", "/commands never changes"), ("s1", "/commands never changes"),
    ]  # fmt: skip


def asked(topic: str, kind: str, values: FloatArray, quantity: str = "", field: str = "data"):
    return Channel(topic, kind, field, "", quantity, 0, True, (TIMES,), (values,))


def test_two_parts_of_a_topic_are_a_name_too_and_a_field_is_one() -> None:
    wanted = motions(2)
    bare, named = "uuv_msgs/msg/FloatStamped", "rover_msgs/msg/Drive"
    parts = [asked(f"/fins/id_{i}/input", bare, wanted[:, i]) for i in (1, 0)]
    fields = [asked("/cmd_drive", named, wanted[:, i], "position", f"fin_{i}_pos") for i in (1, 0)]
    model = servos(2)
    xml = "".join(
        f'<body><joint name="fin_{i}" axis="0 1 0"/><geom size=".1" mass="1"/></body>'
        for i in range(2)
    ) + "</worldbody><actuator>" + "".join(
        f'<position name="fin_{i}" joint="fin_{i}" kp="9"/>' for i in range(2)
    )  # fmt: skip
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{xml}</actuator></mujoco>")
    for commands in (parts, fields):
        lines = assigned(model, late(wanted), commands).lines
        told = {line.name: (line.channel.topic, line.channel.field) for line in lines}
        assert told == {
            f"fin_{i}": (commands[1 - i].topic, commands[1 - i].field) for i in range(2)
        }
        assert not any(line.doubt for line in lines)


def test_a_rotor_is_told_how_fast_it_turns_but_a_joints_motor_is_not() -> None:
    model = mujoco.MjModel.from_xml_string(DRONE)
    speeds = [
        asked(f"/{name}/cmd_rpm", "std_msgs/msg/Float64", 9.0 + values, "velocity")
        for name, values in zip(("t2", "t1"), motions(2).T, strict=True)
    ]
    lines = {line.name: line for line in map_channels(model, speeds).lines}
    assert {name: line.channel.topic for name, line in lines.items()} == {
        "t1": "/t1/cmd_rpm",
        "t2": "/t2/cmd_rpm",
    }
    assert all("is the velocity of" in line.doubt for line in lines.values())
    assert all(line.channel.field.endswith(" * data^2") for line in lines.values())
    wheel = DRONE.replace('site="front" gear="0 0 1 0 0 0"', 'joint="j"').replace(
        "<freejoint/>", '<joint name="j"/>'
    )
    found = map_channels(mujoco.MjModel.from_xml_string(wheel), speeds)
    assert "t1" not in {line.name for line in found.lines if line.kind == "actuator"}


def test_an_array_of_rotors_speeds_drives_thrusts_by_their_squares() -> None:
    model = mujoco.MjModel.from_xml_string(DRONE)
    speeds = [
        Channel(
            "/motor_speed", "actuator_msgs/msg/Actuators", f"velocity[{i}]", "", "velocity", i,
            True, (TIMES,), (600.0 + values,),
        )
        for i, values in enumerate(motions(2).T)
    ]  # fmt: skip
    lines = [line for line in map_channels(model, speeds).lines if line.kind == "actuator"]
    terms = [parse_fields(line.channel.field) for line in lines]
    assert [(str(one.path), one.power) for (one,) in terms] == [
        ("velocity[0]", 2),
        ("velocity[1]", 2),
    ]
    assert [line.name for line in lines] == ["t1", "t2"]
    assert "bear the weight of drone" in lines[0].doubt
    servoed = servos(2)  # whose joints no speed is the position of
    assert not [one for one in map_channels(servoed, speeds).lines if "^2" in one.channel.field]


def test_targets_are_where_a_message_of_their_type_has_angles() -> None:
    """A vendor's type for both, told apart by topics; nested in legs, whose order motion hides."""
    wanted = motions(4, 5)
    kind = "walker_msgs/msg/Legs"

    def legs(topic: str, values: FloatArray) -> list[Channel]:
        return [
            Channel(topic, kind, f"leg[{i // 2}].{('hip', 'knee')[i % 2]}", "", "position", i // 2,
                    True, (TIMES,), (values[:, i],))
            for i in range(4)
        ]  # fmt: skip

    swapped = 0.2 * wanted + wanted[:, [2, 3, 0, 1]]  # as legs that swing in turns look
    channels = [*legs("/joint_positions", swapped), *legs("/joint_goals", wanted)]
    found = map_channels(servos(4), channels).lines
    told = {(line.kind, line.name): (line.channel.topic, line.channel.field) for line in found}
    places = ["leg[0].hip", "leg[0].knee", "leg[1].hip", "leg[1].knee"]
    assert told == {
        **{("qpos", f"j{i}"): ("/joint_positions", place) for i, place in enumerate(places)},
        **{("actuator", f"s{i}"): ("/joint_goals", place) for i, place in enumerate(places)},
    }


def test_a_bare_number_beside_a_servos_input_is_its_position() -> None:
    wanted = motions(2)
    kind = "uuv_msgs/msg/FloatStamped"
    channels = [
        asked(f"/fins/s{i}/{what}", kind, values[:, i])
        for i in range(2)
        for what, values in (
            ("input", wanted),
            ("output", late(wanted)),
        )
    ]
    lines = map_channels(servos(2), channels).lines
    assert {(line.kind, line.name): line.channel.topic for line in lines} == {
        ("qpos", "j0"): "/fins/s0/output",
        ("qpos", "j1"): "/fins/s1/output",
        ("actuator", "s0"): "/fins/s0/input",
        ("actuator", "s1"): "/fins/s1/input",
    }


def test_joints_that_are_driven_have_positions_that_are_as_many_as_they() -> None:
    """A snake on passive wheels publishes the angles between its links, without names."""
    xml = "".join(
        f'<body><joint name="{name}" axis="0 1 0"/><geom size=".1" mass="1"/></body>'
        for name in ("wheel_0", "bend_0", "wheel_1", "bend_1")
    ) + "</worldbody><actuator>" + "".join(
        f'<position name="s{i}" joint="bend_{i}" kp="9"/>' for i in range(2)
    )  # fmt: skip
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{xml}</actuator></mujoco>")
    told = [replace(one, command=False) for one in array(motions(2), "/positions")]
    lines = map_channels(model, told).lines
    assert {line.name: line.channel.field for line in lines} == {
        "bend_0": "data[0]", "bend_1": "data[1]",
    }  # fmt: skip


def test_a_command_of_no_quantity_goes_to_what_it_names_beside_others_that_have_one() -> None:
    """A rail under a controller of its own, whose messages do not say what its values are."""
    moved = motions(3)
    arm, rail = "trajectory_msgs/msg/JointTrajectory", "control_msgs/msg/MultiDOFCommand"
    told = [
        Channel("/arm", arm, f"points[-1].positions[j{i}]", f"j{i}", "position", i, True, (TIMES,),
                (moved[:, i],))
        for i in (0, 1)
    ]  # fmt: skip
    told.append(Channel("/rail", rail, "values[j2]", "j2", "", 0, True, (TIMES,), (moved[:, 2],)))
    model = servos(3)
    found = command_lines(model, drives_of(model), told, positions(late(moved)), [])
    assert {line.name: line.channel.topic for line in found.lines} == {
        "s0": "/arm", "s1": "/arm", "s2": "/rail",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["asked for", "offsets", "beside commands"])
def test_what_a_controller_s_state_has_beside_the_measured_positions_is_possible(kind: str) -> None:
    """Its fields do not say that they are asked for; what joints do not follow is not."""
    asked, model = motions(2), servos(2)
    told = 0.01 * motions(2, seed=5) if kind == "offsets" else asked
    channels = [
        replace(one, topic="/admittance/state", field=f"joint_state.{one.field}")
        for one in positions(told).values()
    ]
    channels += array(asked) if kind == "beside commands" else []
    found = command_lines(model, drives_of(model), channels, positions(late(asked)), [])
    assert {line.name for line in found.lines} == ({"s0", "s1"} if "commands" in kind else set())
    possible = {line.name: line.channel.field for line in found.possible}
    wanted = {f"s{i}": f"joint_state.position[j{i}]" for i in (0, 1)}
    assert possible == (wanted if kind == "asked for" else {})


def test_what_a_state_repeats_is_taken_from_what_was_sent() -> None:
    """Both arrays follow each other to a sample, so that motion cannot decide between them."""
    asked = motions(2)
    shown = [
        replace(one, topic="/state", msgtype="lbr_fri_idl/msg/LBRState", field=f"command[{i}]",
                values=(np.roll(asked[:, i], 1),))
        for i, one in enumerate(array(asked))
    ]  # fmt: skip
    found = assigned(servos(2), late(asked), [*shown, *array(asked)])
    assert [line.channel.topic for line in found.lines] == ["/commands", "/commands"]


def test_fields_of_a_message_are_named_as_what_they_are_for() -> None:
    """One of several numbers of a message, of which nothing says what quantity it is."""
    model = mujoco.MjModel.from_xml_string(DRONE.replace('"t1"', '"thrust"'))
    engine = [
        Channel("/engine", "rocket_msgs/msg/EngineCommand", field, "", "", 0, True, (TIMES,),
                (motions(1, seed)[:, 0],))
        for seed, field in enumerate(("thrust", "t2", "mixture"))
    ]  # fmt: skip
    found = assigned(model, np.zeros((len(TIMES), 0)), engine)
    assert {line.name: line.channel.field for line in found.lines} == {
        "thrust": "thrust",
        "t2": "t2",
    }


def test_arrays_are_of_the_robot_whose_name_begins_its_actuators() -> None:
    """Two drones, whose names are too short for words that tell."""
    sites = "".join(
        f'<body name="{n}"><freejoint/><geom size=".1"/><site name="{n}_m1"/><site name="{n}_m2"/>'
        "</body>"
        for n in ("cf1", "cf2")
    )
    motors = "".join(f'<motor name="{n}_m{i}" site="{n}_m{i}"/>' for n in ("cf1", "cf2")
                     for i in (1, 2))  # fmt: skip
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{sites}</worldbody><actuator>{motors}</actuator></mujoco>"
    )
    told = [*array(motions(2), "/cf2/thrusts"), *array(motions(2, 1), "/cf1/thrusts")]
    found = command_lines(model, drives_of(model), told, {}, [])
    assert {line.name: (line.channel.topic, line.channel.index) for line in found.lines} == {
        f"{n}_m{i + 1}": (f"/{n}/thrusts", i) for n in ("cf1", "cf2") for i in (0, 1)
    }


def twist(speeds: FloatArray) -> list[Channel]:
    kind = "geometry_msgs/msg/TwistStamped"
    return [
        Channel("/cmd_vel", kind, f"twist.{part}", "", "", 0, True, (TIMES,), (values,))
        for part, values in zip(("linear.x", "angular.z"), speeds.T, strict=True)
    ]


def test_speeds_of_a_base_are_the_inputs_of_tendons_that_follow_them() -> None:
    car = (
        GRIPPER.replace('type="slide"', "")
        .replace("<position", "<velocity")
        .replace('kp="100"', 'kv="9"')
    )
    turn = '<fixed name="turn"><joint joint="left" coef="-2"/><joint joint="right" coef="2"/>' \
        "</fixed></tendon>"  # fmt: skip
    car = car.replace("</tendon>", turn).replace(
        "</actuator>", '<velocity name="yaw" tendon="turn" kv="1"/></actuator>'
    )
    asked = motions(2)
    moved = late(np.cumsum(asked @ np.array([[1.0, 1.0], [-0.25, 0.25]]), axis=0) * 0.01)
    found = assigned(mujoco.MjModel.from_xml_string(car), moved, twist(asked))
    assert {line.name: line.channel.field for line in found.lines} == {
        "fingers": "twist.linear.x",
        "yaw": "twist.angular.z",
    }
    assert all("correlation" in line.doubt for line in found.lines)


def test_steering_angles_and_speeds_of_a_car_are_those_of_servos_that_follow_them() -> None:
    """Both steered wheels turn about as the angle says; a driven wheel as the speed."""
    hinges = "".join(f'<body><joint name="{j}"/><geom size=".1" mass="1"/></body>' for j in "lrw")
    car = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>{hinges}</worldbody>
        <tendon><fixed name="axle"><joint joint="w" coef=".3"/></fixed></tendon>
        <actuator><position name="left" joint="l" kp="9"/><position name="right" joint="r" kp="9"/>
          <velocity name="drive" tendon="axle" kv="9"/><velocity name="wheel" joint="w" kv="9"/>
        </actuator></mujoco>""")
    motion, kind = motions(2), "ackermann_msgs/msg/AckermannDriveStamped"
    told = [
        Channel("/drive", kind, f"drive.{field}", "", quantity, 0, True, (TIMES,), (values,))
        for field, quantity, values in zip(
            ("steering_angle", "speed"), ("position", "velocity"), motion.T, strict=True
        )
    ]
    angle, way = motion[:, 0], np.cumsum(motion[:, 1]) * 0.01 / 0.3
    moved = late(np.stack([angle + 0.02 * angle**2, angle - 0.02 * angle**2, way], axis=1))
    assert {line.name: line.channel.field for line in assigned(car, moved, told).lines} == {
        "left": "drive.steering_angle",
        "right": "drive.steering_angle",
        "drive": "drive.speed",
        "wheel": "3.33 * drive.speed",
    }


@pytest.mark.parametrize("steered", [1, 2])
def test_a_car_of_which_odometry_alone_tells_is_asked_whether_its_servo_has_the_angle(
    steered: int,
) -> None:
    """One servo and one velocity of a tendon leave no choice; of two servos neither is sure."""
    names = ("left", "right")[:steered]
    hinges = "".join(f'<body><joint name="{j}"/><geom size=".1"/></body>' for j in (*names, "w"))
    turned = "".join(f'<position name="{j}_servo" joint="{j}" kp="9"/>' for j in names)
    car = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody>{hinges}</worldbody>
        <tendon><fixed name="axle"><joint joint="w" coef=".3"/></fixed></tendon>
        <actuator>{turned}<velocity name="drive" tendon="axle" kv="9"/></actuator></mujoco>""")
    motion, kind = motions(2), "ackermann_msgs/msg/AckermannDriveStamped"
    told = [
        Channel("/drive", kind, f"drive.{field}", "", quantity, 0, True, (TIMES,), (values,))
        for field, quantity, values in zip(
            ("steering_angle", "speed"), ("position", "velocity"), motion.T, strict=True
        )
    ]
    found = map_channels(car, told)
    expected = {"drive": "drive.speed"}
    if steered == 1:
        expected["left_servo"] = "drive.steering_angle"
    assert {line.name: line.channel.field for line in found.lines} == expected
    assert all("Nothing measures" in line.doubt for line in found.lines)


@pytest.mark.parametrize(("slope", "zero"), [(-1.2135, 0.5304), (1.0, 0.0)])
def test_a_servos_number_that_repeats_a_steering_angle_is_that_angle(
    slope: float, zero: float
) -> None:
    """As a VESC's servo, which is told 0 to 1; one that is told the same in radians stays."""
    car = driven(["steering"], '<position name="steering" joint="{}" kp="9"/>')
    angle, kind = motions(1)[:, 0], "ackermann_msgs/msg/AckermannDriveStamped"
    field = "drive.steering_angle"
    told = Channel("/drive", kind, field, "", "position", 0, True, (TIMES,), (angle,))
    own = asked("/commands/servo/position", "std_msgs/msg/Float64", slope * angle + zero)
    found = map_channels(car, [told, replace(own, quantity="position", times=(TIMES + 2e-3,))])
    (line,) = found.lines
    assert line.channel.field == ("data" if slope == 1.0 else field)
    assert ("-1.214 times this angle, and 0.5304" in line.grounds) == (slope != 1.0)


def test_an_angle_that_changes_only_when_a_servo_is_told_nothing_is_not_compared_with_it() -> None:
    car = driven(["steering"], '<position name="steering" joint="{}" kp="9"/>')
    angle, early = motions(1)[:, 0], TIMES.mean() > TIMES
    kind, field = "ackermann_msgs/msg/AckermannDriveStamped", "drive.steering_angle"
    turned = np.where(early, 0.0, angle)
    told = Channel("/drive", kind, field, "", "position", 0, True, (TIMES,), (turned,))
    own = asked("/commands/servo/position", "std_msgs/msg/Float64", angle[early])
    own = replace(own, quantity="position", times=(TIMES[early],))
    (line,) = map_channels(car, [told, own]).lines
    assert line.channel.field == "data"


WEIGHTS = np.array([[10.0, 10.0], [-2.0, 2.0]])  # of forward and turning speed, by wheel


@pytest.mark.parametrize("turning", [1.0, 3.0])
def test_wheels_are_told_sums_of_the_speeds_of_their_base(turning: float) -> None:
    """With a mark, as weights are as they turned."""
    wheels = driven(["l", "r"], '<velocity name="{0}_motor" joint="{0}" kv="1"/>')
    speeds = motions(2) * [1.0, turning]
    moved = late(np.cumsum(speeds @ WEIGHTS, axis=0) * 0.01)
    lines = assigned(wheels, moved, twist(speeds)).lines
    assert [line.name for line in lines] == ["l_motor", "r_motor"]
    for line, weights in zip(lines, WEIGHTS.T, strict=True):
        forward, turn = parse_fields(line.channel.field)
        told = {str(one.path): one.weight for one in (forward, turn)}
        expected = dict(zip(("twist.linear.x", "twist.angular.z"), weights, strict=True))
        assert told == pytest.approx(expected, rel=0.05)
        np.testing.assert_allclose(line.channel.values[0], speeds @ list(told.values()))
        assert "is this what /cmd_vel asks of" in line.doubt


def test_speeds_in_one_ratio_have_no_huge_weights() -> None:
    """As on a circle, where nothing but rounding tells them apart."""
    wheel = driven(["l"], '<velocity name="{0}_motor" joint="{0}" kv="1"/>')
    forward, rounding, noise = motions(3).T
    speeds = np.stack([forward, 0.5 * forward + 1e-6 * rounding], axis=1)
    moved = late(np.cumsum(speeds @ WEIGHTS[:, :1], axis=0) * 0.01) + 1e-3 * noise[:, None]
    (line,) = assigned(wheel, moved, twist(speeds)).lines
    ahead, turn = (one.weight for one in parse_fields(line.channel.field))
    assert ahead + 0.5 * turn == pytest.approx(WEIGHTS[0, 0] + 0.5 * WEIGHTS[1, 0], rel=0.05)
    assert max(abs(ahead), abs(turn)) < 20.0


@pytest.mark.parametrize("kind", ['range="-9 9"', 'type="slide"'])
def test_what_is_no_wheel_is_told_no_sum(kind: str) -> None:
    """As an arm's joint, whose tool a ``Twist`` asks to move: near one posture it follows a sum."""
    spec = mujoco.MjSpec.from_string(f"""<mujoco><compiler angle="radian"/><worldbody>
        <body><joint name="l"/><geom size=".1" mass="1"/></body>
        <body><joint name="r" {kind}/><geom size=".1" mass="1"/></body></worldbody>
        <actuator><velocity name="l" joint="l" kv="1"/><velocity name="r" joint="r" kv="1"/>
        </actuator></mujoco>""")
    speeds = motions(2)
    moved = late(np.cumsum(speeds @ WEIGHTS, axis=0) * 0.01)
    lines = assigned(spec.compile(), moved, twist(speeds)).lines
    assert [line.name for line in lines] == ["l"]


@pytest.mark.parametrize("stands", [False, True])
def test_a_wheel_that_nothing_measures_or_that_stands_follows_no_sum(stands: bool) -> None:
    wheels = driven(["l", "r"], '<velocity name="{0}_motor" joint="{0}" kv="1"/>')
    speeds = motions(2)
    moved = late(np.cumsum(speeds @ WEIGHTS, axis=0) * 0.01)
    moved[:, 1] = 0.5
    lines = assigned(wheels, moved if stands else moved[:, :1], twist(speeds)).lines
    assert [line.name for line in lines] == ["l_motor"]


def test_a_speed_that_is_no_number_once_is_left_out_of_a_sum() -> None:
    """Channels have numbers alone."""
    wheel = driven(["l"], '<velocity name="{0}_motor" joint="{0}" kv="1"/>')
    speeds = motions(2)
    moved = late(np.cumsum(speeds @ WEIGHTS[:, :1], axis=0) * 0.01)
    forward, turn = twist(speeds)
    known = np.arange(len(TIMES)) != 7
    turn = replace(turn, times=(TIMES[known],), values=(speeds[known, 1],))
    (line,) = assigned(wheel, moved, [forward, turn]).lines
    weights = [one.weight for one in parse_fields(line.channel.field)]
    np.testing.assert_array_equal(line.channel.times[0], TIMES[known])
    np.testing.assert_allclose(line.channel.values[0], speeds[known] @ weights)


@pytest.mark.parametrize(
    ("held_back", "wider", "exact"), [(0.8, 1.0, True), (0.3, 1.0, False), (1.0, 2.0, False)]
)
def test_weights_are_the_models_where_its_wheels_roll_as_they_did(
    held_back: float, wider: float, exact: bool
) -> None:
    """Friction that a servo does not overcome makes a wheel turn less than it is asked to.

    On skids the track that wheels are told is wider than the model's.
    """
    places = zip(("l", "r"), (0.2, -0.2), strict=True)
    wheels = "".join(
        f'<body pos="0 {y} 0"><joint name="{j}" axis="0 1 0"/><geom size=".1" mass="1"/></body>'
        for j, y in places
    )
    drives = "".join(f'<velocity name="{j}_motor" joint="{j}" kv="1"/>' for j in "lr")
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{wheels}</worldbody><actuator>{drives}</actuator></mujoco>"
    )
    speeds = motions(2) * [1.0, 3.0 / wider**2]
    moved = late(np.cumsum(held_back * speeds * [1.0, wider] @ WEIGHTS, axis=0) * 0.01)
    told = [line.channel.field for line in assigned(model, moved, twist(speeds)).lines]
    expected = [f"10 * twist.linear.x {sign} 2 * twist.angular.z" for sign in "-+"]
    assert (told == expected) == exact and len(told) == 2


def test_a_wheel_that_slips_or_is_asked_by_two_topics_is_told_no_sum() -> None:
    wheels = driven(["l"], '<velocity name="{0}_motor" joint="{0}" kv="1"/>')
    speeds = motions(2)
    moved = late(np.cumsum(speeds @ WEIGHTS[:, :1], axis=0) * 0.01)
    slipping = moved + late(np.cumsum(9.0 * motions(1, 5), axis=0) * 0.01)
    assert not assigned(wheels, slipping, twist(speeds)).lines
    muxed = [replace(one, topic="/nav/cmd_vel") for one in twist(speeds)]
    assert not assigned(wheels, moved, [*twist(speeds), *muxed]).lines


def test_a_base_without_actuators_gets_velocity_servos_of_its_wheels() -> None:
    spec = mujoco.MjSpec.from_string("""<mujoco><worldbody>
        <body><joint name="l"/><geom size=".1" mass="1"/></body>
        <body><joint name="r"/><geom size=".1" mass="1"/></body></worldbody></mujoco>""")
    speeds = motions(2)
    moved = late(np.cumsum(speeds @ WEIGHTS, axis=0) * 0.01)
    states = [
        Channel("/joint_states", "sensor_msgs/msg/JointState", f"position[{name}]", name,
                "position", k, False, (TIMES,), (values,))
        for k, (name, values) in enumerate(zip("lr", moved.T, strict=True))
    ]  # fmt: skip
    served, mapping = map_robot(spec, [*states, *twist(speeds)])
    assert [(one.kind, one.name) for one in mapping.lines if one.input] == [
        ("velocity_servo", "l"),
        ("velocity_servo", "r"),
    ]
    assert len(served.actuators) == 2


@pytest.mark.parametrize("torque", ["feedforward_torque", "ff"])
def test_gains_beside_what_a_drive_is_asked_for_are_no_torques(torque: str) -> None:
    """An impedance controller's message has position, velocity, gains and torque of each joint."""
    drives = '<position name="{0}_p" joint="{0}"/><motor name="{0}_t" joint="{0}"/>'
    model = driven(("hip", "knee"), drives)
    quantities = {"position": "position", "velocity": "velocity", "kp": "", "kd": ""}
    quantities[torque] = "effort" if "torque" in torque else ""
    channels = [
        Channel(
            "/commands", "drive_msgs/msg/Impedance", f"{part}[{name}]", name, quantity, i, True,
            (TIMES,), (np.full(len(TIMES), 80.0) if part in ("kp", "kd") else np.sin(TIMES + i),),
        )
        for part, quantity in quantities.items()
        for i, name in enumerate(("hip", "knee"))
    ]  # fmt: skip
    found = command_lines(model, drives_of(model), channels, {}, ()).lines
    assert {line.name: line.channel.field for line in found} == {
        "hip_p": "position[hip]",
        "knee_p": "position[knee]",
        "hip_t": f"{torque}[hip]",
        "knee_t": f"{torque}[knee]",
    }


WHEELS = """<mujoco><worldbody><body><freejoint/><geom size=".1" mass="1"/>
  <body><joint name="left_wheel_joint"/><geom size=".1" mass="1"/></body>
  <body><joint name="right_wheel_joint"/><geom size=".1" mass="1"/></body></body></worldbody>
  <actuator><velocity name="left" joint="left_wheel_joint" kv="1"/>
  <velocity name="right" joint="right_wheel_joint" kv="1"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("topic", "based", "doubted"),
    [
        ("/wheel_speeds", True, True),
        ("/wheel_speeds", False, False),
        ("/velocity_controller/commands", True, False),
    ],
)
def test_speeds_beside_what_a_base_is_asked_for_have_a_mark(
    topic: str, based: bool, doubted: bool
) -> None:
    """They may be what its wheels did; those of a topic that asks are not."""
    channels = array(np.column_stack([np.sin(TIMES), np.cos(1.3 * TIMES)]), topic)
    if based:
        asked = replace(channels[0], topic="/cmd_vel", msgtype="geometry_msgs/msg/Twist")
        channels.append(replace(asked, field="linear.x"))
    lines = map_channels(mujoco.MjModel.from_xml_string(WHEELS), channels).lines
    assert [(one.kind, one.name) for one in lines] == [("actuator", "left"), ("actuator", "right")]
    asks = "the base is asked by /cmd_vel: is /wheel_speeds what"
    assert [asks in one.doubt for one in lines] == [doubted] * 2


def with_a_joint_that_stands(place: float) -> list[Channel]:
    """States of a knee that moves and a hip that stands, and commands of the knee alone."""
    values, still = motions(1), np.full(len(TIMES), place)
    states = [
        Channel("/joint_states", "sensor_msgs/msg/JointState", f"position[{name}]", name,
                "position", k, False, (TIMES,), (column,))
        for k, (name, column) in enumerate([("knee", values[:, 0]), ("hip", still)])
    ]  # fmt: skip
    return states + [
        replace(one, command=True, quantity="position")
        for one in array(values, "/knee_servo/commands")
    ]


@pytest.mark.parametrize(
    ("place", "drive", "told"),
    [
        (0.8, '<position name="{0}_servo" joint="{0}" kp="9"/>', True),
        (45.0, '<position name="{0}_servo" joint="{0}" kp="9" ctrlrange="-2 2"/>', False),
        (0.8, '<position name="{0}_servo" joint="{0}" kp="9" gear="3"/>', False),
        (0.8, '<motor name="{0}_servo" joint="{0}"/>', False),
    ],
)
def test_a_servo_without_a_command_is_told_where_its_joint_stands(
    place: float, drive: str, told: bool
) -> None:
    """Else it would go to zero, and the robot would have another shape than it had."""
    found = map_channels(driven(("knee", "hip"), drive), with_a_joint_that_stands(place))
    inputs = {line.name: line.channel for line in found.lines if line.kind == "actuator"}
    assert ("hip_servo" in inputs) == told
    assert any("hip" in sentence for sentence in found.unmapped) != told
    if told:
        assert inputs["hip_servo"].field == "position[hip]"
        assert any("hip stays at 0.8" in line.doubt for line in found.lines)


def test_a_servo_is_told_nothing_where_measured_torque_drives_the_robot() -> None:
    """With an input of an actuator no torque would be tested."""
    channels = [one for one in with_a_joint_that_stands(0.8) if not one.command]
    efforts = [replace(one, field=f"effort[{one.name}]", quantity="effort") for one in channels]
    model = driven(("knee", "hip"), '<position name="{0}_servo" joint="{0}" kp="9"/>')
    lines = map_channels(model, [*channels, *efforts]).lines
    assert [(line.kind, line.channel.field) for line in lines] == [
        ("qpos", "position[knee]"),
        ("sensor", "effort[knee]"),
    ]


@pytest.mark.parametrize("asked", [True, False])
def test_a_joint_that_stands_is_held_beside_servos_that_are_added(asked: bool) -> None:
    """Else it would swing, and a mass would make up for it; it is no reason to add others."""
    channels = [one for one in with_a_joint_that_stands(0.8) if asked or not one.command]
    text = '<motor name="{0}_motor" joint="{0}"/>'
    bodies = "".join(
        f'<body><joint name="{n}"/><geom size=".1" mass="1"/></body>' for n in ("knee", "hip")
    )
    motors = "".join(map(text.format, ("knee", "hip")))
    spec = mujoco.MjSpec.from_string(
        f"<mujoco><worldbody>{bodies}</worldbody><actuator>{motors}</actuator></mujoco>"
    )
    _, found = map_robot(spec, channels)
    servos_of = {line.name: line.channel.field for line in found.lines if line.kind == "servo"}
    assert servos_of == ({"knee": "data[0]", "hip": "position[hip]"} if asked else {})
