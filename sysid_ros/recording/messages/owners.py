# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Owners of the numbers of messages that are of one motor each, and say which by an id.

Drivers of motors on one bus publish what each of them answers on one topic: ``motor_id`` and
``position``. Such a number is read as ``position[motor_id=3]``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sysid_ros.recording.messages.message_tree import Number, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sysid_ros.recording.messages.message_tree import Group
    from sysid_ros.recording.messages.stored_message import RawMessage

_CALLED = re.compile("(.+_)?id")
_NAMED = re.compile("(joint|motor|actuator|servo)|((joint|motor|actuator|servo)_)?name")
_MOST = 64  # on one bus
_TURNS = 2  # of each


@dataclass(frozen=True, order=True)
class Owner:
    """The motor whose numbers a message has: a field beside them has this value."""

    field: str
    value: int

    def __str__(self) -> str:
        return f"{self.field}={self.value}"


def owner_name(message: Group) -> str:
    """The name of whose numbers a message has, as a string of it; empty where none tells."""
    texts = [
        node.value for field, node in message.fields.items()
        if isinstance(node, Text) and _NAMED.fullmatch(field)
    ]  # fmt: skip
    return texts[0] if len(texts) == 1 else ""


def lack_name(messages: Iterable[RawMessage], name: str) -> bool:
    """Tell whether any of some messages is without a name, as it is of another."""
    return any(name.encode() not in one.data for one in messages)


def whose(number: Number, data: bytes) -> int:
    """The value of a number that says whose a message is."""
    return int(np.frombuffer(data, number.dtype, 1, number.offset)[0])


class Turns:
    """The ids that a topic's messages have in turn, from the first message on.

    Motors on a bus answer again and again; counts never come back, and modes last.
    """

    def __init__(self) -> None:
        """Know of no message yet."""
        self._courses: dict[str, list[int]] = {}  # by field, in order, each but the repeated ones

    @property
    def told(self) -> bool:
        """True if a message had an id that may be an owner's."""
        return bool(self._courses)

    def note(self, root: Group, data: bytes) -> None:
        """Take the ids of the next message."""
        for name, node in root.fields.items():
            if _CALLED.fullmatch(name) and isinstance(node, Number) and node.dtype[1] in "iu":
                course, value = self._courses.setdefault(name, []), whose(node, data)
                if course[-1:] != [value]:
                    course.append(value)

    def owners(self) -> list[Owner]:
        """Those that the first such field tells apart, in order; empty where none does."""
        for name, course in self._courses.items():
            values = sorted(set(course))
            in_turn = len(course) >= _TURNS * len(values)
            if in_turn and 1 < len(values) <= _MOST and values[0] >= 0:
                return [Owner(name, value) for value in values]
        return []
