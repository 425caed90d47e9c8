# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Goals that brake, however late they reach the controller: its reference never makes a step."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, example, settings
from hypothesis import given as given_that
from hypothesis import strategies as st

from sysid_ros.excitation import (
    LONGEST_LEAD,
    CommandLimits,
    ControlledMotion,
    ExcitationPath,
    SplineReference,
)

pytest.importorskip("control_msgs", reason="control_msgs comes with a ROS installation")

from action_msgs.msg import GoalStatus, GoalStatusArray
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState

from sysid_ros.nodes.excite import controller_motion, trajectory_goal
from sysid_ros.nodes.excite.controller_motion import ControllerMotion
from sysid_ros.nodes.sim_robot.trajectory_action import _problem, _trajectory
from sysid_ros.nodes.sim_robot.trajectory_follower import Demand, TrajectoryFollower

JOINTS = ("a", "b")
TICK = 0.01  # s of the controller and of excite
CLOCK = 9000.0  # s that the controller's clock is ahead
SAG = np.array([[0.05, 0.02], [0.0, 0.0]])  # of the robot below what it is told, rad and rad/s
ONES = np.ones(2)
LIMITS = CommandLimits(-3.0 * ONES, 3.0 * ONES, 3.0 * ONES, 12.0 * ONES)
KNOTS = np.linspace(0.0, 12.0, 25)
TABLE = np.array([np.sin(1.4 * KNOTS), 0.8 * np.cos(1.1 * KNOTS) - 0.8]).T
TABLE = TABLE * np.sin(np.pi * KNOTS / 12.0)[:, None] ** 0.5


class Answer:
    """A future of the action's client."""

    def __init__(self) -> None:
        self.value: Any = None
        self._callbacks: list[Callable[[Any], None]] = []

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._callbacks.append(callback)

    def exception(self) -> None:
        return None

    def result(self) -> Any:
        return self.value

    def give(self, value: Any) -> None:
        self.value = value
        for callback in self._callbacks:
            callback(self)


