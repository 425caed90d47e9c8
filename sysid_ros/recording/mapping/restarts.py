# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A bag for each stretch of a recording in which a simulation started over or a clock was set back.

On one time axis such stretches would lie upon each other. Each is a recording of its own.
"""

from __future__ import annotations

import shutil
from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from sysid_ros.errors import BagError, DataError, listed
from sysid_ros.recording.bags import (
    LARGEST_DISORDER_NS,
    BagCopy,
    BagFolder,
    Recording,
    Recovery,
    open_recording,
    read_columns,
    read_extras,
    read_profiles,
)
from sysid_ros.recording.mapping.simulation_time import CLOCK_FIELDS, CLOCK_TOPIC, told_by_clock
from sysid_ros.recording.messages import CLOCK, RawMessage, TopicColumns

_CLOCK_BACK_NS = 100_000_000  # as much of /clock, which has one publisher, is no message overtaken
_AT_ONCE_NS = 2_000_000_000  # within which all topics are seen to start over


@dataclass(frozen=True)
class _Cuts:
    """The cuts of topics, all in times of receipt or all of publication, ns."""

    begins: Mapping[str, Sequence[int]]  # by topic, of the first message after each restart
    late: Mapping[str, Container[int]]  # by topic, of messages after it from before it
    latched: Container[str]  # topics
    published: bool  # whether these are times of publication

    def holds(self, part: int, message: RawMessage) -> bool:
        """Return whether a stretch holds a message; what is latched still holds in later ones."""
        topic = message.topic
        wall_ns = message.publish_ns if self.published and message.publish_ns else message.log_ns
        own = bisect_right(self.begins.get(topic, self.begins[CLOCK_TOPIC]), wall_ns)
        own -= wall_ns in self.late.get(topic, ())
        return own == part or (own < part and topic in self.latched)


@dataclass(frozen=True)
class _Restarts:
    """The restarts of one topic's stamps, in times of receipt or publication, ns."""

    before: dict[int, int]  # by the time of the first message after each, that of the one before
    late: Container[int] = ()  # of messages after one from before it
    unruly: bool = False  # whether they jump back again and again


def split_at_restarts(
    path: Path,
    *,
    output: Path | None = None,
    compression: str = "none",
    msg_paths: Sequence[str | Path] = (),
) -> list[Recovery]:
    """Write a bag for each stretch between restarts; what is latched is in each.

    Args:
      path: The bag, which stays as it is.
      output: What the new folders' names begin with; ``<bag>`` by default. They end in ``_1`` and
        so on, and must not exist.
      compression: ``none``, ``lz4`` or ``zstd``, of the new bags' chunks.
      msg_paths: Message definitions that neither the bag nor ROS has.

    Returns:
      What each bag holds.

    Raises:
      BagError: The bag is damaged, or nothing in it starts over.
      OutputError: A new bag cannot be written.
    """
    with open_recording(path, msg_paths=msg_paths) as recording, ExitStack() as undo:
        if recording.format == "rosbag1":
            raise BagError(f"{path} is a bag of ROS 1, which is not split")
        cuts = _cuts(recording, published=_is_received_by_simulation(recording))
        restarts = len(cuts.begins[CLOCK_TOPIC])
        if not restarts:
            raise BagError(f"bag {path}: no stamps jump back; there is nothing to split it at")
        begins = output or path.absolute().with_name(path.stem if path.is_file() else path.name)
        extras = read_extras(recording.files[0])
        found = []
        for part in range(restarts + 1):
            name = f"{begins.name}_{part + 1}"
            copy = BagCopy(BagFolder(begins.parent, name, compression, dated=False))
            undo.callback(shutil.rmtree, begins.parent / name, ignore_errors=True)
            complaints = copy.take(recording, extras, partial(cuts.holds, part))
            found.append(copy.close())
            found[-1].warnings = complaints
        undo.pop_all()
    return found


