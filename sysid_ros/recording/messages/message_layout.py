# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reading the same fields of many messages that are laid out alike.

Messages of one topic usually differ in their numbers only. One message is located
(:mod:`~sysid_ros.recording.messages.message_tree`); every other of the same length that agrees
with it in each byte that decides the layout is then read through strided numpy views.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import BoolArray, FloatArray, IntArray
from sysid_ros.recording.messages.field_paths import (
    Absent,
    FieldPath,
    owners,
    parse_field,
    resolve,
)
from sysid_ros.recording.messages.message_tree import Number, locate
from sysid_ros.recording.messages.message_types import HEADER, TIME

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs

Rows = npt.NDArray[np.uint64]
_WORD = 8  # bytes
_BRIDGED_WORDS = 16  # comparing so many words that do not matter is cheaper than another slice
_NANOSECONDS = 1_000_000_000
_STAMP = re.compile("(time_?)?stamp|time")
_COUNTS = [(kind, 0) for kind in ("uint16", "int32", "uint32", "int64", "uint64")]
# Words of fields that count time, as PX4's timestamp_sample, time_boot_ms or stamp_us, and more.
_TIMES = {"time", "timestamp", "stamp", "tick", "clock", "uptime", "micros", "millis"}
_OF_TIMES = {
    "ms", "us", "ns", "msec", "usec", "nsec", "sample", "sampled", "measured", "sent", "since",
    "boot", "epoch", "monotonic", "device", "sensor", "mcu", "hardware", "hw", "system", "sys",
}  # fmt: skip


def stack_messages(messages: Sequence[bytes]) -> Rows:
    """Stack messages of equal length as (n, words) rows, each filled up to whole words."""
    length = len(messages[0])
    filler = bytes(-length % _WORD)
    joined = filler.join(messages) + filler
    words = (length + len(filler)) // _WORD
    return np.frombuffer(joined, np.uint64).reshape(len(messages), words)


@dataclass(frozen=True)
class FieldReader:
    """A reader of chosen fields from messages of one type."""

    msgtype: str
    serialization: str  # ``"cdr"`` or ``"ros1"``
    types: Mapping[str, Fielddefs]  # fields of the type and of those it uses
    paths: tuple[FieldPath, ...]  # the wanted fields
    stamp: str  # the field of its time: that of a header, or one of its own; empty without any
    count: str = ""  # the integer in which its sender counts time; empty without any

    @classmethod
    def of_type(
        cls,
        msgtype: str,
        serialization: str,
        types: Mapping[str, Fielddefs],
        paths: tuple[FieldPath, ...],
    ) -> FieldReader:
        """Make a reader, finding out what dates the type's messages."""
        fields = types[msgtype]
        return cls(msgtype, serialization, types, paths, _stamp_of(fields), _count_of(fields))

    @property
    def stamped(self) -> bool:
        """True if messages say when they are of."""
        return bool(self.stamp)

    def layout(self, data: bytes) -> Layout:
        """Locate the fields in one message.

        Raises:
          BagError: The message does not fit its type.
          DataError: The type has no such field.
        """
        tree = locate(data, self.msgtype, self.types, serialization=self.serialization)
        stamp = [
            resolve(parse_field(f"{self.stamp}.{part}"), tree.root)
            for part in (("sec", "nanosec") if self.stamped else ())
        ]
        count = resolve(parse_field(self.count), tree.root) if self.count else None
        told = {owner for path in self.paths for owner in owners(path, tree.root)}
        whose = [at for one in told for at in range(one.offset, one.offset + int(one.dtype[2:]))]
        return Layout(
            length=len(data),
            fixed=_fixed_words(data, [*tree.shape, *whose]),
            stamp=tuple(number for number in stamp if isinstance(number, Number)),
            count=count if isinstance(count, Number) else None,
            numbers=tuple(resolve(path, tree.root, data) for path in self.paths),
        )


def _stamp_of(fields: Fielddefs) -> str:
    """The field that dates a message: its header's stamp, or else one of its own."""
    kinds = {name: kind[1] for name, kind in fields}
    if kinds.get("header") == HEADER:
        return "header.stamp"
    own = [name for name, kind in kinds.items() if kind == TIME and _STAMP.fullmatch(name)]
    return own[0] if len(own) == 1 else ""


