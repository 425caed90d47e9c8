# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Orders of joints that a recording states, for arrays that carry no names."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sysid_ros.errors import BagError, DataError
from sysid_ros.files import parsed_xml
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
