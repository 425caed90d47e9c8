# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints get the measurements that are theirs, whichever topics have them."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.mapping import as_drafted, map_channels, map_robot

TIMES = 1e9 + np.arange(0.0, 10.0, 0.01)
HAND = """<mujoco><worldbody>
  <body><joint name="shoulder"/><geom size=".1" mass="1"/></body>
  <body><joint name="elbow"/><geom size=".1" mass="1"/></body>
  <body><joint name="finger"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


def states(topic: str, *names: str) -> list[Channel]:
    return [
        Channel(
            topic, "sensor_msgs/msg/JointState", f"position[{name}]", name, "position", i, False,
            (TIMES,), (np.sin((i + 1.0) * TIMES),),
        )
        for i, name in enumerate(names)
    ]  # fmt: skip


def topics_of(*channels: Channel) -> dict[str, str]:
    found = map_channels(mujoco.MjModel.from_xml_string(HAND), channels)
    return {line.name: line.channel.topic for line in found.lines}


def test_a_joint_that_only_another_topic_has_is_taken_from_there() -> None:
    arm = states("/arm/joint_states", "shoulder", "elbow")
    hand = states("/hand/joint_states", "finger")
    assert topics_of(*hand, *arm) == {
        "shoulder": "/arm/joint_states",
        "elbow": "/arm/joint_states",
        "finger": "/hand/joint_states",
    }


def test_one_of_several_positions_of_a_joint_is_marked() -> None:
    """A joint with an encoder on either side of its gear has two positions of one name."""
    found = [
        Channel(
            "/dynamic_joint_states", "control_msgs/msg/DynamicJointState",
            f"interface_values[{name}].values[{interface}]", name, "position", i, False,
            (TIMES,), (np.sin((i + 1.0) * TIMES),),
        )
        for i, name in enumerate(("shoulder", "elbow", "finger"))
        for interface in ("motor_position", "position")
        if name == "shoulder" or interface == "position"
    ]  # fmt: skip
    lines = map_channels(mujoco.MjModel.from_xml_string(HAND), found).lines
    doubts = {line.name: bool(line.doubt) for line in lines}
    assert doubts == {"shoulder": True, "elbow": False, "finger": False}
    assert all(line.channel.field.endswith("[position]") for line in lines)


@pytest.mark.parametrize("asked", ["/target_positions", "/other_positions"])
def test_an_array_of_positions_beside_one_that_is_asked_for_is_measured(asked: str) -> None:
    model = mujoco.MjModel.from_xml_string(
        HAND.replace(
            "</mujoco>",
            "<actuator>"
            + "".join(
                f'<position name="{name}" joint="{name}"/>'
                for name in ("shoulder", "elbow", "finger")
            )
            + "</actuator></mujoco>",
        )
    )
    told = [
        Channel(topic, "std_msgs/msg/Float64MultiArray", f"data[{i}]", "", "position", i, True,
                (TIMES,), (np.sin((i + 1.0) * (TIMES - late)),))
        for topic, late in (("/actual_positions", 0.03), (asked, 0.0))
        for i in range(3)
    ]  # fmt: skip
    lines = map_channels(model, told).lines
    found = {line.kind: line.channel.topic for line in lines}
    measured = {"qpos": "/actual_positions", "actuator": asked}
    assert found == (measured if asked == "/target_positions" else {})


def test_what_another_topic_calls_otherwise_is_not() -> None:
    arm = states("/arm/joint_states", "shoulder", "elbow")
    other = states("/other/joint_states", "wrist", "thumb")
    assert set(topics_of(*arm, *other)) == {"shoulder", "elbow"}


def test_the_topic_with_most_joints_serves_all_that_it_has() -> None:
    arm = states("/joint_states", "shoulder", "elbow", "finger")
    again = states("/hand/joint_states", "finger")
    assert set(topics_of(*again, *arm).values()) == {"/joint_states"}


def number(topic: str, quantity: str) -> Channel:
    """A plain number, of which only its topic says what it is."""
    values = (np.sin(len(topic) * TIMES),)
    return Channel(topic, "std_msgs/msg/Float64", "data", "", quantity, 0, True, (TIMES,), values)


def test_plain_numbers_are_measured_where_others_ask_for_something() -> None:
    """Wheels that tell their speeds one by one, in turns, and an angle beside states."""
    model = mujoco.MjModel.from_xml_string(
        HAND.replace("</mujoco>", '<actuator><motor name="finger_motor" joint="finger"/></actuator>'
                     "</mujoco>")
    )  # fmt: skip
    told = [
        *states("/joint_states", "shoulder"),
        number("/shoulder/angle", "position"),  # a state has that
        number("/elbow/angle", "position"),
        number("/finger/speed_rpm", "velocity"),
    ]
    found = map_channels(model, [*told, number("/torque_cmd", "effort")])
    assert {(one.kind, one.name): (one.channel.topic, one.unit) for one in found.lines} == {
        ("qpos", "shoulder"): ("/joint_states", ""),
        ("qpos", "elbow"): ("/elbow/angle", ""),
        ("qvel", "finger"): ("/finger/speed_rpm", "rpm"),
        ("actuator", "finger_motor"): ("/torque_cmd", ""),
    }
    assert found.carried == ("finger",)
    # Where nothing else is asked for they may be the commands.
    assert {one.name for one in map_channels(model, told).lines} == {"shoulder"}


def test_asked_positions_are_no_other_robots() -> None:
    asked = [replace(one, command=True) for one in states("/joint_command", "shoulder", "elbow")]
    found = map_channels(
        mujoco.MjModel.from_xml_string(HAND),
        [*states("/joint_states", "shoulder", "elbow"), *asked],
    )
    assert not any("/joint_command" in one for one in found.unmapped)


def test_joints_without_a_name_are_counted_and_not_mapped() -> None:
    rollers = HAND.replace('"elbow"', '""').replace('"finger"', '""')
    found = map_channels(mujoco.MjModel.from_xml_string(rollers), states("/s", "shoulder", "a", ""))
    assert [line.name for line in found.lines] == ["shoulder"]
    assert found.unmapped == ("joints 2 without a name have no measured position",)


def test_it_is_said_where_a_body_begins_of_which_a_gyroscope_alone_tells() -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="hull"><freejoint/><geom size=".1"/>'
        '<site name="imu"/></body></worldbody>'
        '<sensor><gyro name="gyro" site="imu"/></sensor></mujoco>'
    )
    values = (np.sin(TIMES),)
    gyro = Channel(
        "/imu", "sensor_msgs/msg/Imu", "angular_velocity.x", "", "", 0, False, (TIMES,), values
    )
    (blind,), (sensed,) = (map_channels(model, told).unmapped for told in ([], [gyro]))
    assert "simulations start with it where and as the model has it" in blind
    assert "turned from there as its gyroscope says" in sensed and "upright there" in sensed


def test_parameters_of_joints_without_encoders_are_offered_where_an_imu_tells_of_them() -> None:
    site = HAND.replace('<joint name="finger"/>', '<joint name="finger"/><site name="tip"/>')
    model = mujoco.MjModel.from_xml_string(
        site.replace("</mujoco>", '<sensor><gyro name="gyro" site="tip"/></sensor></mujoco>')
    )
    arm, imu = states("/arm/joint_states", "shoulder", "elbow"), "sensor_msgs/msg/Imu"
    gyro = Channel("/imu", imu, "angular_velocity.x", "", "", 0, False, (TIMES,), (np.sin(TIMES),))
    assert map_channels(model, [*arm, gyro]).carried == ("finger",)
    assert map_channels(model, arm).carried == ()


def test_a_base_that_floats_and_is_not_seen_is_told() -> None:
    legged = HAND.replace('<joint name="shoulder"/>', "<freejoint/>").replace(
        "<body>", '<body name="trunk">', 1
    )
    model = mujoco.MjModel.from_xml_string(legged)
    arm = states("/joint_states", "elbow", "finger")
    (told,) = map_channels(model, arm).unmapped
    assert "'trunk' floats" in told
    pose = "nav_msgs/msg/Odometry", "pose.pose.position.x"
    odometry = Channel("/odom", *pose, "", "", 0, False, (TIMES,), (np.sin(TIMES),))
    assert map_channels(model, [*arm, odometry]).unmapped == ()


def test_channels_are_those_of_the_draft_with_its_units() -> None:
    arm = states("/joint_states", "shoulder", "elbow")
    found = map_channels(mujoco.MjModel.from_xml_string(HAND), arm)
    entries = [dict(line.values) for line in found.lines]
    entries[0] |= {"unit": "deg", "scale": -1.0, "offset": 0.5}
    entries[1] |= {"field": entries[0]["field"]}
    shoulder, elbow = as_drafted(found, entries).lines
    np.testing.assert_allclose(shoulder.channel.values[0], 0.5 - np.deg2rad(np.sin(TIMES)))
    assert (elbow.name, elbow.channel.name) == ("elbow", "shoulder")


def test_joints_without_actuators_get_servos_for_what_was_commanded() -> None:
    def commands(topic: str, quantity: str, *names: str) -> list[Channel]:
        return [
            replace(
                one, topic=topic, msgtype="std_msgs/msg/Float64MultiArray", command=True,
                field=f"data[{one.index}]", quantity=quantity, name=name,
            )
            for one, name in zip(states(topic, *names), names, strict=True)
        ]  # fmt: skip

    measured = states("/joint_states", "shoulder", "elbow", "finger")
    arm = commands("/arm/commands", "position", "shoulder", "elbow")
    hand = commands("/hand/velocity", "velocity", "finger")
    spec, mapping = map_robot(mujoco.MjSpec.from_string(HAND), [*measured, *arm, *hand])
    servos = {line.name: line.kind for line in mapping.lines if line.channel.command}
    assert servos == {"shoulder": "servo", "elbow": "servo", "finger": "velocity_servo"}
    assert [one.name for one in spec.actuators] == [
        "shoulder_servo", "elbow_servo", "finger_velocity_servo"
    ]  # fmt: skip


@pytest.mark.parametrize("told", [True, False])
def test_a_joint_with_a_drive_that_nothing_tells_is_named(told: bool) -> None:
    """A gripper's, whose action no topic shows; what mimics it follows, and a pole has no drive."""
    names = ("shoulder", "drive_joint", "mimic", "pole")
    joints = "".join(
        f'<body><joint name="{one}" {"" if one == "pole" else force}/><geom size=".1"/></body>'
        for force in ['actuatorfrcrange="-9 9"']
        for one in names
    )
    tie = '<equality><joint joint1="mimic" joint2="drive_joint"/></equality>'
    text = f"<mujoco><worldbody>{joints}</worldbody>{tie}</mujoco>"
    measured = states("/joint_states", *names)
    commands = [
        replace(one, topic="/arm/commands", command=True) for one in measured[: 1 if told else 2]
    ]
    _, mapping = map_robot(mujoco.MjSpec.from_string(text), [*measured, *commands])
    named = [one for one in mapping.unmapped if "no input" in one]
    assert len(named) == told
    assert all("'drive_joint'" in one for one in named)


