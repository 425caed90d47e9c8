# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Vectors, orientations, poses and twists as one signal each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mapped_signals import mapped
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from sysid_ros.errors import DataError
from sysid_ros.experiment.experiment_schema import SignalConfig
from sysid_ros.recording.mapping import measured_time_series
from sysid_ros.recording.mapping.mapping_settings import SignalKind
from sysid_ros.recording.messages import parse_field, unit_quaternions
from sysid_ros.recording.messages.components import components_of

from ..conftest import START_NS, Entry


@pytest.mark.parametrize(
    ("msgtype", "field", "expected"),
    [
        ("sensor_msgs/msg/Imu", "orientation", "wxyz"),
        ("sensor_msgs/msg/Imu", "angular_velocity", "xyz"),
        ("sensor_msgs/msg/Imu", "angular_velocity.x", "x"),
        ("nav_msgs/msg/Odometry", "pose.pose", "xyzwxyz"),
        ("nav_msgs/msg/Odometry", "pose", "xyzwxyz"),
        ("nav_msgs/msg/Odometry", "twist.twist", "xyzxyz"),
        ("geometry_msgs/msg/PoseStamped", "pose.position", "xyz"),
        ("geometry_msgs/msg/TransformStamped", "transform", "xyzwxyz"),
        ("geometry_msgs/msg/WrenchStamped", "wrench", "xyzxyz"),
        ("tf2_msgs/msg/TFMessage", "transforms[base].transform", "xyzwxyz"),
        ("geometry_msgs/msg/PoseArray", "poses[2].orientation", "wxyz"),
    ],
)
def test_numbers_come_in_mujoco_s_order(ros2, msgtype, field, expected) -> None:
    types = {name: fields for name, (_, fields) in ros2.fielddefs.items()}
    found = components_of(parse_field(field), msgtype, types)
    assert "".join(path.text[-1] for path in found.paths) == expected
    assert list(found.quaternions) == ([expected.index("w")] if "w" in expected else [])


@given(st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=20), st.floats(0.95, 1.05))
def test_orientations_are_of_unit_length_and_continuous(angles, length) -> None:
    half = np.array(angles) / 2
    flips = np.where(np.arange(len(half)) % 3 == 0, -1.0, 1.0)
    given_values = length * flips[:, None] * np.stack(
        [np.cos(half), np.sin(half), 0 * half, 0 * half], axis=1
    )  # fmt: skip
    unit = unit_quaternions(given_values, "here")
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1.0)
    assert np.all(np.sum(unit[1:] * unit[:-1], axis=1) >= 0.0)
    np.testing.assert_allclose(np.abs(np.sum(unit * given_values, axis=1)), length)


@pytest.fixture
def imu_bag(ros2, write_bag) -> Any:
    def write(orientation, name="bag"):
        types = ros2.types
        entries = []
        for k in range(50):
            stamp = START_NS + k * 10_000_000
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            header = types["std_msgs/msg/Header"](time, "imu")
            vector = types["geometry_msgs/msg/Vector3"]
            message = types["sensor_msgs/msg/Imu"](
                header, types["geometry_msgs/msg/Quaternion"](*orientation(0.01 * k)),
                np.zeros(9), vector(1.0 * k, 2.0, 3.0), np.zeros(9), vector(0.0, 0.0, 9.81),
                np.zeros(9),
            )  # fmt: skip
            entries.append(Entry("/imu", stamp, message))
        return write_bag(entries, name)

    return write


TURNED = SignalConfig(SignalKind.SENSOR, "turned", "/imu", "orientation")


def test_an_orientation_is_one_signal_of_four_columns(imu_bag) -> None:
    def turning(t):  # about x, as x y z w, with a sign that jumps
        sign = -1.0 if round(t * 100) % 7 == 3 else 1.0
        return sign * np.sin(t), 0.0, 0.0, sign * np.cos(t)

    gyro = SignalConfig(SignalKind.SENSOR, "gyro", "/imu", "angular_velocity", unit="deg/s")
    result = mapped(imu_bag(turning), TURNED, gyro)
    t = np.arange(50) * 0.01
    np.testing.assert_allclose(
        result.measured[0].values, np.stack([np.cos(t), np.sin(t), 0 * t, 0 * t], axis=1)
    )
    np.testing.assert_allclose(result.measured[1].values[7], np.radians([7.0, 2.0, 3.0]))
    series = measured_time_series(result)
    assert series.data.shape == (50, 7)
    assert series.signal_mapping["gyro"][1].tolist() == [4, 5, 6]


def test_the_heading_of_an_orientation_is_one_angle_that_goes_on(imu_bag) -> None:
    """Of a body that turns one and a half times and rolls a little, with a sign that jumps."""

    def turning(t):
        sign, half, roll = -1.0 if round(t * 100) % 7 == 3 else 1.0, 10.0 * t, 0.05
        whole = np.array([
            np.cos(half) * np.sin(roll), np.sin(half) * np.sin(roll),
            np.sin(half) * np.cos(roll), np.cos(half) * np.cos(roll),
        ])  # fmt: skip
        return tuple(sign * whole)

    yaw = SignalConfig(SignalKind.QPOS, "yaw", "/imu", "orientation.yaw", scale=-1.0)
    (measured,) = mapped(imu_bag(turning), yaw).measured
    np.testing.assert_allclose(measured.values, -20.0 * np.arange(50) * 0.01, atol=1e-9)
    assert measured.turns == 2


