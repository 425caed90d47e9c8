# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Poses, twists and IMU readings are proposed for free bodies and body sensors."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.proposal.signals.bodies import body_lines
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.mapping import map_channels

MODEL = """<mujoco>
  <worldbody><body name="base"><freejoint/><geom size=".1"/><site name="imu"/></body></worldbody>
  <sensor><gyro name="gyro" site="imu"/><accelerometer name="acc" site="imu"/></sensor>
</mujoco>"""


def channel(topic: str, msgtype: str, field: str) -> Channel:
    part = np.arange(3.0)
    return Channel(topic, msgtype, field, "", "", 0, False, (part,), (part,))


def test_each_goes_to_what_it_measures_and_a_choice_is_marked() -> None:
    channels = [
        channel("/odom", "nav_msgs/msg/Odometry", "pose.pose.position.x"),
        channel("/odom", "nav_msgs/msg/Odometry", "pose.pose.orientation.z"),
        channel("/odom", "nav_msgs/msg/Odometry", "twist.twist.linear.x"),
        channel("/imu/data", "sensor_msgs/msg/Imu", "angular_velocity.x"),
        channel("/imu/data", "sensor_msgs/msg/Imu", "linear_acceleration.x"),
        channel("/camera/motion", "sensor_msgs/msg/Imu", "angular_velocity.x"),
    ]
    lines = body_lines(mujoco.MjModel.from_xml_string(MODEL), channels)
    assert [(one.kind, one.name, one.channel.topic, one.channel.field) for one in lines] == [
        ("qpos", "base", "/odom", "pose.pose"),
        ("qvel", "base", "/odom", "twist.twist"),
        ("sensor", "gyro", "/imu/data", "angular_velocity"),
        ("sensor", "acc", "/imu/data", "linear_acceleration"),
    ]
    assert [bool(one.doubt) for one in lines] == [False, False, True, False]
    assert "/camera/motion" in lines[2].doubt


def test_a_twist_that_no_command_tells_is_what_a_velocimeter_reads() -> None:
    model = MODEL.replace("<sensor>", '<sensor><velocimeter name="dvl" site="imu"/>')
    asked = channel("/cmd_vel", "geometry_msgs/msg/TwistStamped", "twist.linear.x")
    for msgtype, part in (("TwistStamped", ""), ("TwistWithCovarianceStamped", "twist.")):
        field = f"twist.{part}linear"
        slow = channel("/dvl/twist", f"geometry_msgs/msg/{msgtype}", f"{field}.x")
        log = replace(slow, times=(0.05 * slow.times[0],))
        assert not body_lines(mujoco.MjModel.from_xml_string(model), [asked, slow])
        (line,) = body_lines(mujoco.MjModel.from_xml_string(model), [asked, log])
        assert (line.name, line.channel.topic, line.channel.field) == ("dvl", "/dvl/twist", field)
        assert not line.doubt


def test_poses_are_of_sensors_with_their_name_but_not_those_of_a_free_joint() -> None:
    frames = '<framepos name="tip" objtype="site" objname="imu"/>' + \
        '<framequat name="star_camera" objtype="site" objname="imu"/>'  # fmt: skip
    model = MODEL.replace("<sensor>", f"<sensor>{frames}")
    shown = [
        channel("/mocap/tip", "geometry_msgs/msg/PoseStamped", "pose.position.x"),
        channel("/mocap/tip", "geometry_msgs/msg/PoseStamped", "pose.orientation.x"),
        channel("/star_camera", "geometry_msgs/msg/QuaternionStamped", "quaternion.x"),
        channel("/odom", "geometry_msgs/msg/PoseStamped", "pose.position.x"),
    ]
    shown = [replace(one, times=(0.01 * one.times[0],)) for one in shown]
    fixed = mujoco.MjModel.from_xml_string(model.replace("<freejoint/>", ""))
    lines = body_lines(fixed, shown)
    assert [(one.kind, one.name, one.channel.topic, one.channel.field) for one in lines] == [
        ("sensor", "tip", "/mocap/tip", "pose.position"),
        ("sensor", "star_camera", "/star_camera", "quaternion"),
    ]
    assert all(one.doubt for one in lines)
    (alone,) = body_lines(fixed, shown[:2])[:1]
    assert "in the model's world" in alone.doubt
    odom = [replace(one, topic="/tip", field="pose.position.x") for one in shown[3:]]
    turning = channel("/tip", "geometry_msgs/msg/PoseStamped", "pose.orientation.x")
    free = body_lines(mujoco.MjModel.from_xml_string(model), [*odom, turning])
    assert [(one.kind, one.name) for one in free] == [("qpos", "base")]


