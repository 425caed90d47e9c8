# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The course of a joint_trajectory_controller along a trajectory; nothing here knows of ROS.

A trajectory whose time is given is joined where it is by then; another begins at once. To a first
point that is still to come the reference leaves from where the robot is measured, as controllers do
by default (``interpolate_from_desired_state``), and after the last point it stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation import TimedTrajectory


class FollowError(IntEnum):
    """The end of a trajectory, in the numbers of FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


@dataclass(frozen=True)
class Demand:
    """A trajectory to follow, with how exactly."""

    trajectory: TimedTrajectory
    begun: float | None  # s, when its time is zero; None: now
    path_tolerance: FloatArray  # (n,) rad or m; 0: any
    goal_tolerance: FloatArray  # (n,) rad or m; 0: any
    goal_time_tolerance: float  # s after its end


@dataclass(frozen=True)
class Ending:
    """The end of a trajectory."""

    code: FollowError
    text: str = ""


class TrajectoryFollower:
    """The reference of ``n`` joints, instant by instant."""

    def __init__(self, joints: tuple[str, ...], position: FloatArray) -> None:
        """Hold a position (n,)."""
        self._joints = joints
        self._demand: Demand | None = None
        self._trajectory: TimedTrajectory | None = None  # from where it was on
        self._begun = 0.0
        self.reference = np.array([position, np.zeros_like(position), np.zeros_like(position)])

    def follow(self, demand: Demand) -> None:
        """Follow a trajectory from the next update on."""
        self._demand, self._trajectory = demand, None

    def hold(self, position: FloatArray) -> None:
        """Hold a position (n,) from now on, however fast it moved."""
        self._demand = None
        self.reference = np.array([position, np.zeros_like(position), np.zeros_like(position)])

    def update(self, time: float, measured: FloatArray) -> Ending | None:
        """Bring the reference to ``time``, s; ``measured`` are positions and velocities, (2, n).

        Returns:
          How the trajectory ended, if it did just now.
        """
        demand = self._demand
        if demand is None:
            return None
        if self._trajectory is None:
            self._begun = time if demand.begun is None else demand.begun
            self._trajectory = self._joined(demand.trajectory, time - self._begun, measured)
        place = time - self._begun
        self.reference = self._trajectory.states(np.array([place]))[:, 0]
        ending = self._ending(demand, place - demand.trajectory.duration, measured[0])
        if ending is not None:
            self._demand = None
            if ending.code is not FollowError.SUCCESSFUL:
                self.hold(measured[0])
        return ending

    def _joined(
        self, trajectory: TimedTrajectory, place: float, measured: FloatArray
    ) -> TimedTrajectory:
        """The trajectory with the way from where the robot is to its first point."""
        first, before = (
            float(trajectory.times[0]),
            np.vstack([measured, np.zeros_like(measured[:1])]),
        )
        if place >= first:
            if len(trajectory.times) > 1:
                return trajectory
            # A single point that is due already: there is no way to it, nor a curve through it.
            place, before = first - 1.0, np.zeros_like(before)
            before[0] = trajectory.positions[0]
        position, velocity, acceleration = before
        return TimedTrajectory(
            trajectory.joints,
            np.append(place, trajectory.times),
            np.vstack([position, trajectory.positions]),
            np.vstack([velocity, trajectory.velocities]),
            np.vstack([acceleration, trajectory.accelerations]),
        )

    def _ending(self, demand: Demand, late: float, measured: FloatArray) -> Ending | None:
        away = np.abs(self.reference[0] - measured)
        if late < 0.0:
            return self._violated(away, demand.path_tolerance, FollowError.PATH_TOLERANCE_VIOLATED)
        outside = self._violated(away, demand.goal_tolerance, FollowError.GOAL_TOLERANCE_VIOLATED)
        if outside is None:
            return Ending(FollowError.SUCCESSFUL)
        return outside if late > demand.goal_time_tolerance else None

    def _violated(
        self, away: FloatArray, tolerance: FloatArray, code: FollowError
    ) -> Ending | None:
        for joint in np.flatnonzero((away > tolerance) & (tolerance > 0.0))[:1]:
            text = (
                f"joint {self._joints[joint]!r} is {away[joint]:.4g} away, where "
                f"{tolerance[joint]:.4g} are allowed"
            )
            return Ending(code, text)
        return None
