# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trajectories that say when the robot is to be where: what the clocks may do meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from rclpy.time import Time

from sysid_ros.excitation import (
    REPEATED,
    CommandGuard,
    CommandLimits,
    ExcitationPath,
    Motion,
    Playback,
    SplineReference,
)
from sysid_ros.nodes.excite import streamed_motion
from sysid_ros.nodes.excite.trajectory_motion import TrajectoryMotion

PERIOD = 0.01
LIMITS = CommandLimits(-2.0 * np.ones(1), 2.0 * np.ones(1), 3.0 * np.ones(1), 12.0 * np.ones(1))
KNOTS = np.linspace(0.0, 4.0, 9)
REFERENCE = SplineReference(("a",), KNOTS, np.sin(np.pi * KNOTS / 4.0)[:, None] ** 2)


class Clocks:
    """The clock of the motion, and ROS time ``apart`` s ahead of it."""

    def __init__(self) -> None:
        self.time, self.apart = 50.0, 9000.0
        self.held_up = 0.0  # s from the first look at ROS time to the next at the motion's

    def now(self) -> float:
        return self.time

    def ros(self) -> Time:
        found = Time(nanoseconds=round(1e9 * (self.time + self.apart)))
        self.time, self.held_up = self.time + self.held_up, 0.0
        return found


class Said:
    """A topic that keeps what is published."""

    heard = True
    name = "/arm_controller/joint_trajectory"

    def problem(self) -> str:
        return ""

    def rivals(self) -> str:
        return ""

    def __init__(self) -> None:
        self.curves: list[tuple[float, Any]] = []

    def publish_curve(self, curve: Any, zero: float) -> bool:
        self.curves.append((zero, curve))
        return True


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def player(monkeypatch: pytest.MonkeyPatch, clocks: Clocks) -> TrajectoryMotion:
    def streamed(reference: Any, position: Any, speed: float) -> Motion:
        path = ExcitationPath(reference, position, ramp=0.5)
        playback = Playback(path, LIMITS, period=PERIOD, announces=True)
        return Motion(playback, CommandGuard(LIMITS, PERIOD, position), period=PERIOD, timeout=60.0)

    given: Any = SimpleNamespace(
        joints=("a",), period=PERIOD, tolerance=np.ones(1), streamed=streamed
    )
    monkeypatch.setattr(streamed_motion, "CommandTopic", lambda node, settings: Said())
    clock = SimpleNamespace(now=clocks.ros)
    node: Any = SimpleNamespace(
        get_clock=lambda: clock,
        create_subscription=lambda *arguments: None,
        get_publishers_info_by_topic=lambda topic: [],
    )
    return TrajectoryMotion(node, given, clocks.now)


def played(player: TrajectoryMotion, clocks: Clocks, ticks: int, slew: float = 0.0) -> str | None:
    """Play for so many ticks or up to a fault, which is returned."""
    for _ in range(ticks):
        clocks.time += PERIOD
        clocks.apart += slew * PERIOD
        if said := player.fault(clocks.time):
            return said
        player.go_on(clocks.time)
    return None


def test_messages_are_dated_by_ros_time_and_tell_where_the_controller_is(player, clocks):
    player.begin(REFERENCE, np.zeros(1), 1.0)
    assert played(player, clocks, 200, slew=1e-3) is None  # a clock that is slewed is no matter
    zero, curve = player._topic.curves[-1]
    assert len(player._topic.curves) == 200
    assert zero == pytest.approx(clocks.time + clocks.apart, abs=PERIOD)
    assert curve.times[0] == pytest.approx(-REPEATED) and not np.any(curve.velocities[-1])
    np.testing.assert_allclose(player.reached(clocks.time), curve.at(0.0)[0], atol=0.01)