@pytest.mark.parametrize("sensed", [True, False])
def test_a_wrench_is_of_the_models_sensors_where_it_has_some(sensed: bool) -> None:
    sensors = '<force name="f" site="imu"/><torque name="t" site="imu"/>' if sensed else ""
    model = MODEL.replace("<sensor>", f"<sensor>{sensors}")
    channels = [
        channel("/wrist", "geometry_msgs/msg/WrenchStamped", f"wrench.{part}.x")
        for part in ("force", "torque")
    ]
    lines = body_lines(mujoco.MjModel.from_xml_string(model), channels)
    assert [(one.kind, one.name, one.channel.field) for one in lines] == (
        [("sensor", "f", "wrench.force"), ("sensor", "t", "wrench.torque")]
        if sensed
        else [("wrench", "imu", "wrench")]
    )


def test_poses_of_other_types_are_taken_and_goals_are_not() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    frames = "tf2_msgs/msg/TFMessage"
    joints = "sensor_msgs/msg/MultiDOFJointState"
    tried = (
        ("geometry_msgs/msg/PoseWithCovarianceStamped", "pose.pose.position.x", "pose.pose"),
        ("geometry_msgs/msg/TransformStamped", "transform.translation.x", "transform"),
        (joints, "transforms[base].translation.x", "transforms[base]"),
        (frames, "transforms[base].transform.translation.x", "transforms[base].transform"),
    )
    for msgtype, field, whole in tried:
        one = replace(channel("/seen", msgtype, field), name="base")
        turn = "orientation.w" if "position" in field else "rotation.w"
        turned = replace(one, field=f"{whole}.{turn}")
        (line,) = body_lines(model, [one, turned])
        assert (line.kind, line.name, line.channel.field) == ("qpos", "base", whole)
        assert bool(line.doubt) is (msgtype == frames)  # it may be told in a frame that moves
        (line,) = body_lines(model, [one])  # what never changes is not among the channels
        assert line.values == {
            "sensor": "base_position", "type": "framepos", "at": "base", "topic": "/seen",
            "field": field.removesuffix(".x"),
        }  # fmt: skip
        assert "never changes" in line.doubt
    wheel = channel("/tf", frames, "transforms[wheel].transform.translation.x")
    goal = channel("/goal_pose", "geometry_msgs/msg/PoseStamped", "pose.position.x")
    assert not body_lines(model, [replace(wheel, name="wheel"), goal])


FINGER = """<mujoco><worldbody>
  <body><joint name="proximal" axis="0 1 0"/><geom size=".02" mass=".1"/>
  <body pos=".1 0 0"><joint name="distal" axis="0 1 0"/><geom size=".02" mass=".1"/></body></body>
  </worldbody>
  <tendon><fixed name="flexor"><joint joint="proximal" coef=".01"/></fixed>
    <fixed name="extensor"><joint joint="distal" coef=".01"/></fixed></tendon>
  <sensor><tendonpos name="flexor_length" tendon="flexor"/>
    <tendonpos name="pull" tendon="extensor"/>
  </sensor></mujoco>"""


def position(name: str) -> Channel:
    part = np.arange(3.0)
    field = f"position[{name}]"
    topic, msgtype = "/winches", "sensor_msgs/msg/JointState"
    return Channel(topic, msgtype, field, name, "position", 0, False, (part,), (part,))


@pytest.mark.parametrize("extensor", ["extensor", "pull"])
def test_lengths_of_cables_are_no_positions_of_as_many_joints(extensor: str) -> None:
    model = mujoco.MjModel.from_xml_string(FINGER)
    told = map_channels(model, [position(extensor), position("flexor")])
    assert [(one.kind, one.name, one.channel.name) for one in told.signals] == [
        ("sensor", "flexor_length", "flexor"),
        ("sensor", "pull", extensor),
    ]
    assert told.joints == (), "two numbers and two joints without a position"
    assert told.carried == ("proximal", "distal")


def test_a_cable_whose_name_another_goes_on_from_has_its_own_length() -> None:
    model = mujoco.MjModel.from_xml_string(FINGER.replace("extensor", "flexor_long"))
    told = map_channels(model, [position("flexor"), position("flexor_long")])
    assert [(one.name, one.channel.name) for one in told.signals] == [
        ("flexor_length", "flexor"),
        ("pull", "flexor_long"),
    ]


