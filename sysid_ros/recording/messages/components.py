# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fields that are more than one number: vectors, quaternions, poses, twists.

A path that leads to such a part of a message stands for its numbers in MuJoCo's order: positions
before orientations, quaternions as w x y z, linear before angular.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rosbags.interfaces import Nodetype

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import DataError
from sysid_ros.recording.messages.field_paths import FieldPath, Step, field_named
from sysid_ros.recording.messages.message_types import QUATERNION, message_type

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs


_UNIT_NORM = (0.9, 1.1)  # float32 and rounded text stay within a few per cent of 1


@dataclass(frozen=True)
class Components:
    """The numbers that a field stands for."""

    paths: tuple[FieldPath, ...]  # one path for each, in MuJoCo's order
    quaternions: tuple[int, ...] = ()  # where among them the w of each quaternion stands


def components_of(path: FieldPath, msgtype: str, types: Mapping[str, Fielddefs]) -> Components:
    """Return the numbers that a path leads to.

    Args:
      path: The path.
      msgtype: The type of the message.
      types: Fields of that type and of those it uses.

    Returns:
      The path itself unless it leads to a vector, a quaternion, a pose, a twist or the like.
    """
    reached = _type_at(path, msgtype, types)
    if not message_type(reached).parts:
        return Components((path,))
    paths: list[FieldPath] = []
    quaternions: list[int] = []
    _collect(path, reached, paths, quaternions)
    return Components(tuple(paths), tuple(quaternions))


def _collect(path: FieldPath, reached: str, paths: list[FieldPath], quaternions: list[int]) -> None:
    if reached == QUATERNION:
        quaternions.append(len(paths))
    for name, part in message_type(reached).parts.items():
        if part:
            _collect(_below(path, name), part, paths, quaternions)
        else:
            paths.append(_below(path, name))


def _below(path: FieldPath, name: str) -> FieldPath:
    return FieldPath(f"{path.text}.{name}", (*path.steps, Step(name)))


def _type_at(path: FieldPath, msgtype: str, types: Mapping[str, Fielddefs]) -> str:
    """Return the type that a path leads to; empty where it is no message or cannot be told."""
    reached = msgtype
    for step in path.steps:
        fields = dict(types.get(reached, ()))
        name = field_named(step.field, reached, fields)
        if name is None:
            return ""
        description: Any = fields[name]
        if description[0] in (Nodetype.ARRAY, Nodetype.SEQUENCE) and step.element is not None:
            description = description[1][0]
        if description[0] != Nodetype.NAME:
            return ""
        reached = str(description[1])
    return reached


def unit_quaternions(values: FloatArray, where: str) -> FloatArray:
    """Normalize quaternions and choose signs so that neighbours agree.

    Args:
      values: (n, 4) as recorded, w x y z.
      where: The signal and its source, for messages.

    Returns:
      (n, 4) of norm 1; q and -q are the same orientation, and between samples the short way counts.

    Raises:
      DataError: Some are not of about unit length; a driver that knows no orientation sends zeros.
    """
    norms = np.linalg.norm(values, axis=1)
    bad = np.flatnonzero(~((norms > _UNIT_NORM[0]) & (norms < _UNIT_NORM[1])))
    if len(bad):
        raise DataError(
            f"{where} is no orientation in {len(bad)} of {len(values)} samples: the length of the "
            f"quaternion is {norms[bad[0]]:g} instead of 1"
        )
    unit = values / norms[:, np.newaxis]
    turns = np.where(np.sum(unit[1:] * unit[:-1], axis=1) < 0.0, -1.0, 1.0)
    continuous: FloatArray = unit * np.cumprod([1.0, *turns])[:, np.newaxis]
    return continuous
