# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names of joints in a model and in a recording that mean the same."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray

_FILLERS = frozenset(
    {
        "joint", "jnt", "j", "pos", "position", "vel", "velocity", "eff", "effort", "torque",
        "sensor", "actuator", "act", "motor", "mot", "servo", "state", "controller",
        "command", "cmd", "link", "robot", "encoder", "drive", "id",
    }
)  # fmt: skip
_INTERFACES = ("position", "velocity", "effort")  # of ros2_control, as in elbow/position
_NUMBERED = re.compile(r"([A-Za-z]\w*?)_?(\d+)")
_PLACES = ({"rear", "hind", "back"},)  # words that mean the same
_PLAUSIBLE = 0.55  # similarity from which two names may mean the same
SURE = 0.9  # from which they do
_RIVALLED = 0.8  # of a prefix beside another that says as much
_OTHER_PREFIX = 0.6


@dataclass(frozen=True)
class Match:
    """The recorded name that a wanted one means, and whether there is any doubt."""

    index: int
    sure: bool


def match_names(wanted: Sequence[str], given: Sequence[str]) -> dict[str, Match]:
    """Find the recorded name of each wanted one, each used once.

    Names are equal, or equal but for namespaces, case and words such as ``joint`` or ``pos``
    (sure), or similar (to be checked). What is surely one's name is not another's that is similar,
    however often it was recorded.

    Returns:
      The matches of those that have one.
    """
    if not wanted or not given:
        return {}
    places = {name: place for place, name in enumerate(given)}
    if len(places) == len(given) and all(name in places for name in wanted):
        return {name: Match(places[name], sure=True) for name in wanted}
    table = np.array([[similarity(one, other) for other in given] for one in wanted])
    _prefer_one_prefix(table, wanted, given)
    _spell_out(table, wanted, given)
    table[(table < SURE) & (table.max(axis=0) >= SURE)] = 0.0
    rows, columns = scipy.optimize.linear_sum_assignment(-table)
    return {
        wanted[row]: Match(int(column), sure=bool(table[row, column] >= SURE))
        for row, column in zip(rows, columns, strict=True)
        if table[row, column] >= _PLAUSIBLE
    }


def _prefer_one_prefix(table: FloatArray, wanted: Sequence[str], given: Sequence[str]) -> None:
    """Score names that differ by the prefix that most do, such as a robot's name or namespace.

    With another prefix that as many have, as with two arms of a kind, in the recording or in the
    model, none of them is sure.

    Args:
      table: Scores of wanted with given names, which are changed.
      wanted: Names in the model.
      given: Names in the recording.
    """
    groups: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for row, one in enumerate(wanted):
        for column, other in enumerate(given):
            if table[row, column] < 1.0 and (prefix := _prefix(one, other)):
                groups.setdefault(prefix, []).append((row, column))
    best = max(groups.values(), key=len, default=[])
    if len(best) < 2:
        return
    rows, columns = ({*each} for each in zip(*best, strict=True))
    alone = True
    for pairs in groups.values():
        rival = any(row in rows or column in columns for row, column in pairs)
        if pairs is not best and rival:
            alone &= len(pairs) < len(best)
            for row, column in pairs:
                table[row, column] = min(table[row, column], _OTHER_PREFIX)
    for row, column in best:
        table[row, column] = max(table[row, column], SURE) if alone else _RIVALLED


def _spell_out(table: FloatArray, wanted: Sequence[str], given: Sequence[str]) -> None:
    """Score names that abbreviate others, as fl_hx does front_left_hip_x, where several do.

    Args:
      table: Scores of wanted with given names, which are changed.
      wanted: Names in the model.
      given: Names in the recording.
    """
    words, others = ([_singular(_words(name)) for name in names] for names in (wanted, given))
    spelled = np.array([[_abbreviates(one, other) for other in others] for one in words])
    alone = (spelled.sum(axis=0) == 1)[None, :] & (spelled.sum(axis=1) == 1)[:, None]
    found = spelled & alone & (table < SURE)
    if np.count_nonzero(found) > 1:
        table[found] = SURE