def test_what_is_named_after_a_joint_is_that_joints_position() -> None:
    model = mujoco.MjModel.from_xml_string(FINGER.replace("flexor_length", "proximal"))
    told = map_channels(model, [position("proximal")])
    assert [(one.kind, one.name) for one in told.signals] == [("qpos", "proximal")]


def row(topic: str, msgtype: str, field: str, count: int) -> list[Channel]:
    """The numbers of a fixed array, as in messages of PX4 and Unitree."""
    return [replace(channel(topic, msgtype, f"{field}[{i}]"), row=count) for i in range(count)]


def test_fixed_arrays_that_are_called_so_are_poses_and_readings() -> None:
    odometry, low = "px4_msgs/msg/VehicleOdometry", "biped_msgs/msg/LowState"
    channels = [
        *row("/odometry", odometry, "position", 3),
        *row("/odometry", odometry, "q", 4),
        *row("/lowstate", low, "imu_state.gyroscope", 3),
        *row("/lowstate", low, "imu_state.accelerometer", 3),
        *row("/lowstate", low, "imu_state.quaternion", 4),  # beside no position
    ]
    lines = map_channels(mujoco.MjModel.from_xml_string(MODEL), channels).bodies
    assert [(one.name, one.placed, one.channel.field) for one in lines] == [
        ("base_position", ("framepos", "base"), "position"),
        ("base_orientation", ("framequat", "base"), "q"),
        ("gyro", (), "imu_state.gyroscope"),
        ("acc", (), "imu_state.accelerometer"),
    ]
    assert ["z_down" in one.values for one in lines] == [True, True, False, False]
    turning = [one for one in channels if "[0]" not in one.field]  # a boat about z alone
    assert len(body_lines(mujoco.MjModel.from_xml_string(MODEL), turning)) == 4
    longer = [replace(one, row=0) for one in channels]  # of any length: nobody knows what it is
    assert not body_lines(mujoco.MjModel.from_xml_string(MODEL), longer)


def test_positions_of_a_pose_are_those_of_no_joint() -> None:
    """Three numbers that are called positions, for three joints that nothing measures."""
    joints = "".join(
        f'<body name="b{i}"><joint name="j{i}"/><geom size=".1"/></body>' for i in range(3)
    )
    model = mujoco.MjModel.from_xml_string(MODEL.replace("</body>", joints + "</body>", 1))
    kind = "vendor_msgs/msg/PoseState"
    told = [replace(one, quantity="position") for one in row("/pose", kind, "position", 3)]
    assert len(map_channels(model, told).lines) == 3
    assert not map_channels(model, [*told, *row("/pose", kind, "orientation", 4)]).lines


def test_a_point_that_a_tracker_tells_is_where_a_free_body_is() -> None:
    point = channel("/tracker/ball", "geometry_msgs/msg/PointStamped", "point.x")
    quick = replace(point, times=(0.02 * point.times[0],))
    model = mujoco.MjModel.from_xml_string(MODEL)
    (line,) = body_lines(model, [quick])
    assert (line.name, line.placed, line.channel.field) == (
        "base_position", ("framepos", "base"), "point",
    )  # fmt: skip
    assert "in the model's world" in line.doubt
    assert not body_lines(model, [point])  # a second apart
    pose = channel("/odom", "nav_msgs/msg/Odometry", "pose.pose.position.x")
    turn = channel("/odom", "nav_msgs/msg/Odometry", "pose.pose.orientation.x")
    assert [one.kind for one in body_lines(model, [quick, pose, turn])] == ["qpos"]


def test_a_pose_is_that_of_the_site_after_which_its_topic_is_named() -> None:
    """A tracking camera tells where it is itself, ahead of the body's frame and turned."""
    model = MODEL.replace("<site", '<site name="camera" pos=".1 0 0" euler="0 20 0"/><site', 1)
    odometry = "nav_msgs/msg/Odometry"
    fields = ("pose.pose.position.x", "pose.pose.orientation.x", "twist.twist.linear.x")
    told = {
        topic: body_lines(
            mujoco.MjModel.from_xml_string(model),
            [channel(topic, odometry, field) for field in fields],
        )
        for topic in ("/camera/pose/sample", "/base/camera", "/odom")
    }
    assert [(one.placed, one.channel.field) for one in told["/camera/pose/sample"]] == [
        (("framepos", "camera"), "pose.pose.position"),
        (("framequat", "camera"), "pose.pose.orientation"),
        (("velocimeter", "camera"), "twist.twist.linear"),
        (("gyro", "camera"), "twist.twist.angular"),
    ]
    assert all("not of base" in one.doubt for one in told["/camera/pose/sample"])
    seen = [one.channel for one in told["/camera/pose/sample"][:1]]
    shown = [replace(one, field="pose.pose.position.x") for one in seen]
    shown.append(replace(seen[0], field="pose.pose.orientation.x"))
    mapping = map_channels(mujoco.MjModel.from_xml_string(model), shown)
    assert mapping.posed
    assert not mapping.unmapped
    for topic in ("/base/camera", "/odom"):
        assert [one.kind for one in told[topic]] == ["qpos", "qvel"]


