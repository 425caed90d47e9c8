# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Positions are found in messages of makers, which name no joints, and in the faster topic."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.mapping import map_channels
from sysid_ros.proposal.signals.measured_numbers import with_measured_numbers
from sysid_ros.proposal.signals.measured_positions import measured_positions
from sysid_ros.proposal.signals.recorded_commands import command_arrays

TIMES = 1e9 + np.arange(0.0, 10.0, 0.01)
JOINTS = ("shoulder", "elbow", "wrist")


def arm() -> mujoco.MjModel:
    bodies = "".join(f'<body><joint name="{n}"/><geom size=".1" mass="1"/></body>' for n in JOINTS)
    servos = "".join(
        f'<position name="axis_{i}" joint="{n}" kp="9"/>' for i, n in enumerate(JOINTS, 1)
    )
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{bodies}</worldbody><actuator>{servos}</actuator></mujoco>"
    )


def told(topic: str, msgtype: str, field: str, name: str = "", *, slower: int = 1) -> Channel:
    times = TIMES[::slower]
    index = sum(map(ord, name)) % 7
    values = np.sin((index + 1.0) * times)
    return Channel(topic, msgtype, field, name, "position", 0, False, (times,), (values,))


def found_in(channels: list[Channel]) -> dict[str, tuple[str, str]]:
    model = arm()
    return {
        str(model.joint(joint).name): (channel.topic, channel.field)
        for joint, (channel, _) in measured_positions(model, channels).items()
    }


def test_an_array_that_was_measured_comes_before_one_of_set_points() -> None:
    """Both are as long, in a message with a pose of the tool and places of joints beside them."""
    kind, topic = "lbr_fri_idl/msg/LBRState", "/lbr/state"
    parts = ("ipo_joint_position", "measured_joint_position")
    channels = [told(topic, kind, f"{part}[{i}]") for part in parts for i in range(3)]
    channels += [told("/odom", "nav_msgs/msg/Odometry", f"pose.pose.position.{a}") for a in "xyz"]
    channels += [told(topic, kind, f"tool_position.{axis}") for axis in "xyzw"]
    assert found_in(channels) == {
        name: (topic, f"measured_joint_position[{i}]") for i, name in enumerate(JOINTS)
    }


def test_topics_named_after_actuators_have_positions_of_their_joints() -> None:
    kind = "moteus_msgs/msg/ControllerState"
    channels = [told(f"/axis/id_{i}/state", kind, "position") for i in (3, 1, 2)]
    assert found_in(channels) == {
        name: (f"/axis/id_{i}/state", "position") for i, name in enumerate(JOINTS, 1)
    }


@pytest.mark.parametrize(("slower", "faster"), [(4, True), (1, False)])
def test_a_state_with_what_was_measured_outruns_a_slow_joint_state(
    slower: int, faster: bool
) -> None:
    """As a Franka's at 30 Hz beside what its state broadcaster tells at 1 kHz."""
    kind, state = "sensor_msgs/msg/JointState", "franka_msgs/msg/FrankaRobotState"
    channels = [told("/joint_states", kind, f"position[{n}]", n, slower=slower) for n in JOINTS]
    parts = ("measured_joint_motor_state", "measured_joint_state")
    channels += [
        told("/robot_state", state, f"{part}.position[{n}]", n) for part in parts for n in JOINTS
    ]
    place = ("/robot_state", "measured_joint_state.") if faster else ("/joint_states", "")
    assert found_in(channels) == {n: (place[0], f"{place[1]}position[{n}]") for n in JOINTS}


@pytest.mark.parametrize(("slower", "faster"), [(4, True), (2, False)])
def test_the_driver_outruns_a_joint_state_that_somebody_sends_again(
    slower: int, faster: bool
) -> None:
    kind = "sensor_msgs/msg/JointState"
    channels = [told("/joint_states", kind, f"position[{n}]", n, slower=slower) for n in JOINTS]
    channels += [told("/maker/joint_states", kind, f"position[{n}]", n) for n in JOINTS]
    topic = "/maker/joint_states" if faster else "/joint_states"
    assert found_in(channels) == {n: (topic, f"position[{n}]") for n in JOINTS}


