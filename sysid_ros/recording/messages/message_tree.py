# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The places of a serialized message's values in its bytes.

:func:`locate` walks one message by its type's fields and notes the offset of every number instead
of decoding it. Numbers of a whole run of messages that are laid out alike can then be read with
one strided numpy view (:mod:`sysid_ros.recording.messages.topic_columns`).

Serializations: CDR (OMG DDS-XTypes 1.3, plain encoding version 1: every primitive aligned to its
size, counted from the byte after the four byte encapsulation header) and ROS 1 (packed, little
endian; http://wiki.ros.org/msg).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from rosbags.interfaces import Nodetype

from sysid_ros.errors import BagError

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs

Node: TypeAlias = "Number | NumberArray | Text | TextArray | Group | GroupArray"

_NUMPY_CODES = {
    "bool": "u1",
    "byte": "u1",
    "char": "u1",
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "int64": "i8",
    "uint64": "u8",
    "float32": "f4",
    "float64": "f8",
}
_PADDING_FIELD = "structure_needs_at_least_one_member"  # of empty ROS 2 messages
_CDR_HEADER = 4
_LONGEST_PADDING = 7  # bytes after a message's last field; DDS aligns to 4 or 8
# Fast DDS reserves the padding of an empty sequence's elements, which it then does not write: a
# JointState without velocities and efforts ends in 8 bytes that mean nothing.
_RESERVED = 4
_PARTS_WITHOUT_BYTES = 100_000  # in a message; ROS 1 gives an empty part none


@dataclass(frozen=True)
class Number:
    """A number: its numpy type with byte order, and its offset in the message."""

    dtype: str
    offset: int


@dataclass(frozen=True)
class NumberArray:
    """Numbers in a row; ``fixed`` where every message of the type has as many."""

    dtype: str
    offset: int
    count: int
    fixed: bool = False

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Number:
        return Number(self.dtype, self.offset + int(self.dtype[2:]) * index)


@dataclass(frozen=True)
class Text:
    """A string with its value."""

    value: str


@dataclass(frozen=True)
class TextArray:
    """Strings with their values."""

    values: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class Group:
    """A message or a part of one."""

    msgtype: str
    fields: Mapping[str, Node]


@dataclass(frozen=True)
class GroupArray:
    """Parts in a row."""

    msgtype: str
    items: tuple[Group, ...]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class MessageTree:
    """One message, located."""

    root: Group  # its fields
    # offsets of every byte that decides where things lie: encapsulation, the counts of arrays and
    # strings, and the strings themselves (they name array elements). Messages of equal length that
    # agree in these bytes are laid out alike
    shape: tuple[int, ...]


def locate(
    data: bytes, msgtype: str, types: Mapping[str, Fielddefs], *, serialization: str
) -> MessageTree:
    """Locate every value of one message, serialized as ``"cdr"`` or ``"ros1"``.

    ``types`` has the fields of its type and of those it uses.

    Raises:
      BagError: The bytes do not fit the type, or it uses a type that is not supported.
    """
    walk = _Walk(data, types, serialization, msgtype)
    tree = MessageTree(walk.group(msgtype), tuple(walk.shape))
    walk.check_end()
    return tree


class _Walk:
    """A position moving through one message."""

    def __init__(
        self, data: bytes, types: Mapping[str, Fielddefs], serialization: str, msgtype: str
    ) -> None:
        self._data = data
        self._types = types
        self._msgtype = msgtype
        self._cdr = serialization == "cdr"
        self._origin = _CDR_HEADER if self._cdr else 0
        self._position = self._origin
        self._order = "<"
        self._reserved = 0  # bytes that may follow without a meaning
        self._groups = 0
        self.shape: list[int] = []
        if self._cdr:
            if len(data) < _CDR_HEADER or data[0] != 0 or data[1] > 1:
                raise BagError(
                    f"a {msgtype} message starts with {data[:4].hex() or 'nothing'}, which is not "
                    "plain CDR"
                )
            self._order = "<" if data[1] else ">"
            self.shape.append(1)

    def group(self, msgtype: str) -> Group:
        """Walk over one message or part."""
        self._groups += 1
        if self._groups > len(self._data) + _PARTS_WITHOUT_BYTES:
            raise self._misfit()
        described = self._types[msgtype]
        if self._cdr and not described:
            self._advance(1, 1)
        fields: dict[str, Node] = {}
        for name, description in described:
            if name != _PADDING_FIELD:
                fields[name] = self._value(description)
            elif self._cdr:
                self._advance(1, 1)
        return Group(msgtype, fields)

    def check_end(self) -> None:
        """Refuse a message that goes on after its last field, but for padding.

        Raises:
          BagError: It does; the definition is another version's.
        """
        if len(self._data) - self._position > (
            _LONGEST_PADDING + self._reserved if self._cdr else 0
        ):
            raise self._misfit()

    def _value(self, description: Any) -> Node:
        kind, detail = description
        if kind == Nodetype.NAME:
            return self.group(detail)
        if kind == Nodetype.BASE:
            return self._text() if detail[0] == "string" else self._number(detail[0])
        item, count = detail
        fixed = kind == Nodetype.ARRAY
        return self._array(item, count if fixed else self._count(), fixed=fixed)

    def _array(self, item: Any, count: int, *, fixed: bool) -> Node:
        kind, detail = item
        if kind == Nodetype.NAME:
            return GroupArray(detail, tuple(self.group(detail) for _ in range(count)))
        if detail[0] == "string":
            return TextArray(tuple(self._text().value for _ in range(count)))
        code = self._code(detail[0])
        size = int(code[1:])
        if count == 0 and size > _RESERVED:
            self._reserved += _RESERVED
        start = self._advance(size, count * size) if count else self._position
        return NumberArray(self._order + code, start, count, fixed)

    def _number(self, name: str) -> Number:
        code = self._code(name)
        size = int(code[1:])
        return Number(self._order + code, self._advance(size, size))

    def _code(self, name: str) -> str:
        if name not in _NUMPY_CODES:
            raise BagError(f"{self._msgtype} uses {name}, which is not supported")
        return _NUMPY_CODES[name]

    def _text(self) -> Text:
        length = self._count()
        start = self._advance(1, length)
        self.shape.extend(range(start, start + length))
        raw = self._data[start : start + length]
        return Text((raw[:-1] if self._cdr else raw).decode(errors="replace"))

    def _count(self) -> int:
        start = self._advance(4, 4)
        self.shape.extend(range(start, start + 4))
        raw = self._data[start : start + 4]
        count = int.from_bytes(raw, "little" if self._order == "<" else "big")
        if count > len(self._data):
            raise self._misfit()
        return count

    def _advance(self, alignment: int, size: int) -> int:
        """Move past a value and return where it starts."""
        start = self._position
        if self._cdr:
            start += -(start - self._origin) % alignment
        self._position = start + size
        if self._position > len(self._data):
            raise self._misfit()
        return start

    def _misfit(self) -> BagError:
        return BagError(
            f"a message of {len(self._data)} bytes does not fit the definition of {self._msgtype}"
        )
