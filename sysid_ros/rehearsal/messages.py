# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Messages of simulated robots, serialized as ROS 2 does, without ROS."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from sysid_ros.arrays import FloatArray
from sysid_ros.recording.bags import BagTopic

# Of control_msgs, which is not among ROS 2's common interfaces.
_CONTROLLER_STATE = """std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
"""
_STATE_TYPE = "control_msgs/msg/JointTrajectoryControllerState"
_DYNAMIC_STATE = """std_msgs/Header header
string[] joint_names
control_msgs/InterfaceValue[] interface_values
================================================================================
MSG: control_msgs/InterfaceValue
string[] interface_names
float64[] values
"""
_DYNAMIC_TYPE = "control_msgs/msg/DynamicJointState"


@functools.cache
def types() -> Typestore:
    """The types that simulated robots publish."""
    store = get_typestore(Stores.ROS2_KILTED)
    store.register(get_types_from_msg(_CONTROLLER_STATE, _STATE_TYPE))
    store.register(get_types_from_msg(_DYNAMIC_STATE, _DYNAMIC_TYPE))
    return store


def topic_of(name: str, msgtype: str) -> BagTopic:
    """A topic of such a type as a bag describes it."""
    text, _ = types().generate_msgdef(msgtype, ros_version=2)
    return BagTopic(name, msgtype, text, types().hash_rihs01(msgtype))


def joint_state(
    stamp: int, names: Sequence[str], position: FloatArray, velocity: FloatArray, effort: FloatArray
) -> bytes:
    """A ``JointState``; empty arrays for what is not measured."""
    kind = "sensor_msgs/msg/JointState"
    return _packed(kind, header(stamp), list(names), position, velocity, effort)


def dynamic_joint_state(
    stamp: int, names: Sequence[str], position: FloatArray, velocity: FloatArray, effort: FloatArray
) -> bytes:
    """A ``DynamicJointState``; empty arrays for what is not measured."""
    parts = {"position": position, "velocity": velocity, "effort": effort}
    kinds = [kind for kind, values in parts.items() if len(values)]
    rows = np.stack([parts[kind] for kind in kinds], axis=1)
    values = [_make("control_msgs/msg/InterfaceValue", kinds, row) for row in rows]
    return _packed(_DYNAMIC_TYPE, header(stamp), list(names), values)


def imu(stamp: int, rates: FloatArray, accelerations: FloatArray) -> bytes:
    """An ``Imu`` without orientation, which its covariance says."""
    unknown = np.full(9, 0.0)
    unknown[0] = -1.0
    still = _make("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
    return _packed(
        "sensor_msgs/msg/Imu",
        header(stamp, "imu_link"),
        still,
        unknown,
        _vector(rates),
        np.zeros(9),
        _vector(accelerations),
        np.zeros(9),
    )


def wrench(stamp: int, force: FloatArray, torque: FloatArray) -> bytes:
    """A ``WrenchStamped``."""
    both = _make("geometry_msgs/msg/Wrench", _vector(force), _vector(torque))
    return _packed("geometry_msgs/msg/WrenchStamped", header(stamp, "ft_frame"), both)


def odometry(
    stamp: int,
    position: FloatArray,
    quaternion: FloatArray,
    linear: FloatArray,
    angular: FloatArray,
) -> bytes:
    """An ``Odometry``; the quaternion (4,) is MuJoCo's, w first."""
    w, x, y, z = (float(part) for part in quaternion)
    point = _make("geometry_msgs/msg/Point", *(float(part) for part in position))
    turned = _make("geometry_msgs/msg/Quaternion", x, y, z, w)
    pose = _make("geometry_msgs/msg/Pose", point, turned)
    twist = _make("geometry_msgs/msg/Twist", _vector(linear), _vector(angular))
    return _packed(
        "nav_msgs/msg/Odometry",
        header(stamp, "odom"),
        "base_link",
        _make("geometry_msgs/msg/PoseWithCovariance", pose, np.zeros(36)),
        _make("geometry_msgs/msg/TwistWithCovariance", twist, np.zeros(36)),
    )


def array(values: FloatArray) -> bytes:
    """A ``Float64MultiArray``, which has no stamp."""
    layout = _make("std_msgs/msg/MultiArrayLayout", [], 0)
    return _packed("std_msgs/msg/Float64MultiArray", layout, np.array(values))


def trajectory(names: Sequence[str], values: FloatArray, ahead_ns: int) -> bytes:
    """A ``JointTrajectory`` that starts at once and goes to one point."""
    point = _point(values, ahead_ns)
    return _packed("trajectory_msgs/msg/JointTrajectory", header(0), list(names), [point])


def controller_state(
    stamp: int, names: Sequence[str], reference: FloatArray, feedback: FloatArray
) -> bytes:
    """A ``JointTrajectoryControllerState`` with positions."""
    points = [_point(part) for part in (reference, feedback, reference - feedback, np.empty(0))]
    return _packed(_STATE_TYPE, header(stamp), list(names), *points)


def header(stamp: int, frame: str = "") -> Any:
    """A header with a stamp in ns."""
    time = _make("builtin_interfaces/msg/Time", *divmod(stamp, 10**9))
    return _make("std_msgs/msg/Header", time, frame)


def _point(positions: FloatArray, after_ns: int = 0) -> Any:
    kind = "trajectory_msgs/msg/JointTrajectoryPoint"
    empty = np.empty(0)
    when = _make("builtin_interfaces/msg/Duration", *divmod(after_ns, 10**9))
    return _make(kind, np.array(positions), empty, empty, empty, when)


def _vector(values: FloatArray) -> Any:
    return _make("geometry_msgs/msg/Vector3", *(float(value) for value in values))


def _make(msgtype: str, *fields: Any) -> Any:
    return types().types[msgtype](*fields)


def _packed(msgtype: str, *fields: Any) -> bytes:
    return bytes(types().serialize_cdr(_make(msgtype, *fields), msgtype))