def _is_received_by_simulation(recording: Recording) -> bool:
    """Return whether receipt is dated by /clock itself, so that only publication tells restarts."""
    with suppress(BagError, DataError):
        columns = read_columns(recording, {CLOCK_TOPIC: CLOCK_FIELDS})[CLOCK_TOPIC]
        if columns.publish_ns is not None and len(columns.log_ns):
            apart = np.abs(columns.log_ns - told_by_clock(columns))
            return bool(np.median(apart) < _AT_ONCE_NS)
    return False


def _cuts(recording: Recording, *, published: bool) -> _Cuts:
    """Times at which each topic starts over, of publication if ``published``, else of receipt.

    Without a stamp it does so halfway between the messages around the restart: of ``/clock``, or,
    without one, of the topic that tells it first.
    A topic that jumps back again and again, as one of two publishers, tells no restart.

    Raises:
      BagError: No other topic tells one.
    """
    told: dict[str, _Restarts] = {}
    for name, topic in recording.topics.items():
        fields = CLOCK_FIELDS if topic.msgtype == CLOCK else ()
        with suppress(BagError, DataError):  # of a topic that nobody can read
            columns = read_columns(recording, {name: fields})[name]
            told[name] = _restarts(columns, published)
    unruly = [name for name, own in told.items() if own.unruly]
    if unruly and not any(own.before for own in told.values()):
        raise BagError(
            f"bag {recording.path}: the stamps of {listed(unruly)} jump back again and again, as "
            "where two nodes publish it; there are no stretches to split it into"
        )
    common: list[int] = []
    for instant in sorted(at for own in told.values() for at in own.before):
        if not common or instant - common[-1] > _AT_ONCE_NS:
            common.append(instant)
    by_clock = told[CLOCK_TOPIC].before if CLOCK_TOPIC in told else {}
    common = [_nearest(by_clock, instant, instant) for instant in common]
    before = {at: last for own in told.values() for at, last in own.before.items()} | by_clock
    halfway = [(before[at] + at) // 2 for at in common]
    found = {
        name: [_nearest(own.before, *both) for both in zip(common, halfway, strict=True)]
        for name, own in told.items()
    }
    latched = {
        name
        for name, topic in recording.topics.items()
        if any(one.durability == "transient_local" for one in read_profiles(topic.qos))
    }
    late = {name: own.late for name, own in told.items()}
    return _Cuts({**found, CLOCK_TOPIC: halfway}, late, latched, published)


def _nearest(own: Iterable[int], instant: int, otherwise: int) -> int:
    """The instant at which a topic starts over itself, if it does so about then."""
    near = [at for at in own if abs(at - instant) <= _AT_ONCE_NS]
    return min(near, key=lambda at: abs(at - instant)) if near else otherwise


def _restarts(columns: TopicColumns, published: bool) -> _Restarts:
    """Find where stamps jump far back and go on from there."""
    is_clock = columns.msgtype == CLOCK
    least = _CLOCK_BACK_NS if is_clock else LARGEST_DISORDER_NS
    stamps = told_by_clock(columns) if is_clock else columns.header_ns
    if stamps is None:
        return _Restarts({})
    wall = columns.publish_ns if published else None
    wall = columns.log_ns if wall is None else wall
    order = np.argsort(wall, kind="stable")
    stamps, wall = stamps[order], wall[order]
    # Zero is a stamp that was not filled in, or where time starts over: it begins what follows it.
    filled_in = np.flatnonzero(stamps)
    back = filled_in[:-1][np.diff(stamps[filled_in]) < -least] + 1
    before: dict[int, int] = {}
    late: set[int] = set()
    while len(back):
        first, at_once = back[0], back[wall[back] - wall[back[0]] <= _AT_ONCE_NS]
        last, back = at_once[-1], back[len(at_once) :]
        # What was sent before a restart and comes after it is dated no later than what came before.
        ends, begins = stamps[first - 1], stamps[last]
        found = first + np.flatnonzero(stamps[first:last] > ends // 2 + begins // 2)
        ahead = bool(np.any(stamps[found] > ends + _CLOCK_BACK_NS))
        if ahead or (len(back) and wall[back[0]] - wall[last] < _AT_ONCE_NS):
            return _Restarts({}, unruly=True)
        before[int(wall[first])] = int(wall[first - 1])
        late.update(wall[found].tolist())
    return _Restarts(before, late)
