# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectories that the simulated robot's controller must survive."""

from __future__ import annotations

import numpy as np
import pytest
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.excitation import TimedTrajectory
from sysid_ros.nodes.sim_robot.trajectory_action import _problem
from sysid_ros.nodes.sim_robot.trajectory_follower import Demand, FollowError, TrajectoryFollower

JOINTS = ("a", "b")
PLACE = np.array([0.3, -0.2])


@pytest.mark.parametrize("due", [0.0, 5.0])
def test_a_single_point_that_is_due_already_is_where_it_ends(due: float) -> None:
    row = PLACE[None]
    rest = np.zeros_like(row)
    trajectory = TimedTrajectory(JOINTS, np.array([due]), row, rest, rest)
    follower = TrajectoryFollower(JOINTS, np.zeros(2))
    follower.follow(Demand(trajectory, 0.0, np.zeros(2), np.zeros(2), 0.0))
    ending = follower.update(6.0, np.array([PLACE, np.zeros(2)]))
    assert ending is not None and ending.code is FollowError.SUCCESSFUL
    assert np.array_equal(follower.reference, [PLACE, np.zeros(2), np.zeros(2)])


@pytest.mark.parametrize("name", ["positions", "accelerations"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(name: str, value: float) -> None:
    point = JointTrajectoryPoint(positions=PLACE, velocities=[0.0] * 2, accelerations=[0.0] * 2)
    message = JointTrajectory(joint_names=JOINTS, points=[point])
    assert not _problem(message, JOINTS, 0)
    setattr(point, name, [0.0, value])
    assert "finite" in _problem(message, JOINTS, 0)


def test_what_ended_before_it_came_is_refused() -> None:
    point = JointTrajectoryPoint(positions=PLACE, velocities=[0.0] * 2, accelerations=[0.0] * 2)
    point.time_from_start.sec = 2
    message = JointTrajectory(joint_names=JOINTS, points=[point])
    assert not _problem(message, JOINTS, 7 * 10**9)  # without a stamp it begins as it arrives
    message.header.stamp.sec = 5
    assert not _problem(message, JOINTS, 7 * 10**9)
    assert "ends in the past" in _problem(message, JOINTS, 7 * 10**9 + 1)
