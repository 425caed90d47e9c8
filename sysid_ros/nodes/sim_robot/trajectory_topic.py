# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The topic of a joint_trajectory_controller, for the simulated robot."""

from __future__ import annotations

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import CommandedCurve

_SAME = 1e-6  # s between two instants that are one


class TrajectoryTopic:
    """The reference of ``n`` joints along the latest trajectory, by the stamp that dates it.

    One without a stamp begins as it arrives. Points that are over are joined where the robot is by
    now; to a first one that is still to come the reference leaves from where the robot is measured.
    """

    def __init__(self, joints: tuple[str, ...]) -> None:
        """Follow nothing yet."""
        self._joints = joints
        self._curve: CommandedCurve | None = None
        self._time = 0.0  # s, of the robot's latest state
        self._measured: FloatArray | None = None  # (2, n) positions and velocities then
        self._offset = 0.0  # s, of the stamps from the robot's time

    def follow(self, message: JointTrajectory) -> bool:
        """Follow a trajectory instead of what was followed; returns whether it can be."""
        curve = _curve(message, self._joints)
        if curve is None:
            return False
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        begun = stamp - self._offset if stamp else self._time
        curve = CommandedCurve(curve.times + begun, curve.positions, curve.velocities)
        if curve.times[-1] < self._time and stamp:
            return True  # it ended in the past
        if curve.times[0] > self._time + _SAME and self._measured is not None:
            position, velocity = self._measured
            curve = CommandedCurve(
                np.append(self._time, curve.times),
                np.concatenate([position[None], curve.positions]),
                np.concatenate([velocity[None], curve.velocities]),
            )
        self._curve = curve
        return True

    def control(self, time: float, stamp_ns: int, measured: FloatArray) -> FloatArray | None:
        """The command (n,) from ``time``, s, on, when (2, n) are ``measured``; None before any."""
        self._time, self._offset, self._measured = time, 1e-9 * stamp_ns - time, measured
        return np.array(self._curve.at(time)[0]) if self._curve is not None else None


def _curve(message: JointTrajectory, joints: tuple[str, ...]) -> CommandedCurve | None:
    """The points of a message in the order of the joints; None where they are not whole."""
    if set(message.joint_names) != set(joints) or not message.points:
        return None
    n, order = len(joints), [message.joint_names.index(joint) for joint in joints]
    rows = [(point.positions, point.velocities or np.zeros(n)) for point in message.points]
    if {len(row) for pair in rows for row in pair} != {n}:
        return None
    durations = [point.time_from_start for point in message.points]
    times = np.array([one.sec + 1e-9 * one.nanosec for one in durations])
    if times[0] < 0.0 or np.any(np.diff(times) <= 0.0):
        return None
    positions, velocities = (np.array([pair[k] for pair in rows])[:, order] for k in range(2))
    if not np.all(np.isfinite(positions)) or not np.all(np.isfinite(velocities)):
        return None
    return CommandedCurve(times, positions, velocities)