def _count_of(fields: Fielddefs) -> str:
    """The integer that counts time: when something was sampled, rather than when it was sent."""
    named = [name for name, kind in fields if kind[1] in _COUNTS and _counts_time(name)]
    return next((name for name in named if "sample" in name), named[0] if named else "")


def _counts_time(name: str) -> bool:
    words = set(name.lower().split("_"))
    return bool(words & _TIMES) and words <= _TIMES | _OF_TIMES


class _FixedWords(NamedTuple):
    """Consecutive words whose masked bits must have a value."""

    start: int
    end: int
    expected: Rows
    mask: Rows


@dataclass(frozen=True)
class Layout:
    """The places of the wanted numbers in messages laid out alike."""

    length: int  # their length in bytes
    fixed: tuple[_FixedWords, ...]  # the words in which they must agree
    stamp: tuple[Number, ...]  # header seconds and nanoseconds, or nothing
    count: Number | None  # the sender's count of time
    numbers: tuple[Number | Absent, ...]  # for each field its place, or why there is none

    def matches(self, rows: Rows) -> BoolArray:
        """Say which messages of this layout's length are laid out like this: (n, w) to (n,)."""
        matching = np.ones(len(rows), dtype=np.bool_)
        for words in self.fixed:
            differing = (rows[:, words.start : words.end] ^ words.expected) & words.mask
            matching &= ~differing.any(axis=1)
        return matching

    def values(self, rows: Rows) -> FloatArray:
        """Read the fields of matching messages: (n, w) to (n, k), NaN where absent."""
        table = np.full((len(rows), len(self.numbers)), np.nan)
        alike: dict[tuple[str, int], list[tuple[int, int]]] = {}
        for column, number in enumerate(self.numbers):
            if isinstance(number, Number):
                position, phase = divmod(number.offset, np.dtype(number.dtype).itemsize)
                alike.setdefault((number.dtype, phase), []).append((column, position))
        for (dtype, phase), places in alike.items():
            columns, positions = zip(*places, strict=True)
            table[:, columns] = _view(rows, dtype, phase)[:, positions]
        return table

    def stamps(self, rows: Rows) -> IntArray:
        """Read the header stamps of matching messages: (n, w) to (n,) nanoseconds."""
        seconds, nanoseconds = (
            _view(rows, number.dtype, number.offset % 4)[:, number.offset // 4].astype(np.int64)
            for number in self.stamp
        )
        total: IntArray = seconds * _NANOSECONDS + nanoseconds
        return total

    def counts(self, rows: Rows) -> IntArray:
        """Read the senders' counts of time of matching messages: (n, w) to (n,)."""
        if self.count is None:
            return np.zeros(len(rows), dtype=np.int64)
        position, phase = divmod(self.count.offset, np.dtype(self.count.dtype).itemsize)
        return _view(rows, self.count.dtype, phase)[:, position].astype(np.int64)


def _fixed_words(data: bytes, shape: Sequence[int]) -> tuple[_FixedWords, ...]:
    """Group the bytes that decide the layout into runs of words."""
    expected = stack_messages([data])[0]
    deciding = np.zeros(len(expected) * _WORD, dtype=np.uint8)
    deciding[list(shape)] = 0xFF
    mask = deciding.view(np.uint64)
    touched = np.flatnonzero(mask)
    runs = np.split(touched, np.flatnonzero(np.diff(touched) > _BRIDGED_WORDS) + 1)
    spans = [(int(run[0]), int(run[-1]) + 1) for run in runs if len(run)]
    return tuple(
        _FixedWords(start, end, expected[start:end], mask[start:end]) for start, end in spans
    )


def _view(rows: Rows, dtype: str, phase: int) -> npt.NDArray[np.generic]:
    """View rows as numbers of one type that start ``phase`` bytes into the row."""
    kind = np.dtype(dtype)
    count = (rows.strides[0] - phase) // kind.itemsize
    view: npt.NDArray[np.generic] = np.ndarray(
        (len(rows), count), kind, rows, phase, (rows.strides[0], kind.itemsize)
    )
    return view
