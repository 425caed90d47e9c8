# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Paths to numbers inside messages: ``position[elbow]``, ``linear_acceleration.x``, ``data[1]``.

An array is indexed by a number (negative counts from its end) or by a name. A name is looked up
in the string arrays beside the array (``name`` of a JointState, ``joint_names`` of a
JointTrajectory, ``interface_names`` of an InterfaceValue), then in those of the enclosing parts,
and last in the elements' own strings (``child_frame_id`` of a transform), or in those of their
parts (``state.name``). Names are looked up in every message anew, since their order may change from
one to the next. A number has an index where each message is of one motor, which another of its
numbers says: ``position[motor_id=3]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sysid_ros.errors import DataError, unknown_name
from sysid_ros.recording.messages.message_tree import (
    Group,
    GroupArray,
    Number,
    NumberArray,
    Text,
    TextArray,
)
from sysid_ros.recording.messages.message_types import HEADER, message_type
from sysid_ros.recording.messages.owners import Owner, whose

if TYPE_CHECKING:
    from sysid_ros.recording.messages.message_tree import Node

_STEP = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\]]*)\])?\s*")
_INTEGER = re.compile(r"[+-]?\d+")
_OWNER = re.compile(r"([A-Za-z_]\w*)=(\d+)")
EVERY = "*"  # the element that stands for all points of a trajectory


@dataclass(frozen=True)
class Step:
    """One part of a path: a field and, for arrays, which element, or for a number whose."""

    field: str
    element: int | str | Owner | None = None


@dataclass(frozen=True)
class FieldPath:
    """A parsed path; ``str`` gives it back as written."""

    text: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Absent:
    """A path that is right for its type but has no value in this message."""

    reason: str  # why, as the end of a sentence about the message
    empty: bool  # the element is named, yet its array is too short: the publisher left it empty
    ambiguous: bool = False  # the element is named more than once


def parse_field(text: str) -> FieldPath:
    """Parse a field path.

    Args:
      text: Such as ``interface_values[elbow].values[effort]``. A joint whose name looks like a
        number is written in quotes: ``position["1"]``.

    Raises:
      DataError: It is not a path.
    """
    steps: list[Step] = []
    position = 0
    while True:
        match = _STEP.match(text, position)
        if match is None or (match[2] is not None and not match[2].strip()):
            raise DataError(
                f"{text!r} is not a field path (at character {position + 1}); valid are such as "
                "'position[elbow]', 'linear_acceleration.x', 'data[1]'"
            )
        steps.append(Step(match[1], _element(match[2])))
        position = match.end()
        if position == len(text):
            return FieldPath(text, tuple(steps))
        if text[position] != ".":
            raise DataError(
                f"{text!r} is not a field path: expected '.' after {match[0].strip()!r}"
            )
        position += 1


def _element(text: str | None) -> int | str | Owner | None:
    if text is None:
        return None
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return int(text)
    if owner := _OWNER.fullmatch(text):
        return Owner(owner[1], int(owner[2]))
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def field_named(name: str, msgtype: str, fields: Iterable[str]) -> str | None:
    """Return what a message type calls a field: its name, or the one it had before or after.

    Returns:
      ``None`` where there is no such field.
    """
    fields = set(fields)
    if name in fields:
        return name
    other = message_type(msgtype).renamed_fields.get(name)
    return other if other in fields else None


def resolve(path: FieldPath, root: Group, data: bytes = b"") -> Number | Absent:
    """Find the number that a path leads to among a message's fields.

    ``data`` is the message, where the path says whose number it is.

    Returns:
      The number's type and offset, or why this message has none.

    Raises:
      DataError: The type has no such field, or the path does not lead to a single number.
    """
    scopes = [root]
    for position, step in enumerate(path.steps):
        group = scopes[-1]
        name = field_named(step.field, group.msgtype, group.fields)
        if name is None:
            raise DataError(
                f"field {path.text!r}: "
                + unknown_name(f"field of {group.msgtype}", step.field, group.fields)
            )
        node = _select(path, step, group.fields[name], scopes, data)
        if isinstance(node, Absent):
            return node
        last = position == len(path.steps) - 1
        if last and isinstance(node, Number):
            return node
        if last or not isinstance(node, Group):
            raise DataError(_not_a_number(path, step, node, scopes))
        scopes.append(node)
    raise DataError(f"{path.text!r} names no field")


def owners(path: FieldPath, root: Group) -> list[Number]:
    """The numbers of a message that say whether it is of what a path asks for."""
    asked = [step.element for step in path.steps[:1] if isinstance(step.element, Owner)]
    return [node for one in asked if isinstance(node := root.fields.get(one.field), Number)]


