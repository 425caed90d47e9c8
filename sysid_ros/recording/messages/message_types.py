# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table of message types that are read otherwise than their definition says.

Every type that a bag defines can be read field by field. What stands here is what a definition
does not tell: which numbers a field of this type stands for, and in which order; whether it was
measured or commanded; what a stamp of zero means. A new special type is one row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache

HEADER = "std_msgs/msg/Header"
TIME = "builtin_interfaces/msg/Time"
CLOCK = "rosgraph_msgs/msg/Clock"
QUATERNION = "geometry_msgs/msg/Quaternion"
_POINT = "geometry_msgs/msg/Point"
_VECTOR = "geometry_msgs/msg/Vector3"


@dataclass(frozen=True)
class MessageType:
    """The peculiarities of a message type."""

    # the fields that it stands for in MuJoCo's order, with their types; a number's is empty
    parts: Mapping[str, str] = field(default_factory=dict)
    measured: bool = False  # whether its values were measured; others are commands, which hold
    # how the fields begin, or parts of them, that are commands although the type is measured
    commanded_fields: tuple[str, ...] = ()
    # what its fields were called before or after they were renamed
    renamed_fields: Mapping[str, str] = field(default_factory=dict)
    zero_stamp_is_now: bool = False  # whether a header stamp of zero means the time of sending
    # whether y and z of its frames, the world's and the body's, point the other way than those of
    # ROS
    z_down: bool = False
    # whether it asks a whole base to move, of which a controller makes what each wheel does
    of_base: bool = False
    # whether it asks a flight controller for an attitude or rates and a throttle, of which that
    # makes what each rotor does
    of_attitude: bool = False


def _numbers(names: str) -> MessageType:
    return MessageType(parts=dict.fromkeys(names, ""))


_ASKED = re.compile("(cmd|command|des|desired|goal|ref|reference|setpoint|target)s?")
_SPACES = ("commands",)  # of topics that all ask for something
_REPORTED = re.compile("(state|feedback|telemetry|measurement)s?|status|measured|present|actual")
_INPUTS = ("input", "action", "actions")  # an action is a policy's, as LeRobot calls commands
_CRTK = re.compile("(servo|move)_[jc][a-z]")  # of the collaborative robotics toolkit, as servo_jp
_COMMANDED = ("reference", "desired", "set_point", "output", "command")

# By type, or by pattern of types; the first row that fits counts.
MESSAGE_TYPES: Mapping[str, MessageType] = {
    QUATERNION: _numbers("wxyz"),
    _POINT: _numbers("xyz"),
    "geometry_msgs/msg/Point32": _numbers("xyz"),
    _VECTOR: _numbers("xyz"),
    "geometry_msgs/msg/Pose": MessageType({"position": _POINT, "orientation": QUATERNION}),
    "geometry_msgs/msg/Transform": MessageType({"translation": _VECTOR, "rotation": QUATERNION}),
    "geometry_msgs/msg/Twist": MessageType({"linear": _VECTOR, "angular": _VECTOR}, of_base=True),
    "geometry_msgs/msg/TwistStamped": MessageType(of_base=True),
    "ackermann_msgs/*": MessageType(of_base=True),  # steering_angle in rad, speed in m/s
    "geometry_msgs/msg/Accel": MessageType({"linear": _VECTOR, "angular": _VECTOR}),
    "geometry_msgs/msg/Wrench": MessageType({"force": _VECTOR, "torque": _VECTOR}),
    # A reading, or an estimate with its uncertainty, stands for what it is of.
    "geometry_msgs/msg/PoseWithCovariance": MessageType({"pose": "geometry_msgs/msg/Pose"}),
    "geometry_msgs/msg/TwistWithCovariance": MessageType({"twist": "geometry_msgs/msg/Twist"}),
    "geometry_msgs/msg/AccelWithCovariance": MessageType({"accel": "geometry_msgs/msg/Accel"}),
    "trajectory_msgs/msg/JointTrajectory": MessageType(zero_stamp_is_now=True),
    "sensor_msgs/*": MessageType(measured=True),
    "nav_msgs/*": MessageType(measured=True),
    "tf2_msgs/*": MessageType(measured=True),
    "mavros_msgs/*AttitudeTarget": MessageType(of_attitude=True),
    # North, east, down and forward, right, down (docs.px4.io, "ROS 2 User Guide").
    **dict.fromkeys(
        ("px4_msgs/msg/VehicleRatesSetpoint", "px4_msgs/msg/VehicleAttitudeSetpoint"),
        MessageType(measured=True, z_down=True, of_attitude=True),
    ),
    "px4_msgs/msg/Vehicle*": MessageType(measured=True, z_down=True),
    "px4_msgs/msg/Sensor*": MessageType(measured=True, z_down=True),
    # control_msgs renamed the parts of JointTrajectoryControllerState; either name finds either.
    "*ControllerState": MessageType(
        measured=True,
        commanded_fields=_COMMANDED,
        renamed_fields={
            "reference": "desired",
            "feedback": "actual",
            "desired": "reference",
            "actual": "feedback",
        },
    ),
    "*/*State*": MessageType(measured=True, commanded_fields=_COMMANDED),
    "*/*Status*": MessageType(measured=True, commanded_fields=_COMMANDED),  # as drives tell it
    "*/*Feedback*": MessageType(measured=True, commanded_fields=_COMMANDED),
    "*/*Telemetry*": MessageType(measured=True, commanded_fields=_COMMANDED),
    "*/*Reading*": MessageType(measured=True, commanded_fields=_COMMANDED),
}
_ORDINARY = MessageType()