def test_a_boats_orientation_turns_about_z_alone_and_its_name_is_no_sensors() -> None:
    frames = '<framepos name="gps" objtype="site" objname="imu_boat"/>' + \
        '<framequat name="pose_orientation" objtype="xbody" objname="base"/>'  # fmt: skip
    model = MODEL.replace('"imu"', '"imu_boat"').replace("<freejoint/>", "")
    model = model.replace("<sensor>", f"<sensor>{frames}")
    kind = "geometry_msgs/msg/PoseWithCovarianceStamped"
    told = [
        channel("/boat/pose", kind, "pose.pose.position.y"),
        channel("/boat/pose", kind, "pose.pose.orientation.z"),
        channel("/boat/pose", kind, "pose.pose.orientation.w"),
        channel("/boat/left/thrust", "std_msgs/msg/Float64", "data"),
        channel("/boat/joint_states", "sensor_msgs/msg/JointState", "position[left]"),
    ]
    told = [replace(one, times=(0.01 * one.times[0],)) for one in told]
    lines = body_lines(mujoco.MjModel.from_xml_string(model), told)
    found = [(one.name, one.channel.field) for one in lines]
    assert found == [("pose_orientation", "pose.pose.orientation")]
    elsewhere = [replace(one, topic=f"/mocap{one.topic}") for one in told[:1]]
    lines = body_lines(mujoco.MjModel.from_xml_string(model), elsewhere)
    assert [one.name for one in lines] == ["gps"]  # the name of a tracked thing


def test_two_imus_are_told_apart_by_the_namespaces_of_their_topics() -> None:
    """As drivers publish them: the last part of both topics is the same."""
    model = MODEL.replace('<site name="imu"/>', '<site name="top_imu"/><site name="table_imu"/>')
    model = model.replace(
        '<gyro name="gyro" site="imu"/><accelerometer name="acc" site="imu"/>',
        "".join(f'<gyro name="{one}_gyro" site="{one}"/>' for one in ("top_imu", "table_imu")),
    )
    channels = [
        channel(f"/{place}/imu/data_raw", "sensor_msgs/msg/Imu", "angular_velocity.x")
        for place in ("table", "top")
    ]
    for given in (channels, channels[::-1]):
        lines = body_lines(mujoco.MjModel.from_xml_string(model), given)
        assert {one.name: one.channel.topic for one in lines} == {
            "top_imu_gyro": "/top/imu/data_raw",
            "table_imu_gyro": "/table/imu/data_raw",
        }


def test_a_robots_namespace_names_no_site_of_which_it_has_a_part() -> None:
    """The site ``glider_imu`` was the place of ``/qualisys/glider/pose``, which is the hull's."""
    model = MODEL.replace('name="base"', 'name="hull"').replace('"imu"', '"glider_imu"')
    pose = channel("/qualisys/glider/pose", "geometry_msgs/msg/PoseStamped", "pose.position.x")
    turn = channel("/qualisys/glider/pose", "geometry_msgs/msg/PoseStamped", "pose.orientation.x")
    (line,) = body_lines(mujoco.MjModel.from_xml_string(model), [pose, turn])
    assert (line.kind, line.name, line.channel.field) == ("qpos", "hull", "pose")


def test_poses_of_a_trackers_own_type_are_of_the_bodies_that_it_names() -> None:
    bodies = "".join(
        f'<body name="cf{i}" pos="{i} 0 0"><freejoint/><geom size=".1"/></body>' for i in (1, 2, 3)
    )
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    kind = "motion_capture_tracking_interfaces/msg/NamedPoseArray"
    told = [
        replace(channel("/poses", kind, f"poses[{name}].pose.{part}.x"), name=name)
        for name in ("cf2", "cf1", "wand")
        for part in ("position", "orientation")
    ]
    lines = body_lines(model, told)
    assert [(one.name, one.channel.field) for one in lines] == [
        ("cf1", "poses[cf1].pose"),
        ("cf2", "poses[cf2].pose"),
    ]
    assert all("stands still" in one.doubt for one in lines)