def test_commanded_efforts_drive_joints_without_actuators_where_none_are_measured() -> None:
    """As the effort controllers of ros2_control are told them, whose topic alone says it."""
    measured = states("/joint_states", "shoulder", "elbow", "finger")
    commands = [
        replace(
            one, topic="/effort_controller/commands", field=f"data[{one.index}]", name="",
            msgtype="std_msgs/msg/Float64MultiArray", command=True, quantity="effort",
        )
        for one in measured
    ]  # fmt: skip
    spec, mapping = map_robot(mujoco.MjSpec.from_string(HAND), [*measured, *commands])
    told = {line.name: (line.kind, line.channel.field) for line in mapping.lines if line.input}
    assert told == {
        "shoulder": ("effort", "data[0]"),
        "elbow": ("effort", "data[1]"),
        "finger": ("effort", "data[2]"),
    }
    assert not spec.actuators  # each `effort` of an experiment brings its own

    efforts = [replace(one, quantity="effort", field=f"effort[{one.name}]") for one in measured]
    _, mapping = map_robot(mujoco.MjSpec.from_string(HAND), [*measured, *efforts, *commands])
    driven = {line.channel.topic for line in mapping.lines if line.input}
    assert driven == {"/joint_states"}, "what is measured beside them counts"


@pytest.mark.parametrize("quantity", ["position", "effort"])
def test_servos_take_the_place_of_motors_that_are_told_positions(quantity: str) -> None:
    """As a model of Menagerie's has motors, and a controller was told positions."""
    motors = "".join(f'<motor name="m_{j}" joint="{j}"/>' for j in ("shoulder", "elbow", "finger"))
    text = HAND.replace("</mujoco>", f"<actuator>{motors}</actuator></mujoco>")
    measured = states("/joint_states", "shoulder", "elbow", "finger")
    commands = [
        replace(
            one, topic=f"/{quantity}_controller/commands", field=f"data[{one.index}]",
            msgtype="std_msgs/msg/Float64MultiArray", command=True, quantity=quantity, name="",
        )
        for one in measured
    ]  # fmt: skip
    spec, mapping = map_robot(mujoco.MjSpec.from_string(text), [*measured, *commands])
    told = {line.name: line.kind for line in mapping.lines if line.channel.command}
    if quantity == "position":
        assert told == dict.fromkeys(("shoulder", "elbow", "finger"), "servo")
        assert not any(one.name.startswith("m_") for one in spec.actuators)
        assert not any("no input" in note for note in mapping.unmapped)
    else:
        assert told == dict.fromkeys(("m_shoulder", "m_elbow", "m_finger"), "actuator")