def test_no_robot_outruns_the_one_that_is_asked() -> None:
    """As a leader at 1 kHz beside its follower at 250 Hz, which has the commands."""
    kind = "sensor_msgs/msg/JointState"
    channels = [
        told(f"/{robot}/joint_states", kind, f"position[{n}]", n, slower=slower)
        for robot, slower in (("b", 4), ("a", 1))
        for n in JOINTS
    ]
    asked = [replace(told("/b/asked", kind, f"position[{n}]", n), command=True) for n in JOINTS]
    found = found_in([*channels, *asked])
    assert {topic for topic, _ in found.values()} == {"/b/joint_states"}


def test_topics_that_differ_by_an_id_are_in_its_order() -> None:
    """Neither joints nor actuators are called by it, and two digits come after one."""
    status, asked = "can_msgs/msg/MotorStatus", "can_msgs/msg/MotorCommand"
    ids = (9, 10, 11)
    channels = [told(f"/can0/motor_{i}/status", status, "position") for i in reversed(ids)]
    for i in reversed(ids):
        one = told(f"/can0/motor_{i}/command", asked, "position")
        channels.append(replace(one, command=True))
    lines = map_channels(arm(), channels).lines
    assert {(line.kind, line.name): line.channel.topic for line in lines} == {
        **{("qpos", name): f"/can0/motor_{i}/status" for name, i in zip(JOINTS, ids, strict=True)},
        **{("actuator", f"axis_{k}"): f"/can0/motor_{i}/command" for k, i in enumerate(ids, 1)},
    }


def test_arrays_of_a_maker_beside_others_that_ask_were_reached() -> None:
    """As a Cheetah's leg control, whose types say neither state nor command."""
    data, asked = "leg_msgs/msg/LegData", "leg_msgs/msg/LegAsked"
    rows = (
        ("/leg_control_data", data, "p", ""), ("/leg_control_data", data, "q", "position"),
        ("/leg_control_command", asked, "p_des", ""),
        ("/leg_control_command", asked, "q_des", "position"),
    )  # fmt: skip
    channels = [
        replace(told(topic, kind, f"{field}[{i}]"), quantity=quantity, index=i, command=True, row=3)
        for topic, kind, field, quantity in rows
        for i in range(3)
    ]
    lines = map_channels(arm(), channels).lines
    assert {(line.kind, line.channel.topic, line.channel.field[:-3]) for line in lines} == {
        ("qpos", "/leg_control_data", "q"), ("actuator", "/leg_control_command", "q_des"),
    }  # fmt: skip


def test_an_array_that_is_called_feedback_was_reached() -> None:
    kind = "std_msgs/msg/Float64MultiArray"
    channels = [
        replace(told(f"/arm/joint_{word}", kind, f"data[{i}]"), quantity="", index=i, command=asked)
        for word, asked in (("feedback", False), ("command", True))
        for i in range(3)
    ]
    lines = map_channels(arm(), channels).lines
    assert {(line.kind, line.channel.topic) for line in lines} == {
        ("qpos", "/arm/joint_feedback"),
        ("actuator", "/arm/joint_command"),
    }


WHEELS = """<mujoco><worldbody><body><freejoint/><geom size=".1" mass="1"/>
  <body><joint name="left_wheel_joint"/><geom size=".1" mass="1"/></body>
  <body><joint name="right_wheel_joint"/><geom size=".1" mass="1"/></body></body></worldbody>
  <actuator><velocity name="left_wheel" joint="left_wheel_joint" kv="1"/>
  <velocity name="right_wheel" joint="right_wheel_joint" kv="1"/></actuator></mujoco>"""


@pytest.mark.parametrize("based", [True, False])
def test_speeds_of_wheels_beside_what_a_base_is_asked_for_were_measured(based: bool) -> None:
    """As a Create tells them; by themselves they may be either."""
    kind, twist = "irobot_create_msgs/msg/WheelVels", "geometry_msgs/msg/Twist"
    channels = [
        replace(told("/wheel_vels", kind, f"velocity_{side}"), quantity="velocity", command=True)
        for side in ("left", "right")
    ]
    if based:
        asked = told("/cmd_vel", twist, "linear.x")
        channels.append(replace(asked, quantity="", command=True))
    lines = map_channels(mujoco.MjModel.from_xml_string(WHEELS), channels).lines
    assert {(line.kind, line.name, line.channel.field) for line in lines} == {
        ("qvel" if based else "actuator", f"{side}_wheel{'_joint' * based}", f"velocity_{side}")
        for side in ("left", "right")
    }


