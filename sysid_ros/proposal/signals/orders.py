# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Orders and names of joints that lie elsewhere than in the message that tells of them.

A recording states orders for arrays that carry no names. Motors that messages tell by their place
alone are in the order that a maker wrote down. Of two robots of one model (``left/elbow`` and
``right/elbow``) messages often say ``elbow``, each on topics of its own.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco

from sysid_ros.errors import BagError, DataError
from sysid_ros.files import parsed_xml
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.names import match_names, words_of
from sysid_ros.recording.bags import Recording, open_recording, read_text
from sysid_ros.recording.messages import Group, GroupArray, TextArray, locate

if TYPE_CHECKING:
    from sysid_ros.recording.messages import Node

_MOST_MESSAGES = 20  # of a topic that are looked into
_MOST_NAMES = 64
# Too large, or in the order of whoever publishes them, which says nothing about commands.
_PASSED_OVER = (
    "Image", "PointCloud", "LaserScan", "OccupancyGrid", "Marker", "TFMessage", "JointState",
)  # fmt: skip
_PARAMETERS = "rcl_interfaces/msg/ParameterEvent"
# Unitree's quadrupeds begin at the right, where models mostly begin at the left
# (unitree_sdk2, robot/go2/go2_const.h, and unitree_legged_sdk, quadruped.h: FR_, FL_, RR_, RL_).
_LEGS = ("FR", "FL", "RR", "RL")
_OF_LEGS = tuple(f"{leg}_{part}" for leg in _LEGS for part in ("hip", "thigh", "calf"))
_ORDERS: Mapping[str, tuple[str, ...]] = {
    "unitree_go/*": _OF_LEGS,
    "*unitree_legged_msgs/*": _OF_LEGS,
}  # by pattern of types
_MOTOR = re.compile(r"motor_?(?:state|cmd)\[(\d+)\]", re.IGNORECASE)


@dataclass(frozen=True)
class Order:
    """Names in an order, and where they are stated."""

    names: tuple[str, ...]
    source: str


def stated_orders(bag: Path, msg_path: Sequence[Path] = ()) -> list[Order]:
    """Every list of names in a recording, and the commanded joints of its robot description.

    A controller's state and its parameters (``/parameter_events``) list its joints.

    Args:
      bag: The recording.
      msg_path: Definitions of message types that the bag lacks.
    """
    found: dict[tuple[str, ...], str] = {}
    with open_recording(bag, msg_paths=msg_path) as recording:
        for topic, info in recording.topics.items():
            if info.promised == 0 or any(part in info.msgtype for part in _PASSED_OVER):
                continue
            if info.msgtype == "std_msgs/msg/String":
                names = _controlled_joints(recording, topic)
                found.setdefault(names, f"the ros2_control tags of {topic}")
                continue
            for names in _lists(recording, topic):
                found.setdefault(names, topic)
    return [Order(names, source) for names, source in found.items() if len(names) > 1]


def _lists(recording: Recording, topic: str) -> Iterator[tuple[str, ...]]:
    """The lists of names in a topic's first messages."""
    try:
        info, types = recording.topic(topic), recording.types(topic)
        for count, message in enumerate(recording.messages([topic])):
            tree = locate(message.data, info.msgtype, types, serialization=info.serialization)
            seen = list(_of_node(tree.root))
            yield from seen
            if count >= _MOST_MESSAGES or info.msgtype != _PARAMETERS:
                return
    except (BagError, DataError):
        return


def _of_node(node: Node) -> Iterator[tuple[str, ...]]:
    if isinstance(node, TextArray):
        if 1 < len(node.values) <= _MOST_NAMES and len(set(node.values)) == len(node.values):
            yield tuple(node.values)
    elif isinstance(node, Group):
        for child in node.fields.values():
            yield from _of_node(child)
    elif isinstance(node, GroupArray):
        for child in node.items:
            yield from _of_node(child)


def _controlled_joints(recording: Recording, topic: str) -> tuple[str, ...]:
    """Joints with a command interface in the ros2_control tags of a robot description."""
    try:
        text = read_text(recording, topic)
        if "<ros2_control" not in text:
            return ()
        root = parsed_xml(text)
    except (BagError, DataError, ET.ParseError):
        return ()
    return tuple(
        joint.get("name", "")
        for system in root.iter("ros2_control")
        for joint in system.iter("joint")
        if joint.find("command_interface") is not None
    )


def with_told_names(model: mujoco.MjModel, channels: Sequence[Channel]) -> list[Channel]:
    """Name motors as their maker does, and joints of one of several robots as the model does.

    Args:
      model: The compiled model.
      channels: What was recorded.
    """
    joints = [str(model.joint(joint).name) for joint in range(model.njnt)]
    named = _by_makers(joints, channels)
    robots = _robots(joints)
    return [_of_robot(one, robots) for one in named] if robots else named


def _by_makers(joints: Sequence[str], channels: Sequence[Channel]) -> list[Channel]:
    """Name the motors of messages whose maker says which is which, where joints are called so."""
    fitting = {
        pattern: names
        for pattern, names in _ORDERS.items()
        if sum(match.sure for match in match_names(names, joints).values()) == len(names)
    }
    return [_named(one, fitting) for one in channels] if fitting else list(channels)


def _named(channel: Channel, orders: Mapping[str, Sequence[str]]) -> Channel:
    names = next((one for key, one in orders.items() if fnmatchcase(channel.msgtype, key)), ())
    place = _MOTOR.match(channel.field)
    if channel.name or place is None or int(place[1]) >= len(names):
        return channel
    return replace(channel, name=names[int(place[1])])


def _robots(joints: Sequence[str]) -> dict[str, frozenset[str]]:
    """The words of each robot's name, of several in a model whose joints are called alike."""
    split = [joint.rpartition("/") for joint in joints if "/" in joint]
    alike = Counter(last for _, _, last in split)
    spaces = dict.fromkeys(space for space, _, last in split if alike[last] > 1)
    return {space: words_of(space) for space in spaces}


def _of_robot(channel: Channel, robots: Mapping[str, Collection[str]]) -> Channel:
    """Put the robot's name before that of a joint, where the topic names one robot."""
    parts = channel.topic.split("/")[1:-1]
    told: frozenset[str] = frozenset().union(*map(words_of, parts))
    fitting = [space for space, words in robots.items() if words and told.issuperset(words)]
    if not channel.name or "/" in channel.name or len(fitting) != 1:
        return channel
    return replace(channel, name=f"{fitting[0]}/{channel.name}")