def _of_another(path: FieldPath, asked: Owner, group: Group, data: bytes) -> Absent | None:
    """The reason why a message is not of the one that is asked for; ``None`` if it is."""
    node = group.fields.get(asked.field)
    if not isinstance(node, Number) or node.dtype[1] not in "iu" or len(path.steps) > 1:
        raise DataError(
            f"field {path.text!r}: "
            + unknown_name(
                f"whole number of {group.msgtype} beside it",
                asked.field,
                [name for name, one in group.fields.items() if isinstance(one, Number)],
            )
        )
    value = whose(node, data)
    told = f"{asked.field} is {value}, not {asked.value}"
    return None if value == asked.value else Absent(told, empty=False)


def texts_of(item: Group) -> list[str]:
    """The strings of an element, and behind them those of its parts but for headers."""
    parts = [one for one in item.fields.values() if isinstance(one, Group)]
    within = (text for part in parts if part.msgtype != HEADER for text in texts_of(part))
    return [*_own_texts(item), *within]


def _own_texts(item: Group) -> list[str]:
    return [node.value for node in item.fields.values() if isinstance(node, Text)]


def _select(
    path: FieldPath, step: Step, node: Node, scopes: list[Group], data: bytes
) -> Node | Absent:
    """Pick the element that a step names."""
    if step.element is None:
        return node
    if isinstance(step.element, Owner):
        return _of_another(path, step.element, scopes[-1], data) or node
    if isinstance(node, TextArray):
        raise DataError(f"field {path.text!r}: {step.field} is text, not numbers")
    if not isinstance(node, (NumberArray, GroupArray)):
        raise DataError(f"field {path.text!r}: {step.field} is not an array")
    if isinstance(step.element, int):
        index = step.element
        if not -len(node) <= index < len(node):
            return Absent(f"{step.field} {_fill(node)}", empty=len(node) == 0)
        index %= len(node)
    else:
        names = _list_with(step.element, scopes)
        found = _index_by_name(step.element, node, names)
        if found is None:
            return Absent(unknown_name("element", step.element, _names(node, scopes)), empty=False)
        if (count := names.count(step.element)) > 1:
            number = f"choose one by its number, such as {step.field}[{found}]"
            return Absent(
                f"{step.element!r} is named {count} times; {number}", empty=False, ambiguous=True
            )
        if found >= len(node):
            named = f"although {step.element!r} is named"
            return Absent(f"{step.field} {_fill(node)} {named}", empty=True)
        index = found
    return node.items[index] if isinstance(node, GroupArray) else node[index]


def _fill(array: NumberArray | GroupArray) -> str:
    """Say how long an array is that turned out to be too short."""
    count = len(array)
    return "is empty" if not count else f"has only {count} element{'s' * (count != 1)}"


def _list_with(name: str, scopes: list[Group]) -> Sequence[str]:
    """The nearest list of names that has a name; empty where none has."""
    for group in reversed(scopes):
        for node in group.fields.values():
            if isinstance(node, TextArray) and name in node.values:
                return node.values
    return ()


def _index_by_name(name: str, array: NumberArray | GroupArray, names: Sequence[str]) -> int | None:
    if name in names:
        return names.index(name)
    items = array.items if isinstance(array, GroupArray) else ()
    for texts in (_own_texts, texts_of):
        found = next((index for index, item in enumerate(items) if name in texts(item)), None)
        if found is not None:
            return found
    return None


def _names(array: NumberArray | GroupArray, scopes: list[Group]) -> list[str]:
    """Return every name by which an element could have been called."""
    names = [
        name
        for group in scopes
        for node in group.fields.values()
        if isinstance(node, TextArray)
        for name in node.values
    ]
    for item in array.items if isinstance(array, GroupArray) else ():
        names += texts_of(item)
    return names


def _not_a_number(path: FieldPath, step: Step, node: Node, scopes: list[Group]) -> str:
    if isinstance(node, Group):
        return f"field {path.text!r} is a {node.msgtype}; its fields: {', '.join(node.fields)}"
    if isinstance(node, (NumberArray, GroupArray)):
        example = (_names(node, scopes) or ["0"])[0]
        return (
            f"field {path.text!r}: {step.field} is an array; name one element, "
            f"such as {step.field}[{example}]"
        )
    if isinstance(node, Number):
        return f"field {path.text!r}: {step.field} is a number and has no fields of its own"
    numbers = "numbers" if isinstance(node, TextArray) else "a number"
    return f"field {path.text!r}: {step.field} is text, not {numbers}"