def test_speeds_that_drives_tell_on_topics_of_their_own() -> None:
    """As a VESC's, whose commands were taken for what its wheel did."""
    channels = [
        replace(one, quantity="velocity", command=asked)
        for side in ("left", "right")
        for one, asked in (
            (told(f"/{side}/sensors/core", "vesc_msgs/msg/VescStateStamped", "state.speed"), False),
            (told(f"/{side}/commands/motor/speed", "std_msgs/msg/Float64", "data"), True),
        )
    ]
    lines = map_channels(mujoco.MjModel.from_xml_string(WHEELS), channels).lines
    assert {(line.kind, line.name, line.channel.topic) for line in lines} == {
        (kind, f"{side}_wheel{end}", f"/{side}/{topic}")
        for side in ("left", "right")
        for kind, end, topic in (
            ("qvel", "_joint", "sensors/core"),
            ("actuator", "", "commands/motor/speed"),
        )
    }


def test_a_mimic_joint_has_no_position_from_the_joint_that_it_follows() -> None:
    """A second topic repeats the finger; a gripper's own still tells of the thumb by a word."""
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody>"
        + "".join(
            f'<body><joint name="{name}"/><geom size=".1" mass="1"/></body>'
            for name in ("shoulder", "finger", "finger_mimic", "thumb_base")
        )
        + "</worldbody></mujoco>"
    )
    states = "sensor_msgs/msg/JointState"
    channels = [
        told("/joint_states", states, f"position[{name}]", name) for name in ("shoulder", "finger")
    ]
    channels.append(told("/dynamic_joint_states", states, "position[finger]", "finger"))
    channels.append(told("/gripper/state", "vendor_msgs/msg/Thumb", "position", "thumb"))
    found = measured_positions(model, channels)
    assert {str(model.joint(joint).name): one.topic for joint, (one, _) in found.items()} == {
        "shoulder": "/joint_states",
        "finger": "/joint_states",
        "thumb_base": "/gripper/state",
    }


@pytest.mark.parametrize(("inwards", "found"), [("in", True), ("out", False)])
def test_fields_that_are_called_as_joints_beside_what_a_topic_asks_for(
    inwards: str, found: bool
) -> None:
    """Kinova's driver tells angles and torques in one type, a number for each joint."""

    def numbers(kind: str, topic: str, quantity: str) -> list[Channel]:
        return [
            replace(told(topic, f"kinova_msgs/msg/{kind}", f"{name}_joint"), quantity=quantity)
            for name in JOINTS
        ]

    asked = numbers("JointVelocity", f"/driver/{inwards}/joint_velocity", "velocity")
    shown = numbers("JointAngles", "/driver/out/joint_angles", "position")
    forces = numbers("JointAngles", "/driver/out/joint_torques", "effort")
    channels = [replace(one, command=True) for one in (*asked, *shown, *forces)]
    read = with_measured_numbers(arm(), channels)
    assert [one.command for one in read] == [True] * 3 + [not found] * 6
    places = {name: ("/driver/out/joint_angles", f"{name}_joint") for name in JOINTS}
    assert found_in(read) == (places if found else {})


def test_fields_that_count_on_are_positions_in_order() -> None:
    """MyCobot's driver tells ``joint_1`` to ``joint_6``, of joints called by their links."""
    shown = [
        replace(told("/angles_real", "maker_msgs/msg/Angles", f"joint_{k}"), quantity="position")
        for k in (1, 2, 3)
    ]
    asked = [
        replace(told("/angles_goal", "maker_msgs/msg/SetAngles", field), quantity="position")
        for field in ("joint_1", "joint_2", "joint_3", "speed")
    ]
    channels = [replace(one, command=True) for one in (*shown, *asked)]
    read = with_measured_numbers(arm(), channels)
    assert [one.command for one in read] == [False] * 3 + [True] * 4
    places = {name: ("/angles_real", f"joint_{k}") for k, name in enumerate(JOINTS, 1)}
    assert found_in(read) == places
    assert list(command_arrays(asked)) == ["/angles_goal ", "/angles_goal speed"]