class Controller:
    """A joint_trajectory_controller far away: everything takes its time to arrive.

    The k-th goal takes ``goals[k]`` seconds (the last one counts for all that follow), every answer
    ``answer`` and every feedback ``feedback`` seconds. Once it is ``dead`` it says nothing more;
    while it is ``endless``, it never says that a goal is over.
    """

    def __init__(self, goals: list[float], answer: float, feedback: float) -> None:
        self.goals, self.answer, self.feedback = goals, answer, feedback
        self.time = 0.0
        self.clock: Callable[[float], float] = lambda time: time  # of excite
        self.accepted: list[Any] = []
        self.canceled = 0
        self.dead = self.endless = False
        self.references = [np.zeros(2)] * 3
        self._sent = 0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()
        self._follower = TrajectoryFollower(JOINTS, np.zeros(2))
        self._told, self._followed = 0, 0.0

    def later(self, delay: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.time + delay, next(self._number), action))

    def server_is_ready(self) -> bool:
        return True

    def send_goal_async(self, goal: Any, feedback_callback: Callable[[Any], None]) -> Answer:
        asked = Answer()
        delay = self.goals[min(self._sent, len(self.goals) - 1)]
        self._sent += 1
        self.later(delay, lambda: self._arrive(goal, asked, feedback_callback))
        return asked

    def _arrive(self, goal: Any, asked: Answer, feedback: Callable[[Any], None]) -> None:
        if _problem(goal.trajectory, JOINTS, round(1e9 * (CLOCK + self.time))):
            self.later(self.answer, lambda: asked.give(SimpleNamespace(accepted=False)))
            return
        outcome = Answer()
        handle = SimpleNamespace(
            accepted=True, get_result_async=lambda: outcome, cancel_goal_async=self._on_cancel
        )
        if self.accepted:
            self._end(GoalStatus.STATUS_ABORTED)
        self.accepted.append((goal, outcome, feedback))
        stamp = goal.trajectory.header.stamp
        begun = stamp.sec + 1e-9 * stamp.nanosec - CLOCK if stamp.sec else None
        free = np.zeros(2)
        self._follower.follow(Demand(_trajectory(goal.trajectory, JOINTS), begun, free, free, 0.5))
        self.later(self.answer, lambda: asked.give(handle))

    def _on_cancel(self) -> Answer:
        asked = Answer()

        def hold() -> None:
            self._follower.hold(self._follower.reference[0])
            self._end(GoalStatus.STATUS_CANCELED)
            asked.give(None)

        self.canceled += 1
        self.later(self.goals[-1], hold)
        return asked

    def _end(self, status: int) -> None:
        if self.endless:
            return
        outcome = self.accepted[-1][1]
        answer = SimpleNamespace(status=status, result=FollowJointTrajectory.Result())
        self.later(self.answer, lambda: outcome.give(answer))

    def tick(self) -> None:
        self.time += TICK
        if self.dead:
            return
        while self._events and self._events[0][0] <= self.time:
            heapq.heappop(self._events)[2]()
        self._follow()
        self._told += 1
        if self.accepted and self._told % 5 == 0:
            self._tell(self.accepted[-1][2])

    def go_on_alone(self, seconds: float) -> None:
        """Follow for some seconds; what is sent to either side waits for their end."""
        self._follow()
        for _ in range(round(seconds / TICK)):
            self.time += TICK
            self._follow()

    def _follow(self) -> None:
        if self._followed == self.time:  # while an answer of this tick kept excite busy
            return
        self._followed = self.time
        measured = self._follower.reference[:2] - SAG
        ending = self._follower.update(self.time, measured)
        self.references.append(self._follower.reference[0])
        if ending is not None:
            self._end(GoalStatus.STATUS_SUCCEEDED)

    def _tell(self, callback: Callable[[Any], None]) -> None:
        position, velocity, acceleration = self._follower.reference
        nanoseconds = round(1e9 * (CLOCK + self.time))
        stamp = SimpleNamespace(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
        point = SimpleNamespace(positions=position, velocities=velocity, accelerations=acceleration)
        feedback = SimpleNamespace(
            header=SimpleNamespace(stamp=stamp), joint_names=JOINTS, desired=point
        )
        self.later(self.feedback, lambda: callback(SimpleNamespace(feedback=feedback)))


@pytest.fixture(scope="module")
def excite() -> Iterator[Callable[[Controller], ControllerMotion]]:
    """The real thing with a client that leads to a controller of this module."""
    node = SimpleNamespace(
        resolve_topic_name=lambda name: name, create_subscription=lambda *arguments: None
    )
    path = ExcitationPath(SplineReference(JOINTS, KNOTS, TABLE), np.zeros(2), ramp=1.5)
    motion = ControlledMotion(path, LIMITS, period=TICK, stop_time=0.3)
    given = SimpleNamespace(
        action="/follow",
        joints=JOINTS,
        period=TICK,
        tolerance=ONES,
        following_delay=0.5,
        controlled=lambda reference, position, speed: motion,
    )
    log = SimpleNamespace(warning=lambda text: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(controller_motion, "log_of", lambda node: log)

        def make(controller: Controller) -> ControllerMotion:
            patch.setattr(controller_motion, "ActionClient", lambda *arguments: controller)
            machine = SimpleNamespace(monotonic=lambda: controller.time)  # whatever else it does
            for module in (controller_motion, trajectory_goal):
                patch.setattr(module, "time", machine)
            return ControllerMotion(node, given, lambda: controller.clock(controller.time))

        yield make


def stopped(
    excite: Any, controller: Controller, after: float, watch: Callable[[], Any] = lambda: None
) -> int:
    """Play, stop after so many seconds, and wait for rest; returns the ticks from there on."""
    player = excite(controller)
    player.begin(SplineReference(JOINTS, KNOTS, TABLE), np.zeros(2), 1.0)
    ticks = 0
    while player.moves and ticks < 3000:
        controller.tick()
        watch()
        player.fault(controller.time)
        if controller.time >= after:
            ticks += 1
            player.stop()
        player.go_on(controller.time)
        player.ended()
    assert not player.moves
    return ticks


def assert_softly(controller: Controller) -> None:
    steps = np.diff(np.array(controller.references), axis=0)
    assert np.abs(steps).max() <= 3.0 * TICK
    assert np.abs(np.diff(steps, axis=0)).max() <= 12.0 * TICK**2 * 1.02
    assert not np.any(steps[-1])
    assert controller.canceled == 0 or not np.any(steps)  # before it has moved


NO_SHRINKING = set(Phase) - {Phase.shrink, Phase.explain}  # which takes minutes
DELAYS = st.floats(0.0, LONGEST_LEAD - 3 * TICK)


@given_that(
    first=DELAYS,
    stop=DELAYS,
    share=st.floats(0.0, 1.0),
    answer=st.floats(0.0, 0.3),
    feedback=st.floats(0.0, 0.04),
    after=st.floats(0.0, 8.0),
)
@example(first=0.0, stop=LONGEST_LEAD - 3 * TICK, share=1.0, answer=0.0, feedback=0.0, after=5.0)
@example(first=0.0, stop=1.0, share=0.0, answer=0.0, feedback=0.0, after=1.0)
@example(
    first=LONGEST_LEAD - 3 * TICK, stop=0.83, share=0.21, answer=0.15, feedback=0.0, after=0.57
)
@example(first=1.9, stop=0.01, share=1.0, answer=0.0, feedback=0.0, after=2.5)
@example(first=0.0, stop=0.0, share=0.0, answer=0.0, feedback=0.0, after=5.0)
@settings(max_examples=8, deadline=None, phases=NO_SHRINKING)
def test_a_stop_is_no_step_however_late_it_arrives(
    excite, first, stop, share, answer, feedback, after
):
    """Its first goal may take LONGEST_LEAD, whatever was before, the second as long as others."""
    controller = Controller([first, stop, share * (first + answer)], answer, feedback)
    stopped(excite, controller, after)
    assert_softly(controller)


def test_where_goals_arrive_quickly_the_robot_rests_quickly(excite) -> None:
    controller = Controller([0.01], 0.01, 0.01)
    assert stopped(excite, controller, 5.0) * TICK < 0.9
    assert_softly(controller)
    assert len(controller.accepted) == 3


def test_where_goals_arrive_slowly_the_first_stop_is_the_only_one(excite) -> None:
    controller = Controller([0.6 * LONGEST_LEAD], 0.01, 0.01)
    stopped(excite, controller, 5.0)
    assert_softly(controller)
    assert len(controller.accepted) == 2


@pytest.mark.parametrize("late", [0.6, 1.0, 3.5])
def test_a_second_stop_that_comes_after_its_own_end_changes_nothing(excite, late) -> None:
    """Controllers refuse it, and the first one brakes."""
    controller = Controller([0.01, 0.01, late], 0.01, 0.01)
    assert 4.0 < stopped(excite, controller, 5.0) * TICK < 6.0
    assert_softly(controller)
    assert len(controller.accepted) == 2


def test_where_the_controller_dies_while_it_brakes_the_motion_ends_all_the_same(excite) -> None:
    controller = Controller([0.01], 0.01, 0.01)

    def die() -> None:
        controller.dead = len(controller.accepted) == 3

    assert 3.0 < stopped(excite, controller, 5.0, die) * TICK < LONGEST_LEAD + 4.0
    assert controller.canceled > 0


@pytest.mark.parametrize("endless", [False, True])
def test_a_controller_that_has_not_heard_of_the_end_is_known(excite, endless) -> None:
    """It would play its goal to the end, once it goes on and nobody is there any more."""
    controller = Controller([0.01], 0.01, 0.01)
    player = excite(controller)
    assert not player.left_alone
    player.begin(SplineReference(JOINTS, KNOTS, TABLE), np.zeros(2), 1.0)
    assert player.left_alone
    while player.moves:
        controller.dead = controller.time > 5.0
        controller.tick()
        if controller.dead:
            player.stop()
        player.go_on(controller.time)
        player.ended()
    assert player.left_alone  # cancelled, which nobody has answered
    controller.dead, controller.endless = False, endless
    for _ in range(10):
        controller.tick()
    assert not player.left_alone
    assert not np.any(controller.references[-1] - controller.references[-2])


def test_a_controller_that_knows_how_to_brake_may_be_left(excite) -> None:
    controller = Controller([0.01], 0.01, 0.01)
    player = excite(controller)
    player.begin(SplineReference(JOINTS, KNOTS, TABLE), np.zeros(2), 1.0)
    while controller.time < 5.0:
        controller.tick()
        player.go_on(controller.time)
    player.stop()
    assert player.left_alone
    for _ in range(3):
        controller.tick()
    assert player.moves and not player.left_alone


@pytest.mark.parametrize("asked", [5.0, np.inf])
def test_where_the_controller_never_says_that_it_is_done_the_motion_ends(excite, asked) -> None:
    controller = Controller([0.01], 0.01, 0.01)
    controller.endless = True
    player = excite(controller)
    player.begin(SplineReference(JOINTS, KNOTS, TABLE), np.zeros(2), 1.0)
    said = ""
    while player.moves and controller.time < 100.0:
        controller.tick()
        said = player.fault(controller.time) or said
        if said or controller.time >= asked:
            player.stop()
        player.go_on(controller.time)
        player.ended()
    assert not player.moves
    assert "does not say that its goal is over" in said
    steps = np.diff(np.array(controller.references), axis=0)
    assert np.abs(np.diff(steps, axis=0)).max() <= 12.0 * TICK**2 * 1.02
    assert not np.any(steps[-round(3.0 / TICK) :])  # at rest when it was cancelled


@pytest.mark.parametrize("stands", [0.06, 0.08, 0.11])
def test_a_clock_that_has_stood_is_no_step(excite, stands) -> None:
    """What the controller said meanwhile looks early, so it seems ahead of where it is."""
    controller = Controller([0.01], 0.01, 0.01)
    controller.clock = lambda time: time if time >= 4.91 else min(time, 4.91 - stands)
    stopped(excite, controller, 5.0)
    assert_softly(controller)
    assert len(controller.accepted) == 3


@pytest.mark.parametrize("seconds", [[0.0, 0.3], [0.3, 0.3]])
def test_a_stop_that_takes_long_to_plan_is_no_step(excite, monkeypatch, seconds) -> None:
    """Meanwhile the controller goes on, and what it says waits."""
    controller, taken = Controller([0.01], 0.01, 0.01), iter(seconds)
    plan = ControlledMotion.stop_at

    def plan_slowly(motion: ControlledMotion, *where: float) -> Any:
        trajectory = plan(motion, *where)
        controller.go_on_alone(next(taken, 0.0))
        return trajectory

    monkeypatch.setattr(ControlledMotion, "stop_at", plan_slowly)
    stopped(excite, controller, 5.0)
    assert_softly(controller)


def test_what_the_controller_holds_counts_only_if_it_is_a_place(excite) -> None:
    controller = Controller([0.01], 0.01, 0.01)
    player = excite(controller)
    reference = SplineReference(JOINTS, KNOTS, TABLE)
    for held, begins in (([0.1, np.nan], [0.0, 0.0]), ([0.1, 0.2], [0.1, 0.2])):
        message = JointTrajectoryControllerState(joint_names=list(JOINTS))
        message.reference.positions = held
        player._held.observe(message)
        assert player.begin(reference, np.zeros(2), 1.0).tolist() == begins


@pytest.mark.parametrize(
    ("scalings", "words"),
    [([0.0], ""), ([1.0], ""), ([0.5], "0.5 times their"), ([1.0, 0.0], "at 0 times their")],
)
def test_a_controller_that_scales_time_is_not_begun_with(excite, scalings, words) -> None:
    """What reaches it goes on at full speed from when it was sent, and it does not.

    At a protective stop it stands, and goes on once that ends; others leave the speed out.
    """
    player = excite(Controller([0.01], 0.01, 0.01))
    message = JointTrajectoryControllerState(joint_names=list(JOINTS))
    message.reference.positions = [0.1, 0.2]
    for message.speed_scaling_factor in scalings:
        player._held.observe(message)
    player._looks = 8
    said = player.obstacle()
    assert words in said if words else not said


def test_goals_of_a_controller_that_has_gone_are_forgotten_and_of_no_other(excite) -> None:
    """A controller that was killed says nothing of its goal's end, nor does the next."""
    controller = Controller([0.05], 0.05, 0.02)
    player = excite(controller)
    there = [b"first"]
    player._followed._node = SimpleNamespace(
        get_publishers_info_by_topic=lambda topic: [SimpleNamespace(endpoint_gid=g) for g in there]
    )
    goal = GoalStatusArray(status_list=[GoalStatus(status=GoalStatus.STATUS_EXECUTING)])

    def obstacle(looks: int) -> str:
        for _ in range(looks):
            player.rivals()
        return player.obstacle()

    assert not obstacle(looks=9)
    player._followed.observe(goal, {"publisher_gid": {"data": b"first"}})
    player._followed.observe(GoalStatusArray(), {"publisher_gid": {"data": b"next"}})
    assert "this node did not send" in obstacle(looks=1)
    there[:] = [b"next"]
    # It may follow one that is not told of before the next heartbeat, 3 s later at most.
    assert "was found just now" in obstacle(looks=7) and player.settles
    assert not obstacle(looks=2) and not player.settles
    for info in ({}, {"publisher_gid": {"data": b"whose looks otherwise on the graph"}}):
        player._followed.observe(goal, info)
        there[:] = [b"one", *there]
        assert "this node did not send" in obstacle(looks=10)
        player._followed.observe(GoalStatusArray(), info)
    ready, controller.server_is_ready = controller.server_is_ready, lambda: False
    player._followed.observe(goal, {"publisher_gid": {"data": b"one"}})
    assert "nobody offers" in obstacle(looks=1)  # its services are not found yet, or not all now
    controller.server_is_ready = ready
    assert "this node did not send" in obstacle(looks=10)
    there.clear()
    obstacle(looks=1)
    there[:] = [b"another"]
    assert not obstacle(looks=10)
    player._followed.observe(goal, {"publisher_gid": {"data": b"a former"}})  # gone before a look
    assert "this node did not send" in obstacle(looks=10)
    there[:] = [b"its heir"]
    assert "this node did not send" in obstacle(looks=45)
    assert not obstacle(looks=10)
