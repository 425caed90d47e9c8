# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Every number that the topics of some bags carry, as a field path with its values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray, IntArray
from sysid_ros.errors import BagError, DataError
from sysid_ros.proposal.signals.names import interface_of
from sysid_ros.recording.bags import FASTEST_CLOCK, Recording, open_recording, read_columns
from sysid_ros.recording.mapping import (
    SimulationTime,
    are_measurements,
    are_set,
    choose_stamps,
    joined_turns,
    names_angle,
    simulation_time,
    stamp_relation,
    telling_clock,
)
from sysid_ros.recording.messages import (
    EVERY,
    Clock,
    FieldPath,
    Group,
    GroupArray,
    Number,
    NumberArray,
    Owner,
    TextArray,
    TopicColumns,
    Turns,
    is_asked,
    is_command,
    is_goal,
    is_played,
    is_reported,
    lack_name,
    locate,
    message_type,
    owner_name,
    parse_field,
    played,
    texts_of,
    unit_of,
)

if TYPE_CHECKING:
    from sysid_ros.recording.messages import Node


_MOST_ELEMENTS = 64  # of an array without names; images and point clouds are longer
_MOST_FIELDS = 400
_FIRST = 5  # messages of a topic that are looked at
_SHARED = ("/JointState", "/TFMessage")  # of which several nodes publish parts, at their own rates
_LOOKED_AT = 3_000_000_000  # ns of such a topic
_QUANTITIES = {
    "pos(?!e)": "position", "angle": "position", "encoder": "position", "travel": "position",
    "distance": "position", "(?<!tra)(?<!le)vel": "velocity", "speed": "velocity",
    "rpm": "velocity", "eff": "effort", "torque": "effort",
}  # fmt: skip
# Of joints, by the letters of mechanics, and the words that may follow one (q_des, tau_ff).
_LETTERS = {"q": "position", "dq": "velocity", "qd": "velocity", "tau": "effort"}
_LETTERED = re.compile(r"(q|dq|qd|tau)(_(est|meas|des|ref|cmd|ff|d|j))*")
_QUATERNION = 4  # numbers of a fixed array that is called q
# Of what joints' controllers are asked for, what they are told, and what they ask for.
_USUAL = {
    "set_point": "position", "reference": "position", "feedback": "position",
    "feedback_dot": "velocity", "output": "effort",
}  # fmt: skip
_PLAYED, _LAST = f"points[{EVERY}]", "points[-1]"
_IN_LIST = "]."  # in fields of messages that are listed in a message
_SKIPPED = ("header", "layout", "stamp", "covariance", "time_from_start")


@dataclass(frozen=True)
class Channel:
    """One number of a topic's messages over all recordings that have it."""

    topic: str  # where it comes from
    msgtype: str  # the topic's type
    field: str  # its path
    name: str  # the joint that the message names, empty where it names none
    quantity: str  # position, velocity or effort; empty where neither field nor topic says
    index: int  # its place in the array
    command: bool  # whether it is asked for rather than measured
    times: tuple[FloatArray, ...]  # per recording its stamps [s] since the epoch
    values: tuple[FloatArray, ...]  # per recording its values
    clock: str = ""  # the clock that dates it where its header does not; empty where that does
    # receipt minus stamp without queueing [s], in the first recording that tells it; ``None`` where
    # none does
    behind: float | None = None
    # how many numbers the array has of which it is one, where every message of the type has as
    # many; 0 elsewhere
    row: int = 0
    unit: str = ""  # what the type's definition says it is in; empty where it says nothing

    @property
    def moves(self) -> bool:
        """True if it ever changes."""
        return any(len(part) > 1 and float(np.ptp(part)) > 0.0 for part in self.values)

    @property
    def interval(self) -> float:
        """The usual time [s] from one message to the next; zero where there are no two."""
        steps = [np.diff(part) for part in self.times]
        return float(np.median(np.concatenate(steps))) if any(map(len, steps)) else 0.0

    @property
    def held(self) -> bool:
        """True if a command counts until the next; between a trajectory's points it moves."""
        return not is_played(self.field)


@dataclass(frozen=True)
class _Leaf:
    field: str
    name: str
    index: int
    row: int = 0


def topics_of(bags: Sequence[Path], msg_path: Sequence[Path] = ()) -> list[dict[str, str]]:
    """The type of every topic with messages, bag by bag.

    Raises:
      BagError: A bag is damaged or missing.
    """
    found = []
    for bag in bags:
        with open_recording(bag, msg_paths=msg_path) as recording:
            topics = recording.topics.items()
            found.append({name: one.msgtype for name, one in topics if one.promised != 0})
    return found