def test_a_joint_that_mimics_another_gets_no_servo_unless_a_command_names_it() -> None:
    """Its motion may be more like the command than that of the joint that is driven."""
    tie = '<equality><joint joint1="finger" joint2="elbow"/></equality></mujoco>'
    spec = mujoco.MjSpec.from_string(HAND.replace("</mujoco>", tie))
    shoulder, elbow, finger = states("/joint_states", "shoulder", "elbow", "finger")
    finger = replace(finger, values=elbow.values)
    late = np.sin(2.0 * (TIMES - 0.4))
    told = [
        replace(one, topic="/commands", msgtype="std_msgs/msg/Float64MultiArray", name="",
                field=f"data[{i}]", index=i, quantity="", command=True)
        for i, one in enumerate((shoulder, finger))
    ]  # fmt: skip
    elbow = replace(elbow, values=(late,))
    positions = (shoulder, elbow, finger)
    _, mapping = map_robot(spec, [*positions, *told])
    assert {line.name for line in mapping.lines if line.kind == "servo"} == {"shoulder", "elbow"}
    named = replace(
        told[1], name="finger", msgtype="sensor_msgs/msg/JointState", field="position[finger]",
        quantity="position", topic="/joint_command",
    )  # fmt: skip
    _, mapping = map_robot(spec, [*positions, named])
    assert {line.name for line in mapping.lines if line.kind == "servo"} == {"finger"}


