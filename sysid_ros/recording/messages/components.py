# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fields that are more than one number: vectors, quaternions, poses, twists.

A path that leads to such a part of a message stands for its numbers in MuJoCo's order: positions
before orientations, quaternions as w x y z, linear before angular. So does one to a fixed array of
three numbers, a vector, or of four, a quaternion in MuJoCo's order, as the messages of PX4 and of
Unitree's robots have them. ``yaw`` below a quaternion is one number, the heading that it tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from rosbags.interfaces import Nodetype

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import DataError
from sysid_ros.recording.messages.field_paths import FieldPath, Step, field_named
from sysid_ros.recording.messages.message_types import QUATERNION, message_type

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs


# Lengths of fixed arrays that stand for a whole, and where among their numbers quaternions begin.
_FIXED: Mapping[int, tuple[int, ...]] = {3: (), 4: (0,)}
HEADING = "yaw"  # below a quaternion, what a boat or a mobile base turns by
_NUMBERS = 4  # of a quaternion
_UNIT_NORM = (0.9, 1.1)  # float32 and rounded text stay within a few per cent of 1


@dataclass(frozen=True)
class Components:
    """The numbers that a field stands for."""

    paths: tuple[FieldPath, ...]  # one path for each, in MuJoCo's order
    quaternions: tuple[int, ...] = ()  # where among them the w of each quaternion stands
    heading: bool = False  # whether they are a quaternion of which the heading alone counts
    weights: tuple[float, ...] = ()  # of each in a sum, which alone counts; empty: no sum
    powers: tuple[int, ...] = ()  # of each in that sum, 1 or 2

    def summed(self, values: FloatArray) -> FloatArray:
        """The sum that counts, (n, 1), of the numbers as they were recorded, (n, k)."""
        return np.asarray(values ** np.array(self.powers) @ np.array([self.weights]).T)

    def with_z_up(self, where: str) -> FloatArray:
        """The sign of each number, (k,), in axes turned by half a turn about x.

        Of frames whose y and z axes point the other way, of the world and of the body alike, such
        as NED and FRD, vectors keep their first number and quaternions w and x.

        Args:
          where: The signal and its source, for messages.

        Raises:
          DataError: The field is neither a vector nor an orientation.
        """
        signs: list[float] = []
        while len(signs) < len(self.paths):
            signs += [1.0, 1.0, -1.0, -1.0] if len(signs) in self.quaternions else [1.0, -1.0, -1.0]
        if len(signs) != len(self.paths):
            raise DataError(
                f"{where} is one number; z_down takes vectors, orientations, poses and twists"
            )
        return np.array(signs)


def components_of(path: FieldPath, msgtype: str, types: Mapping[str, Fielddefs]) -> Components:
    """Return the numbers that a path leads to.

    Args:
      path: The path.
      msgtype: The type of the message.
      types: Fields of that type and of those it uses.

    Returns:
      The path itself unless it leads to a vector, a quaternion, a pose, a twist or the like, or to
      the heading of a quaternion.
    """
    if path.steps[-1].field == HEADING and len(path.steps) > 1:
        above = FieldPath(path.text.removesuffix(f".{HEADING}"), path.steps[:-1])
        if (turned := components_of(above, msgtype, types)).quaternions == (0,):
            return replace(turned, heading=len(turned.paths) == _NUMBERS)
    reached, count = _reached(path, msgtype, types)
    if count in _FIXED:
        numbers = tuple(_element(path, index) for index in range(count))
        return Components(numbers, _FIXED[count])
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


def _element(path: FieldPath, index: int) -> FieldPath:
    *above, last = path.steps
    return FieldPath(f"{path.text}[{index}]", (*above, Step(last.field, index)))


def _reached(path: FieldPath, msgtype: str, types: Mapping[str, Fielddefs]) -> tuple[str, int]:
    """The type of message that a path leads to, and the length of a fixed array of numbers.

    Either is empty or zero where it leads to something else or to what cannot be told.
    """
    reached = msgtype
    for step in path.steps:
        fields = dict(types.get(reached, ()))
        name = field_named(step.field, reached, fields)
        if name is None:
            return "", 0
        description: Any = fields[name]
        if description[0] in (Nodetype.ARRAY, Nodetype.SEQUENCE) and step.element is not None:
            description = description[1][0]
        if description[0] != Nodetype.NAME:
            return "", _numbers_in(description) if step is path.steps[-1] else 0
        reached = str(description[1])
    return reached, 0


def _numbers_in(description: Any) -> int:
    """The length of a fixed array of numbers; zero of anything else."""
    if description[0] != Nodetype.ARRAY or description[1][0][0] != Nodetype.BASE:
        return 0
    return int(description[1][1])


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


def headings(quaternions: FloatArray) -> FloatArray:
    """The angles about the vertical [rad] by which orientations turn the x axis, (n, 1).

    They lie between -pi and pi.

    Args:
      quaternions: (n, 4) of norm 1, w x y z.
    """
    w, x, y, z = quaternions.T
    angles: FloatArray = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y**2 + z**2))
    return angles[:, np.newaxis]
