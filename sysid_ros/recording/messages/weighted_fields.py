# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of a message's numbers, or their squares: ``30.3 * linear.x - 4.8 * angular.z``.

So a base's controller makes the speed of a wheel of what the base is asked for, and a differential
gear the angle of a joint of those of two motors. A rotor's thrust goes by the square of its speed:
``8.5e-06 * velocity[0]^2``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sysid_ros.errors import DataError
from sysid_ros.recording.messages.components import Components, components_of
from sysid_ros.recording.messages.field_paths import FieldPath, parse_field
from sysid_ros.recording.messages.trajectories import is_expanded

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs

_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
# Signs within brackets, as of data[-1], belong to the path.
_SQUARE = re.compile(r"\s*\^\s*2\s*$")
_TERM = re.compile(rf"\s*([+-]?)\s*(?:({_NUMBER})\s*\*\s*)?((?:[^\[\]+*-]|\[[^\]]*\])+)")


@dataclass(frozen=True)
class WeightedField:
    """A number of a message or its square, and by how much it counts."""

    weight: float
    path: FieldPath
    power: int = 1  # or 2


def parse_fields(text: str) -> tuple[WeightedField, ...]:
    """Parse a field path, or a sum of paths or their squares with weights.

    Args:
      text: Such as ``position[elbow]``, ``data[0] - 0.5 * data[1]`` or ``2e-5 * data[0]^2``.

    Returns:
      One field of weight 1, or the terms of the sum.

    Raises:
      DataError: It is neither.
    """
    terms: list[WeightedField] = []
    position = 0
    while not terms or position < len(text):
        match = _TERM.match(text, position)
        if match is None or (terms and not match[1]):
            return (WeightedField(1.0, parse_field(text)),)  # which says where it is wrong
        weight = float(f"{match[1]}{match[2] or 1}")
        path, squares = _SQUARE.subn("", match[3])
        terms.append(WeightedField(weight, parse_field(path.strip()), 1 + squares))
        position = match.end()
    if not all(0.0 < abs(term.weight) < math.inf for term in terms):
        raise DataError(f"{text!r}: a weight is 0, or beyond all numbers; leave that field out")
    summed = len(terms) > 1 or terms[0].power > 1
    if summed and any(is_expanded(term.path) for term in terms):
        raise DataError(f"{text!r}: whole trajectories have no sum; name one point, points[0]")
    return tuple(terms)


def is_played(text: str) -> bool:
    """Return whether a field is that of all points of a trajectory."""
    return is_expanded(parse_fields(text)[0].path)


def numbers_of(text: str, msgtype: str, types: Mapping[str, Fielddefs]) -> Components:
    """Return the numbers that a field, or a sum of fields, stands for.

    Args:
      text: As for :func:`parse_fields`.
      msgtype: The type of the message.
      types: Fields of that type and of those it uses.

    Raises:
      DataError: It is no field, or a sum of more than single numbers.
    """
    terms = parse_fields(text)
    if terms == (WeightedField(1.0, terms[0].path),):
        return components_of(terms[0].path, msgtype, types)
    parts = [components_of(term.path, msgtype, types) for term in terms]
    for part in parts:
        if len(part.paths) > 1:
            raise DataError(f"{text!r}: a sum is of single numbers, such as {part.paths[0]}")
    return Components(
        tuple(part.paths[0] for part in parts),
        weights=tuple(term.weight for term in terms),
        powers=tuple(term.power for term in terms),
    )
