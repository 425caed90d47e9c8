# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units of fields, as comments of their definitions say them, or else their makers' manuals.

In a ``.msg`` file a comment stands behind a field or in the lines right above it. What counts is a
unit in brackets or behind ``in``, as of ``[deg/s]``, ``(rad)`` and ``in revolutions``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from sysid_ros.recording.messages.definitions import used_types

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs

    from sysid_ros.recording.messages.stored_message import Definition

# Fields of types whose definitions have no comments, by type and name.
_KNOWN: Mapping[str, Mapping[str, str]] = {
    # Kinova's Kortex API reference, "ActuatorFeedback" and "JointSpeed".
    "kortex_driver/msg/Actuator*": {"position": "deg", "velocity": "deg/s"},
    "kortex_driver/msg/JointSpeed": {"value": "deg/s"},
    # mjbots' "ROS 2" and "Register reference".
    "moteus_msgs/msg/*": {"position": "rev", "velocity": "rev"},
    # ODrive's ros_odrive, "ControllerStatus" and "ControlMessage".
    "odrive_can/msg/*": {
        "pos_estimate": "rev", "vel_estimate": "rev", "input_pos": "rev", "input_vel": "rev",
    },
}  # fmt: skip
_SECOND = r"\s*(?:/|per)\s*s(?:ec(?:ond)?s?)?"
_TURNS = r"rev(?:olution)?s?|turns"
_WRITTEN = {  # the unit that each pattern means, of revolutions a second, too, what they are each
    rf"deg(?:ree)?s?{_SECOND}|dps": "deg/s",
    r"deg(?:ree)?s?": "deg",
    rf"(?:{_TURNS})(?:{_SECOND})?": "rev",
    r"rpm|r/min": "rpm",
    r"mm|milli-?met(?:er|re)s?": "mm",
}
_SEPARATOR = re.compile(r"^=+\s*\nMSG: *(\S+)\s*$", re.MULTILINE)
_FIELD = re.compile(r"[\w/]+(?:<=\d+)?(?:\[[^\]]*\])?\s+(\w+)\s*(?:#(.*))?")
_OTHERWISE = re.compile(r"\brad|celsius|[*\u00d7]\s*\d|\bx\s*\d|/\s*\d", re.IGNORECASE)  # or scaled
_QUOTED = re.compile(r"\[([^\]]*)\]|\(([^)]*)\)|\bin ([\w/-]+(?: per \w+)?)")


def unit_of(
    field: str, msgtype: str, types: Mapping[str, Fielddefs], definition: Definition
) -> str:
    """The unit of a field, of those in which joints are told; empty where nothing says one.

    Args:
      field: A path, such as ``actuators[0].position``.
      msgtype: The type of the message.
      types: Fields of that type and of those it uses.
      definition: What the bag says about it.
    """
    owner, name = _owner(msgtype, re.sub(r"\[[^\]]*\]", "", field).split("."), types)
    text = definition.text if definition.language == "msg" else ""
    told = _commented(text, msgtype).get((owner, name), "")
    known = (found for kind, found in _KNOWN.items() if fnmatchcase(owner, kind))
    return told or next(known, {}).get(name, "")


def _owner(msgtype: str, parts: list[str], types: Mapping[str, Fielddefs]) -> tuple[str, str]:
    """The type that has a path's last field, and that field."""
    for part in parts[:-1]:
        described = dict(types.get(msgtype, ())).get(part)
        msgtype = next(iter(used_types(described)), "") if described else ""
    return msgtype, parts[-1]


@lru_cache(maxsize=64)
def _commented(text: str, msgtype: str) -> dict[tuple[str, str], str]:
    """The units that a definition's comments say, by type and field."""
    found: dict[tuple[str, str], str] = {}
    _, *rest = parts = _SEPARATOR.split(text)
    for owner, body in zip([msgtype, *rest[::2]], parts[::2], strict=True):
        package, _, kind = owner.rpartition("/")
        name, above = f"{package.removesuffix('/msg')}/msg/{kind}", list[str]()
        for line in map(str.strip, body.splitlines()):
            if line.startswith("#"):
                above.append(line)
                continue
            if (field := _FIELD.fullmatch(line)) and (
                unit := _written(field[2] or "") or _written(" ".join(above))
            ):
                found[name, field[1]] = unit
            above = []
    return found


def _written(comment: str) -> str:
    """The unit that a comment has in brackets or behind ``in``; empty for another or several."""
    quoted = ("".join(filter(None, parts)).strip().lower() for parts in _QUOTED.findall(comment))
    units = {unit for one in quoted for told, unit in _WRITTEN.items() if re.fullmatch(told, one)}
    return units.pop() if len(units) == 1 and not _OTHERWISE.search(comment) else ""
