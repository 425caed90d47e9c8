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
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.errors import DataError
from sysid_ros.recording.messages.field_paths import EVERY, Absent, FieldPath, Step, resolve
from sysid_ros.recording.messages.message_layout import FieldReader, stack_messages
from sysid_ros.recording.messages.message_tree import Group, GroupArray, Number, locate

if TYPE_CHECKING:
    from rosbags.interfaces.typing import Fielddefs


_KNOT_INTERVAL = 0.01  # s, between samples of a curve
_JUMP = 1e-6  # s, from a command to one that takes over at once
_DERIVATIVES = {"positions": ("velocities", "accelerations"), "velocities": ("accelerations",)}
_DURATION = tuple((Step("time_from_start"), Step(part)) for part in ("sec", "nanosec"))
_UNITS = (1.0, 1e-9)  # s
_STREAMED = 0.05  # s, the latest time of a trajectory's point that is a command to be held


@dataclass(frozen=True)
class Trajectory:
    """One joint's part of one message."""

    offsets: FloatArray  # (p,) s from the trajectory's start, strictly increasing
    values: FloatArray  # (p, d) the value and d - 1 derivatives by time


def is_expanded(path: FieldPath) -> bool:
    """Return whether a path stands for all points of a trajectory."""
    return any(step.element == EVERY for step in path.steps)


def is_goal(root: Group, data: bytes) -> bool:
    """Return whether a trajectory's last point is to be reached in a while, not to be held."""
    points = root.fields.get("points")
    if not isinstance(points, GroupArray) or not len(points):
        return False
    due = points.items[-1].fields.get("time_from_start")
    if not isinstance(due, Group):
        return False
    parts = [
        np.frombuffer(data, part.dtype, 1, part.offset)[0]
        for part in due.fields.values()
        if isinstance(part, Number)
    ]
    return len(parts) == len(_UNITS) and float(np.dot(parts, _UNITS)) > _STREAMED