@lru_cache(maxsize=1024)
def message_type(name: str) -> MessageType:
    """Return what is special about a type; nothing, for most."""
    found = MESSAGE_TYPES.get(name)
    if found is not None:
        return found
    return next((row for key, row in MESSAGE_TYPES.items() if fnmatchcase(name, key)), _ORDINARY)


def is_command(msgtype: str, field: str, topic: str) -> bool:
    """Tell by type, field and topic whether an actuator's values are commands, which hold.

    What sensors measured (and was published as a state) is sampled and interpolated linearly;
    everything else, such as ``std_msgs/msg/Float64MultiArray`` or a trajectory, stays in force
    until the next message. The reference and output of a controller's state are commands, and so
    is a state on a topic such as ``/joint_command``, as simulators and ros2_control's topic-based
    hardware take it.
    """
    row = message_type(msgtype)
    return reports_command(msgtype, field) or is_asked(topic) if row.measured else True


def reports_command(msgtype: str, field: str) -> bool:
    """Tell whether a field of a state is what was asked for, such as a controller's reference.

    States are published at instants of their own, so that they show samples of it.
    """
    row = message_type(msgtype)
    parts = re.split(r"[\s.*+-]+", re.sub(r"\[[^\]]*\]", "", field))  # also of sums
    return row.measured and any(
        part.startswith(row.commanded_fields) or (row.commanded_fields and _asks(part))
        for part in parts
    )


def is_asked(topic: str) -> bool:
    """Tell whether a topic's own name says that its messages ask for something, as a goal does.

    Namespaces say nothing, as a robot may be called ``target_arm``, but for MAVROS's ``setpoint_``
    and those of commands, as of VESC's ``/commands/motor/speed``, but for what is reported there.
    """
    *spaces, own = topic.lower().split("/")
    asked = _asks(own) or own in _INPUTS or _CRTK.fullmatch(own) is not None
    below = any(s in _SPACES or s.startswith("setpoint_") for s in spaces)
    return asked or (below and not is_reported(topic))


def is_reported(topic: str) -> bool:
    """Tell whether a word of a topic's own name says that its messages tell what is, as a state."""
    own = topic.lower().rpartition("/")[2]
    return any(map(_REPORTED.fullmatch, re.split(r"[_\d]+", own)))


def _asks(name: str) -> bool:
    """Tell whether a word of a name says that something is asked for."""
    whole = name.replace("set_point", "setpoint")
    return any(map(_ASKED.fullmatch, re.split(r"[_\d]+", whole)))
