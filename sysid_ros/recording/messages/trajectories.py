# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectories as commands: all points of every message, at the instants they are meant for.

``points[*].positions[elbow]`` of a JointTrajectory stands for what the controller asks of the joint
over time: from the message's stamp (or its receipt where the stamp is zero, "now") on, each point
at its ``time_from_start``, until a newer trajectory takes over. Between points a
joint_trajectory_controller moves on straight lines if only positions are given, on cubics with
velocities and on quintics with accelerations; before the first point it starts from where the
command was, and after the last it stays.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import DataError
from sysid_ros.recording.messages.field_paths import EVERY, Absent, FieldPath, Step, resolve
from sysid_ros.recording.messages.message_tree import Group, GroupArray, Number, locate

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs


_KNOT_INTERVAL = 0.01  # s, between samples of a curve
_JUMP = 1e-6  # s, from a command to one that takes over at once
_DERIVATIVES = {"positions": ("velocities", "accelerations"), "velocities": ("accelerations",)}
_DURATION = ((1.0, "sec"), (1e-9, "nanosec"))


@dataclass(frozen=True)
class Trajectory:
    """One joint's part of one message.

    Attributes:
      offsets: (p,) s from the trajectory's start, strictly increasing.
      values: (p, d) the value and d - 1 derivatives by time.
    """

    offsets: FloatArray
    values: FloatArray


def is_expanded(path: FieldPath) -> bool:
    """Return whether a path stands for all points of a trajectory."""
    return any(step.element == EVERY for step in path.steps)


@dataclass(frozen=True)
class TrajectoryReader:
    """Reads all points of one joint from messages of one type."""

    path: FieldPath
    msgtype: str
    serialization: str
    types: Mapping[str, Fielddefs]

    def read(self, data: bytes) -> Trajectory | None:
        """Return a message's trajectory; ``None`` where it does not concern the joint.

        Raises:
          BagError: The message does not fit its type.
          DataError: The type has no such field, or the points are not in order.
        """
        root = locate(data, self.msgtype, self.types, serialization=self.serialization).root
        expanded = next(i for i, s in enumerate(self.path.steps) if s.element == EVERY)
        step = self.path.steps[expanded]
        points = root.fields.get(step.field) if expanded == 0 else None
        if not isinstance(points, GroupArray):
            raise DataError(
                f"field {self.path.text!r}: [{EVERY}] stands for the points of a trajectory, "
                f"which {self.msgtype} has not at {step.field!r}"
            )
        rows = []
        for index in range(len(points)):
            row = self._point(root, data, index, expanded)
            if row is None:
                return None
            rows.append(row)
        depth = min((len(row) for row in rows), default=2)
        table = np.array([row[:depth] for row in rows]).reshape(len(rows), depth)
        if np.any(np.diff(table[:, 0]) <= 0.0):
            raise DataError(f"field {self.path.text!r}: time_from_start does not increase")
        return Trajectory(table[:, 0], table[:, 1:])

    def _point(self, root: Group, data: bytes, index: int, expanded: int) -> list[float] | None:
        """Time from start, value and derivatives of one point."""
        head = self.path.steps[:expanded]
        point = replace(self.path.steps[expanded], element=index)
        tail = self.path.steps[expanded + 1 :]
        last = tail[-1].field
        fields = [tail]
        for name in _DERIVATIVES.get(last, ()):
            fields.append((*tail[:-1], replace(tail[-1], field=name)))
        row = [_seconds(root, data, (*head, point))]
        for steps in fields:
            number = resolve(FieldPath(self.path.text, (*head, point, *steps)), root)
            if isinstance(number, Absent):
                break
            row.append(_number(number, data))
        return row if len(row) > 1 else None


def played(
    starts: FloatArray, trajectories: Sequence[Trajectory | None]
) -> tuple[FloatArray, FloatArray]:
    """Play trajectories one after the other.

    Args:
      starts: (m,) s, increasing.
      trajectories: One for each start; ``None`` changes nothing.

    Returns:
      (n,) strictly increasing times [s] and (n,) values; linear in between.
    """
    times: list[float] = []
    values: list[float] = []
    for start, trajectory in zip(starts.tolist(), trajectories, strict=True):
        if trajectory is None:
            continue
        new_times, new_values = _curve(start, trajectory)
        if times:
            at_once = len(new_times) > 0 and new_times[0] - start < _JUMP
            _cut_off(times, values, start - _JUMP if at_once else start)
        times += new_times.tolist()
        values += new_values.tolist()
    return np.array(times), np.array(values)


def _cut_off(times: list[float], values: list[float], end: float) -> None:
    """End a command at an instant, with the value that it has there."""
    kept = bisect.bisect_left(times, end)
    if kept == 0:
        here = values[0]
    elif kept == len(times):
        here = values[-1]
    else:
        share = (end - times[kept - 1]) / (times[kept] - times[kept - 1])
        here = values[kept - 1] + share * (values[kept] - values[kept - 1])
    del times[kept:], values[kept:]
    times.append(end)
    values.append(here)


def _curve(start: float, trajectory: Trajectory) -> tuple[FloatArray, FloatArray]:
    """Samples of one trajectory, close enough to each other to be joined by lines."""
    knots = start + trajectory.offsets
    if len(knots) < 2 or trajectory.values.shape[1] == 1:
        return knots, trajectory.values[:, 0].copy()
    curve = scipy.interpolate.BPoly.from_derivatives(trajectory.offsets, trajectory.values)
    between = np.arange(trajectory.offsets[0], trajectory.offsets[-1], _KNOT_INTERVAL)
    offsets = np.union1d(between, trajectory.offsets)
    return start + offsets, np.asarray(curve(offsets))


def _seconds(root: Group, data: bytes, point: tuple[Step, ...]) -> float:
    total = 0.0
    for scale, part in _DURATION:
        path = FieldPath(f"time_from_start.{part}", (*point, Step("time_from_start"), Step(part)))
        number = resolve(path, root)
        if isinstance(number, Number):
            total += scale * _number(number, data)
    return total


def _number(number: Number, data: bytes) -> float:
    return float(np.frombuffer(data, number.dtype, 1, number.offset)[0])
