# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Names of joints in a model and in a recording that mean the same."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

_FILLERS = frozenset(
    {
        "joint", "jnt", "j", "pos", "position", "vel", "velocity", "eff", "effort", "torque",
        "sensor", "actuator", "act", "motor", "mot", "servo", "state", "states", "controller",
        "command", "cmd", "link", "robot", "encoder", "drive",
    }
)  # fmt: skip
_PLAUSIBLE = 0.55  # similarity from which two names may mean the same


@dataclass(frozen=True)
class Match:
    """The recorded name that a wanted one means, and whether there is any doubt."""

    index: int
    sure: bool


def match_names(wanted: Sequence[str], given: Sequence[str]) -> dict[str, Match]:
    """Find the recorded name of each wanted one, each used once.

    Names are equal, or equal but for namespaces, case and words such as ``joint`` or ``pos``
    (sure), or similar (to be checked).

    Args:
      wanted: Names in the model.
      given: Names in the recording.

    Returns:
      The matches of those that have one.
    """
    if not wanted or not given:
        return {}
    table = np.array([[similarity(one, other) for other in given] for one in wanted])
    rows, columns = scipy.optimize.linear_sum_assignment(-table)
    found = [(r, c) for r, c in zip(rows, columns, strict=True) if table[r, c] >= _PLAUSIBLE]
    pairs = [(wanted[row], given[column]) for row, column in found]
    alone = all(np.count_nonzero(table[row] >= table[row, column]) == 1 for row, column in found)
    prefixed = alone and _same_prefix(pairs)
    return {
        wanted[row]: Match(int(column), sure=bool(prefixed or table[row, column] >= 0.9))
        for row, column in found
    }


def _same_prefix(pairs: Sequence[tuple[str, str]]) -> bool:
    """Tell whether each second name is the first plus the same words, such as an arm's name."""
    extra = set()
    for one, other in pairs:
        words, others = _words(one), _words(other)
        if others[len(others) - len(words) :] != words:
            return False
        extra.add(tuple(others[: len(others) - len(words)]))
    return len(pairs) > 1 and len(extra) == 1


def similarity(one: str, other: str) -> float:
    """Score how much two names look like the same thing, from 0 to 1."""
    if one == other:
        return 1.0
    if not one or not other:
        return 0.0
    words, others = _words(one), _words(other)
    if words and words == others:
        return 0.95
    if words and others and _numbers(words) != _numbers(others):
        return 0.0  # joint_1 is not joint_2
    if set(words) and (set(words) <= set(others) or set(others) <= set(words)):
        return 0.9 if abs(len(words) - len(others)) == 1 else 0.8
    ratio = difflib.SequenceMatcher(None, " ".join(words), " ".join(others)).ratio()
    return 0.89 * ratio


def _words(name: str) -> list[str]:
    """The telling words of a name, in order; all of them where none tells anything."""
    last = name.rpartition("/")[2]
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", last)
    words = re.findall(r"[a-z]+|\d+", spaced.lower())
    telling = [word for word in words if word not in _FILLERS]
    return [word.lstrip("0") or "0" if word.isdigit() else word for word in telling or words]


def _numbers(words: list[str]) -> list[str]:
    return [word for word in words if word.isdigit()]