def _abbreviates(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Return whether the shorter of two names spells the other, of several words."""
    short, long = sorted((words, others), key=lambda one: sum(map(len, one)))
    return words != others and len(long) > 1 and _spells(short, long)


def _spells(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Return whether words are made of the beginnings of others, all of them in order.

    One may have those of several, and be of any word that means the same.
    """
    if not short or not long:
        return not short and not long
    head, rest = short[0], short[1:]
    alike = next((place for place in _PLACES if long[0] in place), {long[0]})
    return any(
        _spells((head[count:], *rest) if head[count:] else rest, long[1:])
        for whole in alike
        for count in range(1, len(head) + 1)
        if whole.startswith(head[:count])
    )


def _prefix(one: str, other: str) -> tuple[str, ...]:
    """Return what the longer of two names has before the shorter, if that is its end."""
    spaces = [name.rpartition("/")[0] for name in (one, other)]
    words, others = _singular(_words(one)), _singular(_words(other))
    short, long = sorted((words, others), key=len)
    if not short or long[len(long) - len(short) :] != short:
        return ()
    extra = long[: len(long) - len(short)]
    return (*spaces, *extra) if extra or spaces[0] != spaces[1] else ()


@lru_cache(maxsize=1 << 16)
def similarity(one: str, other: str) -> float:
    """Score how much two names look like the same thing, from 0 to 1."""
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    words, others = _words(one), _words(other)
    if words and words == others:
        return 0.95
    words, others = _singular(words), _singular(others)
    if words and words == others:
        return 0.93  # fins_0 is fin_0, unless there is a fins_0
    if words and others and _numbers(words) != _numbers(others):
        return 0.0  # joint_1 is not joint_2
    if set(words) and (set(words) <= set(others) or set(others) <= set(words)):
        return 0.9 if abs(len(words) - len(others)) == 1 else 0.8
    ratio = difflib.SequenceMatcher(None, " ".join(words), " ".join(others)).ratio()
    return 0.89 * ratio


def in_a_row(fields: Iterable[str]) -> dict[str, int]:
    """The place, from 0, of each field of those that count on: ``joint_1`` to ``joint_6``."""
    rows: dict[str, dict[int, str]] = {}
    for field in fields:
        if numbered := _NUMBERED.fullmatch(field):
            rows.setdefault(numbered[1], {})[int(numbered[2])] = field
    longest = max(rows.values(), key=len, default={})
    first = min(longest, default=0)
    if len(longest) < 2 or max(longest) - first >= len(longest):
        return {}
    return {field: number - first for number, field in longest.items()}


def likeness(names: Sequence[str], topic: str) -> float:
    """Score how much a part of a topic's name, or two in a row, look like one of some names."""
    parts = [part for part in topic.split("/") if part]
    told = [*parts, *map("_".join, itertools.pairwise(parts))]
    return max((similarity(name, part) for name in names for part in told), default=0.0)


def interface_of(name: str) -> tuple[str, str]:
    """A joint and its interface, of a name such as ``elbow/position``; else the name alone."""
    joint, _, last = name.rpartition("/")
    return (joint, last) if joint and last in _INTERFACES else (name, "")


def words_of(name: str) -> frozenset[str]:
    """The words by which a name differs from others, without a plural's s."""
    return frozenset(_singular(_words(name)))


@lru_cache(maxsize=4096)
def _words(name: str) -> tuple[str, ...]:
    """The telling words of a name, in order; all of them where none tells anything."""
    last = interface_of(name)[0].rpartition("/")[2]
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", last)
    words = re.findall(r"[a-z]+|\d+", spaced.lower())
    telling = [w for w, one in zip(words, _singular(words), strict=True) if one not in _FILLERS]
    return tuple(word.lstrip("0") or "0" if word.isdigit() else word for word in telling or words)


def _singular(words: Sequence[str]) -> tuple[str, ...]:
    """Words without the s of a plural; that of a chassis goes as well, on either side."""
    return tuple(re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", word) for word in words)


def _numbers(words: Sequence[str]) -> list[str]:
    return [word for word in words if word.isdigit()]