@dataclass(frozen=True)
class TrajectoryReader:
    """Reads all points of one joint from messages of one type."""

    path: FieldPath
    msgtype: str
    serialization: str
    types: Mapping[str, Fielddefs]

    def read(self, messages: Sequence[bytes]) -> list[Trajectory | None]:
        """Return the trajectory of each message; ``None`` where it does not concern the joint.

        Raises:
          BagError: A message does not fit its type.
          DataError: The type has no such field, or the points are not in order.
        """
        found: list[Trajectory | None] = [None] * len(messages)
        lengths = np.array([len(one) for one in messages])
        for length in np.unique(lengths):
            remaining = np.flatnonzero(lengths == length)
            rows = stack_messages([messages[int(i)] for i in remaining])
            while len(remaining):
                first = messages[int(remaining[0])]
                paths, depth = self._numbers_of(first)
                reader = FieldReader(self.msgtype, self.serialization, self.types, paths, "")
                layout = reader.layout(first)
                matching = layout.matches(rows)
                if depth:
                    width = len(_DURATION) + depth
                    shape = (int(matching.sum()), len(paths) // width, width)
                    tables = layout.values(rows[matching]).reshape(shape)
                    for place, table in zip(remaining[matching], tables, strict=True):
                        found[place] = self._trajectory(table)
                remaining, rows = remaining[~matching], rows[~matching]
        return found

    def _trajectory(self, table: FloatArray) -> Trajectory:
        """The trajectory of rows of seconds, nanoseconds, value and derivatives, (p, 2 + d)."""
        offsets = table[:, :2] @ np.array(_UNITS)
        if np.any(np.diff(offsets) <= 0.0):
            raise DataError(f"field {self.path.text!r}: time_from_start does not increase")
        return Trajectory(offsets, table[:, 2:])

    def _numbers_of(self, data: bytes) -> tuple[tuple[FieldPath, ...], int]:
        """Paths to a message's numbers, and how many of each point are value and derivatives.

        That is none where a point does not concern the joint.
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
        tail = self.path.steps[expanded + 1 :]
        derivatives = _DERIVATIVES.get(tail[-1].field, ())
        wanted = [tail, *((*tail[:-1], replace(tail[-1], field=name)) for name in derivatives)]
        heads = [
            (*self.path.steps[:expanded], replace(step, element=index))
            for index in range(len(points))
        ]
        depth = min((self._depth(root, head, wanted) for head in heads), default=1)
        if not depth:
            return (), 0
        rows = [
            (*head, *steps) for head in heads for steps in (*_DURATION, *wanted[:depth])
        ]  # fmt: skip
        return tuple(FieldPath(self.path.text, row) for row in rows), depth

    def _depth(
        self, root: Group, head: tuple[Step, ...], wanted: Sequence[tuple[Step, ...]]
    ) -> int:
        """Count the value and the derivatives that a point has, one after the other."""
        for count, steps in enumerate(wanted):
            if isinstance(resolve(FieldPath(self.path.text, (*head, *steps)), root), Absent):
                return count
        return len(wanted)


def played(
    starts: FloatArray, trajectories: Sequence[Trajectory | None]
) -> tuple[FloatArray, FloatArray]:
    """Play trajectories one after the other, each from its start, (m,) s; ``None`` changes nothing.

    Returns:
      (n,) strictly increasing times [s] and (n,) values; linear in between.
    """
    times: list[float] = []
    values: list[float] = []
    for start, trajectory in zip(starts.tolist(), trajectories, strict=True):
        if trajectory is None:
            continue
        if times:
            at_once = len(trajectory.offsets) > 0 and trajectory.offsets[0] < _JUMP
            here, before = (_value(times, values, start - ago) for ago in (0.0, _KNOT_INTERVAL))
            speed = (here - before) / _KNOT_INTERVAL
            _cut_off(times, values, start - _JUMP if at_once else start)
            if not at_once and trajectory.values.shape[1] > 1 and len(trajectory.offsets):
                trajectory = _from_there(values.pop(), speed, trajectory)
                times.pop()
        new_times, new_values = _curve(start, trajectory)
        times += new_times.tolist()
        values += new_values.tolist()
    return np.array(times), np.array(values)


def _value(times: Sequence[float], values: Sequence[float], at: float) -> float:
    """The value of a command at an instant; at its ends it stays."""
    after = bisect.bisect_left(times, at)
    if after in (0, len(times)):
        return values[0] if after == 0 else values[-1]
    share = (at - times[after - 1]) / (times[after] - times[after - 1])
    return values[after - 1] + share * (values[after] - values[after - 1])


def _cut_off(times: list[float], values: list[float], end: float) -> None:
    """End a command at an instant, with the value that it has there."""
    kept, here = bisect.bisect_left(times, end), _value(times, values, end)
    del times[kept:], values[kept:]
    times.append(end)
    values.append(here)


def _from_there(value: float, speed: float, trajectory: Trajectory) -> Trajectory:
    """The trajectory with the way to its first point, which is a cubic or quintic as well."""
    here = np.zeros((1, trajectory.values.shape[1]))
    here[0, :2] = value, speed
    return Trajectory(
        np.concatenate([[0.0], trajectory.offsets]), np.concatenate([here, trajectory.values])
    )


def _curve(start: float, trajectory: Trajectory) -> tuple[FloatArray, FloatArray]:
    """Samples of one trajectory, close enough to each other to be joined by lines."""
    knots = start + trajectory.offsets
    if len(knots) < 2 or trajectory.values.shape[1] == 1:
        return knots, trajectory.values[:, 0].copy()
    curve = scipy.interpolate.BPoly.from_derivatives(trajectory.offsets, trajectory.values)
    parts = [
        np.linspace(one, after, math.ceil((after - one) / _KNOT_INTERVAL), endpoint=False)
        for one, after in itertools.pairwise(trajectory.offsets)
    ]
    offsets = np.concatenate([*parts, trajectory.offsets[-1:]])
    return start + offsets, np.asarray(curve(offsets))
