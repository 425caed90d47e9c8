"""Reading the same fields of many messages that are laid out alike.

Messages of one topic usually differ in their numbers only. One message is located
(:mod:`~sysid_ros.recording.message_tree`); every other of the same length that agrees with it in
each byte that decides the layout is then read through strided numpy views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sysid_ros.recording.fields import Absent, FieldPath, parse_field, resolve
from sysid_ros.recording.message_tree import Number, locate

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs

ByteRows = npt.NDArray[np.uint8]
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True)
class FieldReader:
    """Which fields to read from messages of one type.

    Attributes:
      msgtype: The type.
      serialization: ``"cdr"`` or ``"ros1"``.
      types: Fields of the type and of those it uses.
      paths: The wanted fields.
      stamp: Paths of the header's seconds and nanoseconds; ``None`` for a type without.
    """

    msgtype: str
    serialization: str
    types: Mapping[str, Fielddefs]
    paths: tuple[FieldPath, ...]
    stamp: tuple[FieldPath, FieldPath] | None

    @classmethod
    def of_type(
        cls,
        msgtype: str,
        serialization: str,
        types: Mapping[str, Fielddefs],
        paths: tuple[FieldPath, ...],
    ) -> FieldReader:
        """Make a reader, finding out whether the type has a header."""
        header = dict(types[msgtype]).get("header")
        stamped = header is not None and header[1] == "std_msgs/msg/Header"
        stamp = parse_field("header.stamp.sec"), parse_field("header.stamp.nanosec")
        return cls(msgtype, serialization, types, paths, stamp if stamped else None)

    def layout(self, data: bytes) -> Layout:
        """Locate the fields in one message.

        Raises:
          BagError: The message does not fit its type.
          DataError: The type has no such field.
        """
        tree = locate(data, self.msgtype, self.types, serialization=self.serialization)
        shape = np.array(tree.shape, dtype=np.intp)
        stamp: list[Number] = []
        for path in self.stamp or ():
            number = resolve(path, tree.root)
            if isinstance(number, Number):
                stamp.append(number)
        return Layout(
            length=len(data),
            shape=shape,
            expected=np.frombuffer(data, np.uint8)[shape],
            stamp=tuple(stamp),
            numbers=tuple(resolve(path, tree.root) for path in self.paths),
        )


@dataclass(frozen=True)
class Layout:
    """Where the wanted numbers lie in messages laid out alike.

    Attributes:
      length: Their length in bytes.
      shape: (s,) offsets of the bytes that decide the layout.
      expected: (s,) the bytes there.
      stamp: Header seconds and nanoseconds, or nothing.
      numbers: For each field its place, or why there is none.
    """

    length: int
    shape: npt.NDArray[np.intp]
    expected: ByteRows
    stamp: tuple[Number, ...]
    numbers: tuple[Number | Absent, ...]

    def matches(self, rows: ByteRows) -> npt.NDArray[np.bool_]:
        """Say which messages are laid out like this; ``rows`` is (n, length)."""
        if rows.shape[1] != self.length:
            return np.zeros(len(rows), dtype=np.bool_)
        matching: npt.NDArray[np.bool_] = np.all(rows[:, self.shape] == self.expected, axis=1)
        return matching

    def values(self, rows: ByteRows) -> npt.NDArray[np.float64]:
        """Read the fields of matching messages: (n, length) to (n, k), NaN where absent."""
        table = np.full((len(rows), len(self.numbers)), np.nan)
        for column, number in enumerate(self.numbers):
            if isinstance(number, Number):
                table[:, column] = _strided(rows, number)
        return table

    def stamps(self, rows: ByteRows) -> npt.NDArray[np.int64]:
        """Read the header stamps of matching messages: (n, length) to (n,) nanoseconds."""
        seconds, nanoseconds = (_strided(rows, number).astype(np.int64) for number in self.stamp)
        total: npt.NDArray[np.int64] = seconds * _NANOSECONDS + nanoseconds
        return total


def _strided(rows: ByteRows, number: Number) -> npt.NDArray[np.generic]:
    """View one number of every row; nothing is copied."""
    return np.ndarray((len(rows),), np.dtype(number.dtype), rows, number.offset, (rows.strides[0],))
