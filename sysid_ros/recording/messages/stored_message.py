# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A message as bags store it: its bytes, its times, and how its type is defined."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Clock(str, Enum):
    """The times of a message that can date its content."""

    HEADER = "header"  # header.stamp; publish time where a type has no header
    PUBLISH = "publish"
    RECEIVE = "receive"
    SIMULATION = "simulation"  # the bag's /clock when it was published
    EVEN = "even"  # publish time without its scatter about an even rate
    DEVICE = "device"  # an integer in which the sender counts time, on the recorder's clock


class RawMessage(NamedTuple):
    """One message as stored."""

    topic: str  # the topic's name
    log_ns: int  # when the recorder received it, nanoseconds since the epoch
    publish_ns: int | None  # when it was published, or ``None`` where the format does not keep it
    data: bytes  # its serialized bytes


@dataclass(frozen=True)
class Definition:
    """A message definition as a bag carries it."""

    language: str = ""  # ``"msg"``, ``"idl"``, or ``""`` where the bag has no definition
    text: str = ""  # the definition with those of the types it uses
    digest: str = ""  # the type's RIHS01 hash, or empty where unknown


def ros2_type(name: str) -> str:
    """Spell a type name as ROS 2 does: ``sensor_msgs/Imu`` becomes ``sensor_msgs/msg/Imu``."""
    package, slash, rest = name.partition("/")
    return f"{package}/msg/{rest}" if slash and "/" not in rest else name