def test_the_effort_of_a_joint_is_what_its_motor_gives_behind_the_gear() -> None:
    motor = '<actuator><motor name="motor" joint="elbow" gear="-50"/></actuator></mujoco>'
    model = mujoco.MjModel.from_xml_string(HAND.replace("</mujoco>", motor))
    (position,) = states("/joint_states", "elbow")
    effort = replace(position, field="effort[elbow]", quantity="effort")
    lines = {line.name: line.values for line in map_channels(model, [position, effort]).lines}
    assert lines["motor"]["field"] == "effort[elbow]"
    assert lines["motor"]["scale"] == -0.02


def test_the_effort_of_a_joint_with_two_motors_acts_once() -> None:
    motors = "".join(f'<motor name="{n}" joint="elbow" gear="2"/>' for n in ("biceps", "triceps"))
    text = HAND.replace("</mujoco>", f"<actuator>{motors}</actuator></mujoco>")
    (position,) = states("/joint_states", "elbow")
    effort = replace(position, field="effort[elbow]", quantity="effort")
    found = map_channels(mujoco.MjModel.from_xml_string(text), [position, effort])
    assert [line.name for line in found.lines if line.kind == "actuator"] == ["biceps"]
    assert any("'triceps' has no input" in sentence for sentence in found.unmapped)


PAIR = """<mujoco><worldbody>{}</worldbody><actuator>{}</actuator></mujoco>"""