@pytest.mark.parametrize("jump", [-0.5, 0.05])
def test_once_the_clock_is_set_nothing_more_is_said(player, clocks, jump):
    player.begin(REFERENCE, np.zeros(1), 1.0)
    assert played(player, clocks, 150) is None
    clocks.apart += jump
    said = played(player, clocks, 1)
    assert said == f"the clock that dates commands was set by {jump:.2f} s"
    player.stop()
    player.go_on(clocks.time)
    assert len(player._topic.curves) == 150
    assert player.moves and not player.ended()  # as long as the controller has anything to do
    clocks.time += float(player._topic.curves[-1][1].times[-1])
    assert player.ended() and not player.moves


def test_a_motion_begins_where_the_controller_holds_the_robot(player, clocks):
    """Wherever the robot is measured: servos let it sag."""
    state = SimpleNamespace(positions=[0.3])
    told = SimpleNamespace(joint_names=["a"], reference=state, speed_scaling_factor=1.0)
    player._controller.observe(told)
    assert player.begin(REFERENCE, np.array([0.25]), 1.0).tolist() == [0.3]
    clocks.time += 2.0  # since when it has said nothing
    player._motion = None
    assert player.begin(REFERENCE, np.array([0.25]), 1.0).tolist() == [0.25]
    told.speed_scaling_factor = 0.5
    player._controller.observe(told)
    assert "0.5 times" in player.obstacle()


def test_a_goal_of_the_controllers_action_is_a_rival(player):
    """As when MoveIt executes a plan meanwhile: the controller would go by both in turn."""
    assert player._followed._status == "/arm_controller/follow_joint_trajectory/_action/status"
    goal = GoalStatusArray(status_list=[GoalStatus(status=GoalStatus.STATUS_EXECUTING)])
    controller = {"publisher_gid": {"data": b"1"}}
    assert not player.obstacle() and not player.rivals()
    player._followed.observe(goal, controller)
    assert "follow_joint_trajectory" in player.obstacle()
    player._node.get_publishers_info_by_topic = lambda topic: [SimpleNamespace(endpoint_gid=b"1")]
    assert "follow_joint_trajectory" in player.rivals()
    goal.status_list[0].status = GoalStatus.STATUS_SUCCEEDED
    player._followed.observe(goal, controller)
    assert not player.obstacle() and not player.rivals()


def test_what_a_controller_told_on_its_way_is_not_where_it_is_by_now(player, clocks):
    """It tells its command a few times a second, and another pass begins as one has ended."""
    for place, begins in ((0.28, 0.28), (0.3, 0.25), (0.3, 0.3), (0.3 + 1e-9, 0.3 + 1e-9)):
        state = SimpleNamespace(positions=[place])
        player._controller.observe(
            SimpleNamespace(joint_names=["a"], reference=state, speed_scaling_factor=0.9999)
        )
        assert player.begin(REFERENCE, np.array([0.25]), 1.0).tolist() == [begins]
        assert not player.obstacle()
        player._motion = None


def test_a_controller_at_rest_is_told_of_rest_from_before_on(player, clocks):
    """It leaves for a first point that is still to come from where its robot is measured."""
    player.begin(REFERENCE, np.zeros(1), 1.0)
    assert played(player, clocks, 1) is None
    _, curve = player._topic.curves[-1]
    assert curve.times[0] == pytest.approx(-REPEATED)
    assert not np.any(curve.positions[curve.times < player._motion.lead])


def test_who_is_held_up_between_two_clocks_has_not_set_them(player, clocks):
    player.begin(REFERENCE, np.zeros(1), 1.0)
    assert played(player, clocks, 150) is None
    clocks.held_up = 0.04
    assert played(player, clocks, 150) is None


@pytest.mark.parametrize(
    ("ahead", "words"),
    [
        (0.3, "0.3 s ahead of"),
        (-0.09, ""),
        (-0.3, "0.3 s behind"),
        (-40.0, "40 s behind"),
        (None, ""),
    ],
)
def test_a_robot_of_another_clock_is_not_begun_with(player, clocks, ahead, words):
    offset = None if ahead is None else -clocks.apart - ahead
    said = player.misdated(offset)
    assert words in said if words else not said
    assert "follow_joint_trajectory" in said or not said
