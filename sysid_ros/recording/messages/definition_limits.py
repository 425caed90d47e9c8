# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Refusing message types that no message can have: those that contain themselves, or too much.

A type that contains itself never ends; forty types that contain the next one twice make a message
of a million million values in a kilobyte of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rosbags.interfaces import Nodetype

from sysid_ros.errors import BagError

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs

LONGEST_TEXT = 120_000  # characters of a definition with all that it uses; ROS's largest has 40 000
DEEPEST = 50  # types one within the other
MOST_VALUES = 100_000  # of a message whose sequences are empty


def check_types(msgtype: str, types: Mapping[str, Fielddefs]) -> None:
    """Refuse a type that contains itself or has more values than any message.

    Args:
      msgtype: The type.
      types: Fields of that type and of those it uses.

    Raises:
      BagError: It is such a type.
    """
    values: dict[str, int] = {}
    entered: dict[str, None] = {}  # in order: the types that contain what is looked at
    stack = [msgtype]
    while stack:
        name = stack[-1]
        missing = [one for one, _ in _parts(types[name]) if one and one not in values]
        if not missing:
            entered.pop(name, None)
            stack.pop()
            values[name] = 1 + sum(
                count * (values[one] if one else 1) for one, count in _parts(types[name])
            )
            if values[name] > MOST_VALUES:
                raise BagError(f"type {name} has more than {MOST_VALUES} values in each message")
            continue
        entered[name] = None
        for one in missing:
            if len(entered) > DEEPEST:
                raise BagError(f"type {msgtype} is nested more than {DEEPEST} levels deep")
            if one in entered:
                raise BagError(f"type {one} contains itself, which no message can")
        stack.append(missing[0])


def _parts(fields: Fielddefs) -> Iterator[tuple[str, int]]:
    """Yield the message types in a type and how many of each it has; numbers and texts are ''."""
    return (_part(kind, detail) for _, (kind, detail) in fields)


def _part(kind: Any, detail: Any) -> tuple[str, int]:
    if kind == Nodetype.NAME:
        return str(detail), 1
    if kind == Nodetype.BASE:
        return "", 1
    (item_kind, item), count = detail
    if item_kind == Nodetype.NAME:
        return str(item), max(1, count) if kind == Nodetype.ARRAY else 1
    text = item[0] == "string" and kind == Nodetype.ARRAY
    return "", max(1, count) if text else 1