def test_two_robots_of_a_model_are_those_that_are_asked_in_namespaces_called_so() -> None:
    """As ALOHA's followers, whose leaders publish states of the same names."""
    own = ("waist", "right_finger", "left_finger")
    joints = [f"{side}/{name}" for side in ("left", "right") for name in own]
    body = '<body><joint name="{}"/><geom size=".1" mass="1"/></body>'
    drive = '<position name="{0}" joint="{0}" kp="9"/>'
    model = mujoco.MjModel.from_xml_string(
        PAIR.format("".join(map(body.format, joints)), "".join(map(drive.format, joints)))
    )
    topics = [f"/{role}_{side}" for role in ("leader", "follower") for side in ("right", "left")]
    channels = [one for topic in topics for one in states(f"{topic}/joint_states", *own)]
    asked = [one for side in ("left", "right") for one in states(f"/follower_{side}/asked", *own)]
    channels += [replace(one, command=True) for one in asked]
    found = map_channels(model, channels)
    assert {(line.kind, line.name): line.channel.topic for line in found.lines} == {
        (kind, joint): f"/follower_{joint.partition('/')[0]}/{topic}"
        for kind, topic in (("qpos", "joint_states"), ("actuator", "asked"))
        for joint in joints
    }
    named = {line.name: line.channel.field for line in found.lines}
    assert named == {joint: f"position[{joint.partition('/')[2]}]" for joint in joints}
    assert sum("has the same joints" in sentence for sentence in found.unmapped) == 2


def test_a_second_robot_whose_joints_have_another_prefix_is_marked() -> None:
    channels = [
        one
        for robot in ("a", "b")
        for one in states(
            f"/{robot}/joint_states", *(f"{robot}_{n}" for n in ("shoulder", "elbow"))
        )
    ]
    found = map_channels(mujoco.MjModel.from_xml_string(HAND), channels)
    sentence = "/b/joint_states has the same joints; is /a/joint_states the right one?"
    assert sentence in found.unmapped
    alone = map_channels(mujoco.MjModel.from_xml_string(HAND), channels[:2])
    assert not any("same joints" in one for one in alone.unmapped)


@pytest.mark.parametrize(("asked", "measured"), [("torque", True), ("torque", False), ("q", True)])
def test_what_servos_do_not_follow_is_no_position_where_efforts_tell_what_acts(
    asked: str, measured: bool
) -> None:
    """As of a Franka under torques, whose model in MuJoCo's Menagerie has position servos."""
    names = [f"joint{k}" for k in range(3)]
    bodies = "".join(
        f'<body><joint name="{name}"/><geom size=".1" mass="1"/></body>' for name in names
    )
    drives = "".join(f'<position name="servo_{name}" joint="{name}" kp="9"/>' for name in names)
    text = f"<mujoco><worldbody>{bodies}</worldbody><actuator>{drives}</actuator></mujoco>"
    channels = states("/joint_states", *names)
    torques = np.random.default_rng(2).normal(size=(3, len(TIMES)))
    if measured:
        channels += [
            replace(one, field=f"effort[{one.name}]", quantity="effort", values=(torque,))
            for one, torque in zip(channels, torques, strict=True)
        ]
    for k, torque in enumerate(torques):
        told = channels[k].values[0] if asked == "q" else torque
        channels.append(
            Channel(
                "/impedance/commands", "std_msgs/msg/Float64MultiArray", f"data[{k}]", "", "", k,
                True, (TIMES,), (told,),
            )
        )  # fmt: skip
    found = map_channels(mujoco.MjModel.from_xml_string(text), channels)
    by_torque = measured and asked == "torque"
    assert [line.placed for line in found.lines if line.kind == "sensor"] == [
        ("jointactuatorfrc", name) for name in names if by_torque
    ]
    told = [
        line.channel.topic for line in (found.possible if by_torque else found.lines) if line.input
    ]
    assert told == ["/impedance/commands"] * 3


MOTORS = """<mujoco><worldbody>
  <body><joint name="left" range="-10 10"/><geom size=".1" mass="1"/></body>
  <body><joint name="right" range="{}"/><geom size=".1" mass="1"/></body></worldbody>
  <actuator><{} name="a" joint="right" {}/><{} name="b" joint="left" {}/></actuator></mujoco>"""


