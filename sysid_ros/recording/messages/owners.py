# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Owners of the numbers of messages that are of one motor each, and say which by an id.

Drivers of motors on one bus publish what each of them answers on one topic: ``motor_id`` and
``position``. Such a number is read as ``position[motor_id=3]``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sysid_ros.recording.messages.message_tree import Number

if TYPE_CHECKING:
    from sysid_ros.recording.messages.message_tree import Group

_CALLED = re.compile("(.+_)?id")
_MOST = 64  # on one bus; what counts further is a counter


@dataclass(frozen=True, order=True)
class Owner:
    """The motor whose numbers a message has: a field beside them has this value."""

    field: str
    value: int

    def __str__(self) -> str:
        return f"{self.field}={self.value}"


def whose(number: Number, data: bytes) -> int:
    """The value of a number that says whose a message is."""
    return int(np.frombuffer(data, number.dtype, 1, number.offset)[0])


def owner_of(root: Group, data: bytes) -> Owner | None:
    """The owner of a message's numbers, as the first of them called an id says, if there is one."""
    for name, node in root.fields.items():
        if _CALLED.fullmatch(name) and isinstance(node, Number) and node.dtype[1] in "iu":
            return Owner(name, whose(node, data))
    return None


def told_apart(owners: Collection[Owner]) -> list[Owner]:
    """Owners in order, if a topic has several, and not so many that they are counted."""
    return sorted(owners) if 1 < len(owners) <= _MOST else []