def read_channels(
    bags: Sequence[Path],
    topics: Sequence[str],
    msg_path: Sequence[Path] = (),
    *,
    corrected: bool = False,
    on_note: Callable[[str], None] = lambda _: None,
) -> list[Channel]:
    """Read every number of some topics.

    Args:
      bags: The recordings.
      topics: Topics that each of them has.
      msg_path: Definitions of message types that the bags lack.
      corrected: Whether header stamps are translated to the recorder's clock.
      on_note: Told the faults of recordings, such as that the end is missing.

    Raises:
      BagError: A bag is damaged.
    """
    found: list[_Gathered] = []
    for bag in bags:
        with open_recording(bag, msg_paths=msg_path) as recording:
            found = found or [_Gathered(recording, topic) for topic in topics]
            tables = read_columns(recording, {one.topic: one.fields for one in found if one.leaves})
            for fault in recording.warnings:
                on_note(f"{bag.name}: {fault}")
            simulation = simulation_time(tables)
            if simulation is not None and not simulation.dates(tables.values()):
                simulation = None
            for one in found:
                one.keep_name(recording)
                if one.topic in tables:
                    one.add(tables[one.topic], simulation, corrected)
    return [channel for one in found for channel in one.channels()]


class _Gathered:
    """The numbers of one topic, gathered recording by recording."""

    def __init__(self, recording: Recording, topic: str) -> None:
        self.topic = topic
        self.leaves = _leaves(recording, topic)
        self.fields = [parse_field(leaf.field) for leaf in self.leaves]
        self._msgtype = recording.topics[topic].msgtype
        types = recording.types(topic) if self.leaves else {}
        told = self._msgtype, types, recording.topics[topic].definition
        self._units = [unit_of(leaf.field, *told) for leaf in self.leaves]
        self._series: list[list[tuple[FloatArray, FloatArray]]] = [[] for _ in self.leaves]
        self._clocks: set[Clock] = set()  # that tell most of each recording
        self._behind: float | None = None

    def add(self, table: TopicColumns, simulation: SimulationTime | None, corrected: bool) -> None:
        """Take what another recording has; stamps are translated where they are to be."""
        clock = telling_clock(table, simulation)
        stamps = choose_stamps(table, clock, simulation)[1]
        is_set = are_set(stamps)
        self._clocks.add(clock)
        relation = stamp_relation(table, Clock.HEADER, stamps, table.log_ns)
        if simulation is None and relation and abs(relation.drift) < FASTEST_CLOCK:
            self._behind = relation.offset if self._behind is None else self._behind
            stamps = relation.corrected(stamps, drift=True) if corrected else stamps
        for series, path in zip(self._series, self.fields, strict=True):
            series.append(_series(table, path, stamps, is_set))

    def keep_name(self, recording: Recording) -> None:
        """Forget whose the messages are that ask for something, where some ask another."""
        own = [one for one in self.leaves if one.name and one.field.isidentifier()]
        asks = bool(own) and not message_type(self._msgtype).measured
        if asks and lack_name(recording.messages([self.topic]), own[0].name):
            self.leaves = [replace(one, name="") if one in own else one for one in self.leaves]

    def channels(self) -> Iterator[Channel]:
        """Return those that have values."""
        only = len(self._clocks) == 1  # a count that one recording lacks would have that refused
        others = self._clocks - {Clock.HEADER} - (set() if only else {Clock.DEVICE})
        clock = next((one.value for one in others), "")
        for leaf, series, unit in zip(self.leaves, self._series, self._units, strict=True):
            command = _is_command(self._msgtype, leaf.field, self.topic)
            # As the signals of an experiment; of commands only the topic says what they are.
            turns = names_angle(self.topic if command else leaf.field)
            if any(len(values) for _, values in series):
                yield Channel(
                    self.topic,
                    self._msgtype,
                    leaf.field,
                    leaf.name,
                    _quantity(leaf.field.replace(f"[{leaf.name}]", ""), row=leaf.row)
                    or interface_of(leaf.name)[1]
                    or _quantity(self.topic, leaf.field),
                    leaf.index,
                    command,
                    tuple(times for times, _ in series),
                    tuple(joined_turns(one)[0] if turns else one for _, one in series),
                    clock,
                    self._behind,
                    leaf.row,
                    unit,
                )


def _is_command(msgtype: str, field: str, topic: str) -> bool:
    """Tell whether a field asks for something; nothing does on a topic that is called a state."""
    reported = is_reported(topic) and not is_asked(topic)
    untold = not message_type(msgtype).measured  # by the type
    return is_command(msgtype, field, topic) and not (untold and reported)