@pytest.mark.parametrize("joint", ["ball", "free", "hinge"])
@pytest.mark.parametrize("own", ["", '<framequat name="turn" objtype="site" objname="imu"/>'])
def test_an_imu_tells_how_what_floats_or_a_ball_joint_is_turned(joint: str, own: str) -> None:
    """Hinges have encoders."""
    text = MODEL.replace("<freejoint/>", f'<joint name="b" type="{joint}"/>')
    model = mujoco.MjModel.from_xml_string(text.replace("<sensor>", f"<sensor>{own}"))
    parts = ("angular_velocity.x", "linear_acceleration.x", "orientation.x")
    mapping = map_channels(model, [channel("/imu", "sensor_msgs/msg/Imu", one) for one in parts])
    lines = [one for one in mapping.bodies if one.channel.field == "orientation"]
    name, placed = ("turn", ()) if own else ("imu_orientation", ("framequat", "imu"))
    told = [] if joint == "hinge" else [(name, placed)]
    assert [(one.name, one.placed) for one in lines] == told
    assert ["heading" in one.doubt for one in lines] == [joint == "free"] * len(told)
    assert mapping.carried == (() if joint == "free" else ("b",))
    assert not mapping.posed


@pytest.mark.parametrize("topic", ["/base/pose", "/imu/pose"])
def test_an_imus_orientation_is_none_where_a_pose_tells_of_the_base(topic: str) -> None:
    """Its heading is not the pose's; the pose may be that of the site."""
    kind, told = "geometry_msgs/msg/PoseStamped", ("position.x", "orientation.x")
    poses = [channel(topic, kind, f"pose.{one}") for one in told]
    parts = ("angular_velocity.x", "orientation.x")
    imu = [channel("/imu/data", "sensor_msgs/msg/Imu", one) for one in parts]
    lines = body_lines(mujoco.MjModel.from_xml_string(MODEL), [*poses, *imu])
    assert topic in {one.channel.topic for one in lines}
    fields = [one.channel.field for one in lines if one.channel.topic == "/imu/data"]
    assert fields == ["angular_velocity"]


def test_one_of_two_imus_tells_how_what_floats_is_turned() -> None:
    """Their filters' headings are not the same."""
    rear = '<site name="rear"/></body>'
    text = MODEL.replace("</body>", rear, 1).replace(
        "<sensor>", '<sensor><gyro name="r" site="rear"/>'
    )
    parts = ("angular_velocity.x", "orientation.x")
    imus = [
        channel(f"/{one}", "sensor_msgs/msg/Imu", part) for one in ("imu", "rear") for part in parts
    ]
    lines = body_lines(mujoco.MjModel.from_xml_string(text), imus)
    fields = [(one.channel.topic, one.channel.field) for one in lines]
    assert [topic for topic, field in fields if field == "angular_velocity"] == ["/rear", "/imu"]
    assert [topic for topic, field in fields if field == "orientation"] == ["/rear"]


@pytest.mark.parametrize(
    ("topic", "place"), [("/lowstate", "pelvis"), ("/imu_in_torso/data", "torso")]
)
def test_one_imu_is_that_of_one_site_of_several(topic: str, place: str) -> None:
    """A humanoid's torso, which has one in the model, was told what its pelvis measures."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><geom size=".1"/><site name="imu_in_pelvis"/>
        <body><joint/><geom size=".1"/><site name="imu_in_torso"/></body></body></worldbody>
        <sensor><gyro name="imu-torso-angular-velocity" site="imu_in_torso"/>
        <gyro name="imu-pelvis-angular-velocity" site="imu_in_pelvis"/></sensor></mujoco>"""
    )
    kind = "unitree_hg/msg/LowState"
    imu = [channel(topic, kind, f"imu_state.gyroscope[{k}]") for k in range(3)]
    (line,) = body_lines(model, [replace(one, row=3) for one in imu])
    assert line.name == f"imu-{place}-angular-velocity"
    assert "not" in line.doubt


def test_a_wrench_is_that_of_the_outermost_site_of_several() -> None:
    """Not of an arm's base, where only an IMU would be."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body><joint/><geom size=".1"/><site name="foundation"/>
        <body><joint/><geom size=".1"/><site name="flange"/></body></body></worldbody>
        <sensor><force name="f1" site="flange"/><force name="f0" site="foundation"/></sensor>
        </mujoco>"""
    )
    kind = "geometry_msgs/msg/WrenchStamped"
    (line,) = body_lines(model, [channel("/ft_data", kind, "wrench.force.x")])
    assert line.name == "f1"
