# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recorded commands by topic: those that messages name, and arrays without names."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.drives import Drive
from sysid_ros.proposal.signals.names import in_a_row, similarity, words_of
from sysid_ros.recording.messages import is_asked, reports_command

_SAME_NAME = 0.95  # similarity of names that differ in words such as joint only
_BARE = ("data", "value")  # of a number with a header, whose meaning its topic says
_WORD = 3  # letters, of one that names some actuators
_REPEATED = 0.1  # of a command's deviation, that its own repetition may be late by
_LIMITS = ("max_", "min_")  # of what is asked for, as a gripper's effort


def named_commands(
    commands: Sequence[Channel],
    drives: Sequence[Drive],
    singles: Collection[str],
    *,
    moving: bool = True,
) -> dict[str, list[Channel]]:
    """Commands by topic that messages name; a single number by its field or a part of its topic.

    The only element of an array, of one of the topics ``singles``, is so if the part is all of it,
    and so is all that a maker's type has, whatever it calls it. Topics change some time
    (``moving``), or never.
    """
    known = [name for drive in drives for name in drive.names]
    numbers = Counter(one.topic for one in commands)
    found: dict[str, list[Channel]] = {}
    for one in commands:
        if one.name:
            found.setdefault(one.topic, []).append(one)
        elif _is_number(one, known) and ("[" not in one.field or one.topic in singles):
            own = "" if is_bare(one) or "[" in one.field else f"/{one.field}"
            part, score = named_part(f"{one.topic}{own}", known)
            if part and ("[" not in one.field or score >= _SAME_NAME):
                found.setdefault("", []).append(replace(one, name=part))
        elif numbers[one.topic] == 1 and is_asked(one.topic):
            part, score = named_part(one.topic, known)
            if score >= _SAME_NAME:
                found.setdefault("", []).append(replace(one, name=part))
    return {
        topic: group for topic, group in found.items() if any(one.moves for one in group) is moving
    }


def named_part(topic: str, known: Sequence[str]) -> tuple[str, float]:
    """The part of a topic's name that is most like one of some names, and how much it is.

    Two parts in a row are one as well, as of ``/thrusters/left/thrust``.
    """
    parts = [part for part in topic.split("/") if part]
    pairs = [f"{one}_{other}" for one, other in itertools.pairwise(parts)]
    scores = {
        part: max(similarity(name, part) for name in known) for part in [*parts, *pairs] if known
    }
    best = max(scores, key=lambda part: scores[part], default="")
    return best, scores.get(best, 0.0)


def asked_beside(commands: Sequence[Channel], measured: Channel | None) -> list[Channel]:
    """Targets that stand where another message of their type has a joint's measured position."""
    if measured is None or measured.msgtype.startswith("std_msgs/") or "[" not in measured.field:
        return []
    place = measured.msgtype, measured.field
    return [one for one in commands if one.moves and (one.msgtype, one.field) == place]


def called_as_others(one: Channel, own: Sequence[Drive], others: Sequence[Drive]) -> bool:
    """Tell whether a command has the name of other actuators, and none of some own as much.

    So ``tilt_brake`` is what a brake on the joint ``tilt`` is told, and not what its servo is.
    """
    scores = [
        max((similarity(name, one.name) for drive in drives for name in drive.names), default=0.0)
        for drives in (own, others)
    ]
    return scores[0] < _SAME_NAME <= scores[1]


def is_bare(one: Channel) -> bool:
    """Tell whether a number's field says nothing, so that its topic has its name."""
    return one.field in _BARE


def _is_number(one: Channel, known: Sequence[str] = ()) -> bool:
    """Tell whether a message is but a number, or has one that is named as what it is for.

    So is one of a quantity that is not its limit.
    """
    if one.field.isidentifier() and named_part(one.field, known)[1] >= _SAME_NAME:
        return True
    told = one.quantity != "" or is_bare(one)
    field = one.field.removesuffix("[0]")  # of an array of one
    alone = field.isidentifier() and told and not field.startswith(_LIMITS)
    return alone or one.msgtype.startswith("std_msgs/")


def command_arrays(commands: Sequence[Channel], *, moving: bool = True) -> dict[str, list[Channel]]:
    """Arrays without names, and single numbers, of topics that change some time, or never.

    Of an array of motors, which have several numbers each, every number is an array. So are fields
    that count on, such as ``joint_1`` to ``joint_6``.
    """
    found: dict[str, list[Channel]] = {}
    fields: dict[str, list[str]] = {}
    for one in commands:
        fields.setdefault(one.topic, []).append(one.field)
    rows = {topic: in_a_row(own) for topic, own in fields.items()}
    for one in commands:
        array = re.fullmatch(r"(.*)\[(?:\w+=)?\d+\](\.\w+)?", one.field)
        if one.name or not (array or _is_number(one)):
            continue
        place = f"{array[1]}{array[2] or ''}" if array else one.field
        if (number := rows[one.topic].get(one.field)) is not None:
            place, one = "", replace(one, index=number)
        found.setdefault(f"{one.topic} {place}", []).append(one)
    return {
        key: sorted(group, key=lambda one: one.index)
        for key, group in found.items()
        if any(one.moves for one in group) is moving
    }