def _series(
    table: TopicColumns, path: FieldPath, stamps: IntArray, is_set: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Times [s] and values of a field where stamps are set, (n,) each."""
    seconds = stamps / 1e9
    if path in table.trajectories:
        order = np.argsort(stamps, kind="stable")
        found = table.trajectories[path]
        return played(seconds[order], [found[row] for row in order])
    column = table.paths.index(path)
    present = is_set & table.present[:, column] & are_measurements(table.values[:, column])
    return seconds[present], table.values[present, column]


def _leaves(recording: Recording, topic: str) -> list[_Leaf]:
    """The numbers of a topic's first messages, and of those of other lengths that come soon."""
    try:
        info, types = recording.topic(topic), recording.types(topic)
        found: dict[str, _Leaf] = {}
        lengths: set[int] = set()
        turns, names = Turns(), set[str]()
        began, goals = None, False
        for count, message in enumerate(recording.messages([topic])):
            began = began or message.log_ns
            new = count < _FIRST or len(message.data) not in lengths
            lengths.add(len(message.data))
            if new or turns.told or any(names):
                tree = locate(message.data, info.msgtype, types, serialization=info.serialization)
                turns.note(tree.root, message.data)
                names.add(owner_name(tree.root))
            if new:
                for leaf in _walk(tree.root, "", []):
                    found.setdefault(leaf.field, leaf)
                goals = goals or is_goal(tree.root, message.data)
            shared = turns.told or any(names) or info.msgtype.endswith(_SHARED)
            shared &= message.log_ns < began + _LOOKED_AT
            if (count >= _FIRST - 1 and not shared) or len(found) > _MOST_FIELDS:
                break
    except (BagError, DataError):
        return []
    if any(field.startswith(_PLAYED) for field in found):  # some messages have several points
        found = {field: leaf for field, leaf in found.items() if not field.startswith(_LAST)}
    leaves = _by_owner([*found.values()], turns.owners())
    if len(names) == 1:  # else messages are of one and of another
        leaves = [
            replace(one, name=one.name or min(names)) if one.field.isidentifier() else one
            for one in leaves
        ]
    if goals:
        leaves = [replace(leaf, field=leaf.field.replace(_LAST, _PLAYED, 1)) for leaf in leaves]
    if len(leaves) > _MOST_FIELDS:  # of 35 motors of a humanoid, of which each has 14 numbers
        leaves = [one for one in leaves if _IN_LIST not in one.field or _quantity(one.field)]
    return [] if len(leaves) > _MOST_FIELDS else leaves


def _by_owner(leaves: list[_Leaf], owners: Sequence[Owner]) -> list[_Leaf]:
    """The numbers of a topic, those of messages of one motor each as arrays of all motors'."""
    own = [one for one in leaves if owners and one.field.isidentifier()]
    names = {one.field for one in owners}
    return [one for one in leaves if one not in own] + [
        replace(leaf, field=f"{leaf.field}[{owner}]", index=place)
        for leaf in own
        if leaf.field not in names
        for place, owner in enumerate(owners)
    ]


def _walk(group: Group, prefix: str, names: list[TextArray]) -> Iterator[_Leaf]:
    here = [*names, *(node for node in group.fields.values() if isinstance(node, TextArray))]
    for field, node in group.fields.items():
        if field not in _SKIPPED:
            yield from _of_node(node, f"{prefix}{field}", here)


def _of_node(node: Node, path: str, names: list[TextArray]) -> Iterator[_Leaf]:
    if isinstance(node, Number):
        yield _Leaf(path, _last_name(path), 0)
    elif isinstance(node, Group):
        yield from _walk(node, f"{path}.", names)
    elif isinstance(node, NumberArray):
        row = len(node) if node.fixed else 0
        for index, name in enumerate(_element_names(len(node), names)):
            yield _Leaf(f"{path}[{_quoted(name) or index}]", name or _last_name(path), index, row)
    elif isinstance(node, GroupArray):
        if path == "points" or path.endswith(".points"):
            # Of a trajectory all points count, each in its time, if there are several.
            if len(node):
                point = EVERY if path == "points" and len(node) > 1 else "-1"
                yield from _walk(node.items[-1], f"{path}[{point}].", names)
            return
        for index, name in enumerate(_own_names(node) or _element_names(len(node), names)):
            for leaf in _walk(node.items[index], f"{path}[{_quoted(name) or index}].", []):
                yield replace(leaf, name=name or leaf.name, index=index)


def _own_names(array: GroupArray) -> list[str]:
    """A string of each element that tells it from the others, as the frames of transforms do."""
    for names in zip(*map(texts_of, array.items), strict=False):
        if all(names) and len(set(names)) == len(names):
            return list(names)
    return []


def _element_names(count: int, names: list[TextArray]) -> list[str]:
    """Names for the elements of an array, empty ones where no names are as many."""
    for texts in reversed(names):
        if len(texts) == count and len(set(texts.values)) == count:
            return list(texts.values)
    return [""] * count if count <= _MOST_ELEMENTS else []


def _quoted(name: str) -> str:
    return f'"{name}"' if re.fullmatch(r"[+-]?\d+", name) else name


def _last_name(path: str) -> str:
    """The last name in brackets of a path, such as the joint of ``values[elbow].effort``."""
    named = [part for part in re.findall(r"\[([^\]]+)\]", path) if not part.lstrip("-").isdigit()]
    return named[-1] if named else ""


def _quantity(text: str, field: str = "", row: int = 0) -> str:
    """Return the quantity of a field, or of a topic with one, by its last telling word.

    Letters say it within a message, but for a fixed array (``row``) of a quaternion's length.
    """
    own = re.sub(r"\[[^\]]*\]$", "", text.rpartition(".")[2])
    letters = _LETTERED.fullmatch(own) if {".", "["} & {*text} and row != _QUATERNION else None
    if letters:
        return _LETTERS[letters[1]]
    found = [
        (place.start(), quantity)
        for word, quantity in _QUANTITIES.items()
        for place in re.finditer(word, text.lower())
    ]
    return max(found)[1] if found else _USUAL.get(field.rpartition(".")[2], "")