def motor_array(topic: str, *fields: str) -> list[Channel]:
    """Three places of an array of motors, the last of which is no motor of the robot."""
    kinds = {"q": "position", "tau_est": "effort"}
    return [
        Channel(
            topic, "unitree_go/msg/LowState", f"motor[{i}].{field}", "", kinds[field], i,
            topic == "/lowcmd", (TIMES,), (0.5 + np.sin((i + 1.0) * TIMES) * (i < 2),),
        )
        for i in range(3)
        for field in fields
    ]  # fmt: skip


def test_motors_without_names_are_in_the_order_of_actuators_unless_ranges_differ() -> None:
    def fields(model: str, *channels: Channel) -> dict[str, str]:
        found = map_channels(mujoco.MjModel.from_xml_string(model), channels)
        assert all(line.doubt for line in found.lines if line.kind == "qpos")
        return {line.name: line.channel.field for line in found.lines}

    torque = MOTORS.format("-10 10", "motor", "", "motor", "")
    assert fields(torque, *motor_array("/lowstate", "q", "tau_est")) == {
        "right": "motor[0].q", "left": "motor[1].q",
        "a": "motor[0].tau_est", "b": "motor[1].tau_est",
    }  # fmt: skip
    servos = MOTORS.format("-10 10", "position", 'kp="9"', "position", 'kp="9"')
    both = (*motor_array("/lowstate", "q"), *motor_array("/lowcmd", "q"))
    assert fields(servos, *both)["b"] == "motor[1].q"
    narrow = servos.replace('name="right" range="-10 10"', 'name="right" range="9 10"')
    high = [
        replace(one, values=(9.5 + 0.1 * one.values[0],)) if one.index == 1 else one
        for one in motor_array("/lowstate", "q")
    ]
    assert fields(narrow, *high)["right"] == "motor[1].q"


LEGS = """<mujoco><worldbody>{}</worldbody><actuator>{}</actuator></mujoco>"""


def test_motors_of_a_maker_that_says_which_is_which_have_its_order_not_the_models() -> None:
    joints = [f"{leg}_{part}_joint" for leg in ("FL", "FR", "RL", "RR")
              for part in ("hip", "thigh", "calf")]  # fmt: skip
    body = '<body><joint name="{}" range="-10 10"/><geom size=".1" mass="1"/></body>'
    motor = '<motor name="{0}_motor" joint="{0}"/>'
    model = mujoco.MjModel.from_xml_string(
        LEGS.format("".join(map(body.format, joints)), "".join(map(motor.format, joints)))
    )
    kinds = {"q": "position", "tau_est": "effort"}
    told = [
        Channel(
            "/lowstate", "unitree_go/msg/LowState", f"motor_state[{i}].{field}", "", kinds[field],
            i, False, (TIMES,), (np.sin((i + 1.0) * TIMES) * (i < 12),),
        )
        for i in range(20)
        for field in kinds
    ]  # fmt: skip
    found = {line.name: line for line in map_channels(model, told).lines}
    assert found["FR_hip_joint"].channel.field == "motor_state[0].q"
    assert found["FL_calf_joint"].channel.field == "motor_state[5].q"
    assert found["RL_thigh_joint_motor"].channel.field == "motor_state[10].tau_est"
    assert len(found) == 24 and not any(line.doubt for line in found.values())
    other = [replace(one, msgtype="maker_msgs/msg/LowState") for one in told]
    assert all(line.doubt for line in map_channels(model, other).lines if line.kind == "qpos")


def test_speeds_of_a_base_are_named_where_its_wheels_have_no_input() -> None:
    model = mujoco.MjModel.from_xml_string(MOTORS.format("-10 10", "velocity", "", "velocity", ""))
    twist = Channel(
        "/cmd_vel", "geometry_msgs/msg/Twist", "linear.x", "", "", 0, True, (TIMES,),
        (np.sin(TIMES),),
    )  # fmt: skip
    wheels = states("/joint_states", "left", "right")
    *idle, told = map_channels(model, [*wheels, twist]).unmapped
    assert len(idle) == 2 and told.startswith("/cmd_vel asks for speeds of the base")
    assert map_channels(model, wheels).unmapped == tuple(idle)