def called_by_topics(
    drives: Sequence[Drive], arrays: Mapping[str, list[Channel]]
) -> list[tuple[list[Drive], list[list[Channel]]]]:
    """Some of the actuators, as of one arm, and the arrays as long whose topics name just them.

    A topic names those that have each of its words which some have, and not all: of three letters
    at the least, as less is in too many names. One of its parts may begin their names, as of a
    robot of several.
    """
    has = {one.name: {word for name in one.names for word in words_of(name)} for one in drives}
    every = [*has.values()]
    telling = set[str]().union(*every).difference(set[str].intersection(*every) if every else ())
    found: dict[tuple[str, ...], dict[str, list[Channel]]] = {}
    for key, channels in arrays.items():
        parts = {word for part in channels[0].topic.split("/") for word in words_of(part)}
        told = {word for word in parts & telling if len(word) >= _WORD}
        own = tuple(name for name, words in has.items() if told <= words)
        robots = [_begun_by(part, drives) for part in channels[0].topic.split("/") if part]
        for named in dict.fromkeys([own if told else (), *robots]):
            if 1 < len(named) == len(channels) and (named == own or len(named) < len(drives)):
                found.setdefault(named, {})[key] = channels
    groups = [([one for one in drives if one.name in own], alike) for own, alike in found.items()]
    return [
        (own, list(of_quantity(alike, own[0].quantity if of_one_quantity(own) else "").values()))
        for own, alike in groups
    ]


def in_numbered_topics(singles: Iterable[Channel]) -> list[list[Channel]]:
    """Numbers whose topics differ by a number, as of motors' ids, in the order of these."""
    found: dict[tuple[str, ...], list[Channel]] = {}
    for one in singles:
        alike = re.sub(r"\d+", "#", one.topic)
        if alike != one.topic:
            found.setdefault((one.msgtype, one.field, alike), []).append(one)

    def place(one: Channel) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", one.topic)]

    return [sorted(group, key=place) for group in found.values() if len(group) > 1]


def not_repeated(arrays: Sequence[list[Channel]]) -> list[list[Channel]]:
    """The arrays without those in which states repeat what another one sent."""
    sent = [one for one in arrays if not reports_command(one[0].msgtype, one[0].field)]
    return [one for one in arrays if one in sent or not any(_repeats(one, told) for told in sent)]


def _repeats(shown: Sequence[Channel], sent: Sequence[Channel]) -> bool:
    """Tell whether each number of an array is, but for its instants, what another array had."""
    return all(
        _is_repeated(*parts)
        for one, told in zip(shown, sent, strict=True)
        for parts in zip(one.times, one.values, told.times, told.values, strict=True)
    )


def _is_repeated(
    times: FloatArray, values: FloatArray, sent_times: FloatArray, sent: FloatArray
) -> bool:
    if not len(sent) or not len(values):
        return False
    there = sent[np.clip(np.searchsorted(sent_times, times, side="right") - 1, 0, None)]
    return float(np.std(values - there)) <= _REPEATED * float(np.std(sent))


def _begun_by(part: str, drives: Sequence[Drive]) -> tuple[str, ...]:
    """Names of the actuators whose name, or that of what they move, a part of a topic begins."""
    return tuple(
        one.name
        for one in drives
        if any(re.match(f"{re.escape(part)}[_/]", name, re.IGNORECASE) for name in one.names)
    )


def of_one_quantity(drives: Sequence[Drive]) -> bool:
    """Return whether actuators all take the same quantity."""
    return len({drive.quantity for drive in drives}) == 1


def of_quantity(topics: Mapping[str, list[Channel]], quantity: str) -> dict[str, list[Channel]]:
    """Commands by topic that may be of a quantity; those that say so where there are any."""
    if not quantity:
        return dict(topics)
    found = {
        topic: [one for one in group if one.quantity in (quantity, "")]
        for topic, group in topics.items()
    }
    found = {topic: group for topic, group in found.items() if group}
    telling = {
        topic: group
        for topic, group in found.items()
        if all(one.quantity == quantity for one in group)
    }
    return telling or found


def likeliest(group: Sequence[Channel], quantity: str) -> list[Channel]:
    """Commands of one topic without what others of the same name speak against, in their order.

    Beside the position, velocity and torque that a drive is asked for, its message has gains, which
    say no quantity and mostly stay as they are.
    """

    def rank(one: Channel) -> tuple[bool, bool]:
        return one.quantity == quantity, one.moves

    best: dict[str, tuple[bool, bool]] = {}
    for one in group:
        best[one.name] = max(best.get(one.name, (False, False)), rank(one))
    return [one for one in group if rank(one) == best[one.name]]


def spaces_of(channels: Iterable[Channel]) -> set[str]:
    """The namespaces of some topics, their first parts where they have several."""
    return {one.topic.split("/")[1] for one in channels if one.topic.count("/") > 1}


def of_robot(
    arrays: Mapping[str, list[Channel]], positions: Collection[Channel]
) -> dict[str, list[Channel]]:
    """The arrays in the namespaces of the measured positions, where all are in one; else all."""
    if not all(spaces_of([one]) for one in positions):  # a topic of the whole robot's
        return dict(arrays)
    spaces = spaces_of(positions)
    own = {key: found for key, found in arrays.items() if not spaces_of(found).isdisjoint(spaces)}
    return own or dict(arrays)
