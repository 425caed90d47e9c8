# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated robot follows trajectories by their stamps, and no message without sense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.nodes.sim_robot.trajectory_topic import TrajectoryTopic

JOINTS = ("a", "b")
BEGUN_NS = 700_000_000_000  # of the stamps, at the robot's time of zero


def message(
    points: Sequence[tuple[float, Sequence[float]]], stamp: float | None, joints: tuple[str, ...]
) -> JointTrajectory:
    made = JointTrajectory(joint_names=joints)
    if stamp is not None:
        made.header.stamp.sec, made.header.stamp.nanosec = divmod(round(1e9 * stamp), 10**9)
    for time, positions in points:
        sec, nanosec = divmod(round(1e9 * time), 10**9)
        made.points.append(
            JointTrajectoryPoint(
                positions=positions, time_from_start=Duration(sec=sec, nanosec=nanosec)
            )
        )
    return made


def at(topic: TrajectoryTopic, time: float) -> list[float] | None:
    command = topic.control(time, BEGUN_NS + round(1e9 * time), np.zeros((2, 2)))
    return None if command is None else command.tolist()


@pytest.mark.parametrize("stamp", [None, 700.2])
def test_points_are_reached_at_their_times_by_the_joints_names(stamp: float | None) -> None:
    topic = TrajectoryTopic(JOINTS)
    assert at(topic, 0.2) is None
    assert topic.follow(message([(0.0, [1.0, 2.0]), (0.5, [3.0, 4.0])], stamp, ("b", "a")))
    assert at(topic, 0.2) == pytest.approx([2.0, 1.0])
    assert at(topic, 0.45) == pytest.approx([3.0, 2.0])  # half of the way, from rest to rest
    assert at(topic, 2.0) == pytest.approx([4.0, 3.0])


@pytest.mark.parametrize(
    ("points", "joints"),
    [
        ([], JOINTS),
        ([(0.0, [0.0])], JOINTS),
        ([(0.0, [0.0, 0.0])], ("a", "c")),
        ([(0.0, [0.0, np.nan])], JOINTS),
        ([(0.1, [0.0, 0.0]), (0.1, [1.0, 1.0])], JOINTS),
        ([(0.2, [0.0, 0.0]), (0.1, [1.0, 1.0])], JOINTS),
    ],
)
def test_what_no_controller_follows_is_refused(points, joints) -> None:
    topic = TrajectoryTopic(JOINTS)
    assert topic.follow(message([(0.0, [1.0, 1.0])], None, JOINTS))
    assert not topic.follow(message(points, None, joints))
    assert at(topic, 1.0) == [1.0, 1.0]


def test_one_that_is_over_changes_nothing() -> None:
    topic = TrajectoryTopic(JOINTS)
    assert topic.follow(message([(0.0, [1.0, 1.0])], None, JOINTS))
    assert at(topic, 5.0) == [1.0, 1.0]
    assert topic.follow(message([(0.0, [2.0, 2.0]), (1.0, [3.0, 3.0])], 702.0, JOINTS))
    assert at(topic, 5.1) == [1.0, 1.0]