@pytest.mark.parametrize(
    "msgtype", ["mavros_msgs/msg/AttitudeTarget", "px4_msgs/msg/VehicleRatesSetpoint"]
)
def test_what_a_flight_controller_is_asked_for_drives_no_rotor(msgtype: str) -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="hull"><freejoint/><geom size=".1"/><site name="up"/>
        </body></worldbody><actuator><motor name="rotor" site="up" gear="0 0 1 0 0 0"/></actuator>
        </mujoco>
        """
    )
    asked = [
        Channel("/attitude", msgtype, field, "", "", 0, msgtype.startswith("mavros"), (TIMES,),
                (np.sin(TIMES),))
        for field in ("body_rate.x", "thrust")
    ]  # fmt: skip
    found = map_channels(model, asked)
    assert "actuator 'rotor' has no input; its control is taken as zero" in found.unmapped
    (told,) = (one for one in found.unmapped if one.startswith("/attitude asks a flight"))
    assert "record what it sends to the motors instead, such as PX4's ActuatorMotors" in told


def test_a_servo_that_turns_often_is_asked_whether_in_degrees() -> None:
    """Where its joint has no range, and its command may be in degrees as well."""
    text = HAND.replace('name="finger"', 'name="finger" range="-90 90"').replace(
        "</mujoco>",
        """<actuator><position joint="shoulder" kp="1"/><velocity joint="elbow" kv="1"/>
        <position joint="finger" kp="1"/></actuator></mujoco>""",
    )
    model = mujoco.MjModel.from_xml_string(text)
    plain = states("/joint_states", "shoulder", "elbow", "finger")
    degrees = [replace(one, values=(57.3 * one.values[0],)) for one in plain]
    for channels, asked in ((plain, ()), (degrees, ("shoulder",))):
        lines = map_channels(model, channels).lines
        assert tuple(one.name for one in lines if "in degrees" in one.doubt) == asked


def test_values_of_groups_are_measured_on_one_topic_and_asked_for_on_another() -> None:
    """Groups named as joints, of a type that does not say which of both it is."""
    model = mujoco.MjModel.from_xml_string(
        HAND.replace("</mujoco>", '<actuator><position name="bend" joint="elbow"/></actuator>'
                     "</mujoco>")
    )  # fmt: skip

    def values(topic: str, interface: str, late: int = 0) -> Channel:
        return Channel(
            topic, "control_msgs/msg/DynamicInterfaceGroupValues",
            f"interface_values[elbow].values[{interface}]", "elbow",
            "position" if interface == "position" else "", 0, True, (TIMES,),
            (np.roll(np.sin(len(interface) * TIMES), late),),
        )  # fmt: skip

    told = [
        values("/hydraulics/state", "position", 3),
        values("/hydraulics/state", "pressure_a"),
        values("/hydraulics/commands", "position"),
    ]
    found = map_channels(model, told)
    position = "interface_values[elbow].values[position]"
    assert {one.name: (one.channel.topic, one.channel.field) for one in found.lines} == {
        "elbow": ("/hydraulics/state", position),
        "bend": ("/hydraulics/commands", position),
    }


def test_the_velocity_of_a_joint_with_a_position_is_no_other_joints() -> None:
    """As of a link that an equality turns along, whose name has that of the driven joint."""
    model = HAND.replace('"finger"', '"elbow_top_joint"').replace('"elbow"', '"outer_elbow"')
    positions = states("/measured_js", "shoulder", "elbow")
    speeds = [replace(one, quantity="velocity", field=f"velocity[{one.name}]") for one in positions]
    found = map_channels(mujoco.MjModel.from_xml_string(model), [*positions, *speeds])
    assert {(one.kind, one.name) for one in found.lines} == {
        ("qpos", "shoulder"),
        ("qpos", "outer_elbow"),
    }
    (alone,) = map_channels(mujoco.MjModel.from_xml_string(model), speeds[1:]).lines
    assert (alone.kind, alone.channel.field) == ("qvel", "velocity[elbow]")