def test_what_an_orientation_is_not(imu_bag) -> None:
    path = imu_bag(lambda t: (0.0, 0.0, 0.0, 0.0 if t > 0.4 else 1.0))
    with pytest.raises(DataError, match=r"no orientation in 9 of 50 samples.* is 0 instead of 1"):
        mapped(path, TURNED)
    path = imu_bag(lambda t: (np.sin(t), 0.0, 0.0, np.cos(t)), "turning")
    with pytest.raises(DataError, match="takes no scale, unit or offset"):
        mapped(path, replace(TURNED, scale=2.0))
    with pytest.raises(DataError, match=r"is 4 numbers, orientation\.w .*; an actuator takes one"):
        mapped(
            path, replace(TURNED, kind=SignalKind.ACTUATOR), replace(TURNED, field="orientation.w")
        )
    (still,) = mapped(path, replace(TURNED, field="linear_acceleration")).measured
    assert "constant (0, 0, 9.81 in all 50 samples)" in still.steady


OLD = """std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
"""
NEW = OLD.replace("desired", "reference").replace("actual", "feedback") + (
    "trajectory_msgs/JointTrajectoryPoint output\n"
)


@pytest.mark.parametrize("definition", [OLD, NEW])
@pytest.mark.parametrize("names", [("desired", "actual"), ("reference", "feedback")])
def test_either_spelling_of_a_controller_s_state(definition, names, tmp_path) -> None:
    store = get_typestore(Stores.ROS2_KILTED)
    msgtype = "control_msgs/msg/JointTrajectoryControllerState"
    store.register(get_types_from_msg(definition, msgtype))
    types = store.types
    empty = np.empty(0)

    def point(*positions):
        return types["trajectory_msgs/msg/JointTrajectoryPoint"](
            np.array(positions), empty, empty, empty,
            types["builtin_interfaces/msg/Duration"](0, 0),
        )  # fmt: skip

    count = 5 - (definition is OLD)
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/state", msgtype, typestore=store)
        for k in range(20):
            stamp = START_NS + k * 10_000_000
            time = types["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9)
            order = ["elbow", "wrist"] if k % 2 else ["wrist", "elbow"]
            swap = slice(None, None, 1 if k % 2 else -1)
            points = [point(*[float(10 * i + k), -1.0][swap]) for i in range(count - 1)]
            message = types[msgtype](types["std_msgs/msg/Header"](time, ""), order, *points)
            writer.write(connection, stamp, store.serialize_cdr(message, msgtype))
    wanted = [
        SignalConfig(SignalKind.ACTUATOR, "motor", "/state", f"{names[0]}.positions[elbow]"),
        SignalConfig(SignalKind.QPOS, "elbow", "/state", f"{names[1]}.positions[elbow]"),
    ]
    result = mapped(tmp_path / "bag", *wanted)
    np.testing.assert_array_equal(result.controls[0].values, np.arange(20))
    np.testing.assert_array_equal(result.measured[0].values, 10.0 + np.arange(20))
    assert (result.controls[0].held, result.measured[0].held) == (True, False)


VEHICLE = """float32[3] position
float32[4] q
float32[3] rate
float32[] many
"""


def vehicle_bag(folder: Path) -> Path:
    """A message without a header whose vectors and orientation are plain arrays, as PX4's."""
    store = get_typestore(Stores.ROS2_KILTED)
    msgtype = "px4_msgs/msg/VehicleOdometry"
    store.register(get_types_from_msg(VEHICLE, msgtype))
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/odometry", msgtype, typestore=store)
        for k in range(50):
            angle = 0.02 * k
            turn = [np.cos(angle), 0.0, np.sin(angle), 0.0]
            numbers = [np.array(one, np.float32) for one in ([k, 2 * k, 3 * k], turn, [1, 2, k])]
            message = store.types[msgtype](*numbers, np.zeros(3, np.float32))
            data = store.serialize_cdr(message, msgtype)
            writer.write(connection, START_NS + k * 10_000_000, data)
    return folder


def test_fixed_arrays_are_vectors_and_orientations_in_axes_with_z_up_on_request(tmp_path) -> None:
    fields = {"position": "place", "q": "turned", "rate": "gyro"}
    signals = [
        SignalConfig(SignalKind.SENSOR, name, "/odometry", field) for field, name in fields.items()
    ]
    bag = vehicle_bag(tmp_path / "bag")
    k = np.arange(50.0)
    told = [
        np.stack([k, 2 * k, 3 * k], axis=1),
        np.stack([np.cos(0.02 * k), 0 * k, np.sin(0.02 * k), 0 * k], axis=1),
        np.stack([1 + 0 * k, 2 + 0 * k, k], axis=1),
    ]
    for one, expected in zip(mapped(bag, *signals).measured, told, strict=True):
        np.testing.assert_allclose(one.values, expected, atol=1e-6)
    upright = [replace(one, z_down=True) for one in signals]
    signs = ([1, -1, -1], [1, 1, -1, -1], [1, -1, -1])
    found = mapped(bag, *upright).measured
    for one, expected, sign in zip(found, told, signs, strict=True):
        np.testing.assert_allclose(one.values, expected * np.array(sign), atol=1e-6)


def test_a_number_alone_and_an_array_of_any_length_are_no_vectors(tmp_path) -> None:
    bag = vehicle_bag(tmp_path / "bag")
    one = SignalConfig(SignalKind.SENSOR, "gyro", "/odometry", "rate[2]", z_down=True)
    with pytest.raises(DataError, match="is one number; z_down takes vectors"):
        mapped(bag, one)
    with pytest.raises(DataError, match="many"):
        mapped(bag, replace(one, field="many", z_down=False))
