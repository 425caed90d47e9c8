# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions that the controller times: played as one goal, and ended along their path."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from excite_robot import LONG_LIMITS, LONG_MOTION, start_excite
from patience import PATIENCE
from rclpy.action import GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future
from ros_client import LATCHED, RosClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool

from sysid_ros.excitation import LONGEST_LEAD
from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.sim_robot.simulated_robot import RobotState
from sysid_ros.nodes.sim_robot.trajectory_action import TrajectoryAction

pytest.importorskip("control_msgs", reason="control_msgs comes with a ROS installation")

JOINTS = ("elbow", "shoulder")  # a controller has an order of its own
TICK_NS = 10_000_000
START_NS = 5_000_000_000
GIVEN = {
    **LONG_LIMITS,
    "use_sim_time": "true",
    "command_type": "follow_joint_trajectory",
    # On a busy machine a position may arrive long before what the controller says it commanded.
    "following.tolerance": "10.0",
}
VELOCITY, ACCELERATION = 4.0, 30.0  # of LONG_LIMITS


@pytest.fixture
def nodes(nodes: ChildProcesses) -> Iterator[ChildProcesses]:
    """Ended at once: excite would wait for an answer of the controller, which a test ends first."""
    yield nodes
    for name in list(nodes._processes):
        nodes._processes[name].kill()


class Robot:
    """A robot that is where its controller wants it, on a time of its own."""

    def __init__(self, client: RosClient, start: tuple[float, float] = (0.1, -0.1)) -> None:
        self.client = client
        self.ticks = 0
        self.references: list[np.ndarray] = []
        self.believed: Callable[[np.ndarray], np.ndarray] = lambda position: position
        self._position = np.array(start)
        self._clock = client.node.create_publisher(Clock, "/clock", 10)
        self._joints = client.node.create_publisher(JointState, "/joint_states", 10)
        self.action = TrajectoryAction(client.node, JOINTS, self._position, self._on_goal)
        self.states = client.collect(String, "/excite/state", LATCHED)
        self.goals = 0
        self.paused = self.silent = False
        self.slowness = 1  # periods of the timer in a tick
        self._periods = 0
        self._next: Future | None = None
        client.node.create_timer(0.004, self._go_on)

    def _on_goal(self) -> None:
        self.goals += 1

    def _go_on(self) -> None:
        self._periods += 1
        if self.paused or self._periods % self.slowness:
            self._tell_time()  # again: excite takes /clock as best effort, so that it may be lost
            return
        self.ticks += 1
        stamp = self._stamp
        state = RobotState(
            1e-9 * self.ticks * TICK_NS, self.believed(self._position), np.zeros(2), np.zeros(2)
        )
        self._position = self.action.control(state, stamp)
        self.references.append(self._position)
        message = JointState(name=list(JOINTS), position=self._position.tolist())
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
        if not self.silent:
            self._joints.publish(message)
        self._tell_time()
        waiting, self._next = self._next, None
        if waiting is not None:
            waiting.set_result(None)

    @property
    def _stamp(self) -> int:
        return START_NS + self.ticks * TICK_NS

    def _tell_time(self) -> None:
        clock = Clock()
        clock.clock.sec, clock.clock.nanosec = divmod(self._stamp, 1_000_000_000)
        self._clock.publish(clock)

    @property
    def state(self) -> str:
        return self.states[-1].data if self.states else ""

    def wait_for(self, state: str) -> None:
        self.client.wait_until(lambda: self.state.startswith(state))

    def arm(self, data: bool = True) -> SetBool.Response:
        return self.client.call(SetBool, "/excite/arm", SetBool.Request(data=data))

    def begin(self) -> None:
        """Arm it and wait until it moves at full speed."""
        self.wait_for("ready")
        self.paused = True
        self.client.wait_until(lambda: self.arm().success)  # once the action is discovered
        self.go_on_with(1)
        begun = self.ticks
        self.client.wait_until(lambda: self.ticks > begun + 330)

    def pause(self) -> None:
        """Stand still; time stands for excite, too."""
        self.paused = True
        self.assert_heard()

    def go_on_with(self, goal: int) -> None:
        """Stand still until the goal of that number is there and excite has heard that it is."""
        self.client.wait_until(lambda: self.goals >= goal)
        self.assert_heard()
        self.paused = False

    def assert_heard(self) -> None:
        """Let excite answer a few times, which shows that it has heard of what was before."""
        for _ in range(3):
            self.arm()

    def goals_take(self, seconds: float) -> None:
        """Let goals be so long on their way to the controller, by its own time."""

        async def late(goal: Any) -> GoalResponse:
            self.paused = False
            arrives = self.ticks + round(1e9 * seconds / TICK_NS)
            while self.ticks < arrives:
                await self._ticked()
            return GoalResponse.ACCEPT

        self.action._server.register_goal_callback(late)

    async def _ticked(self) -> None:
        self._next = Future()
        await self._next

    def speed(self) -> float:
        return float(np.abs(self.references[-1] - self.references[-2]).max()) / 0.01

    def assert_softly(self) -> None:
        """Fail if the reference was ever faster or sharper than the limits allow."""
        steps = np.diff(np.array(self.references), axis=0)
        assert np.abs(steps).max() <= VELOCITY * 0.01
        turns = np.abs(np.diff(steps, axis=0)).max()
        assert turns <= ACCELERATION * 0.01**2 * 1.05


def test_a_goal_is_played_from_where_the_controller_holds_the_robot(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    motion = "time,elbow,shoulder\n0,0,0\n0.5,0.5,0.2\n1.5,0.5,0.2\n2,0,0\n"
    start_excite(nodes, tmp_path, motion, **{**GIVEN, "ramp": "0.5"})
    robot = Robot(client)
    robot.begin()
    robot.wait_for("done")
    references = np.array(robot.references)
    np.testing.assert_allclose(references[0], [0.1, -0.1])
    np.testing.assert_allclose(references[-1], [0.1, -0.1], atol=1e-9)
    assert np.min(np.abs(references - [0.5, 0.2]).sum(axis=1)) < 1e-6
    robot.assert_softly()
    assert robot.arm().success  # and once more


def test_disarming_brakes_along_the_path(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_excite(nodes, tmp_path, LONG_MOTION, **GIVEN)
    robot = Robot(client)
    robot.begin()
    assert robot.speed() > 0.5
    robot.pause()
    assert robot.arm(False).success
    robot.go_on_with(2)  # the second that brakes follows where this machine is quick enough
    robot.wait_for("stopped: disarmed")
    client.wait_until(lambda: robot.speed() == 0.0)
    robot.assert_softly()
    log = (tmp_path / "logs" / "excite.log").read_text()
    assert "cancelling" not in log
    client.wait_until(lambda: robot.arm().success)  # the goal that braked is over


@pytest.mark.parametrize("late", [1.0, LONGEST_LEAD - 0.1])  # s of the robot's time
def test_a_goal_that_brakes_is_no_step_however_late_it_arrives(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, late: float
):
    start_excite(nodes, tmp_path, LONG_MOTION, **GIVEN)
    client.node._default_callback_group = ReentrantCallbackGroup()  # time goes on meanwhile
    robot = Robot(client)
    robot.begin()
    robot.goals_take(late)
    robot.pause()
    assert robot.arm(False).success
    client.wait_until(lambda: robot.speed() == 0.0)
    robot.assert_softly()
    log = tmp_path / "logs" / "excite.log"
    assert "cancelling" not in log.read_text()
    client.wait_until(lambda: robot.arm().success)


def test_where_the_goal_that_brakes_is_refused_the_motion_is_cancelled(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from sysid_ros.nodes.sim_robot import trajectory_action

    start_excite(nodes, tmp_path, LONG_MOTION, **GIVEN)
    robot = Robot(client)
    robot.begin()
    monkeypatch.setattr(trajectory_action, "_problem", lambda *_: "the test wants none")
    robot.pause()  # while there is something left to brake
    robot.arm(False)
    log = tmp_path / "logs" / "excite.log"
    client.wait_until(lambda: "cancelling the goal, which may be abrupt" in log.read_text())
    robot.paused = False
    client.wait_until(lambda: robot.speed() == 0.0)


def test_the_controllers_tolerance_ends_the_motion_with_its_words(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_excite(nodes, tmp_path, LONG_MOTION, **{**GIVEN, "following.delay": "20.0"})
    robot = Robot(client)
    robot.begin()
    robot.silent = True  # only the controller believes what follows
    robot.believed = lambda position: position + np.array([0.0, 100.0])
    robot.wait_for("stopped: the controller gave up, PATH_TOLERANCE_VIOLATED: joint 'shoulder'")


def test_a_node_that_is_asked_to_end_brakes_first(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    process = start_excite(nodes, tmp_path, LONG_MOTION, **GIVEN)
    robot = Robot(client)
    robot.begin()
    robot.pause()
    process.send_signal(signal.SIGINT)
    robot.go_on_with(2)
    client.wait_until(lambda: process.poll() is not None)
    assert process.returncode == 0
    assert robot.speed() == 0.0
    robot.assert_softly()


def test_what_a_killed_node_left_to_the_controller_is_not_replaced(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    process = start_excite(nodes, tmp_path, LONG_MOTION, **GIVEN)
    robot = Robot(client)
    robot.begin()
    robot.paused = True
    process.kill()
    process.wait()
    robot.states.clear()
    (tmp_path / "restarted").mkdir()
    start_excite(nodes, tmp_path / "restarted", LONG_MOTION, **GIVEN)
    robot.paused, robot.slowness = False, 50  # in mid motion still, however long the start takes
    robot.wait_for("ready")
    client.wait_until(lambda: "follows a goal that this node did not send" in robot.arm().message)
    robot.slowness = 1
    client.wait_until(lambda: robot.arm().success)  # once that is over
    robot.assert_softly()


def test_what_a_controller_told_that_has_gone_keeps_nobody_out(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    """One that was killed says nothing of its goal's end, nor does the next, which had none."""
    status = "/follow_joint_trajectory/_action/status"
    killed, next_one = (
        client.node.create_publisher(GoalStatusArray, status, LATCHED) for _ in "ab"
    )
    killed.publish(GoalStatusArray(status_list=[GoalStatus(status=GoalStatus.STATUS_EXECUTING)]))
    start_excite(nodes, tmp_path, LONG_MOTION, **GIVEN)
    robot = Robot(client)
    robot.wait_for("ready")
    refused = "goal that this node did not send"
    client.wait_until(lambda: refused in robot.arm().message)
    next_one.publish(GoalStatusArray())  # which says nothing of what the other follows
    client.wait_until(next_one.wait_for_all_acked)
    # A publisher that excite finds only now, it looks at first.
    answers = [robot.arm().message]
    client.wait_until(
        lambda: "found just now" not in answers[-1] or answers.append(robot.arm().message)
    )
    assert refused in answers[-1]
    client.node.destroy_publisher(killed)
    client.wait_until(lambda: robot.arm().success)
    client.node.destroy_publisher(next_one)


def test_without_a_controller_nothing_begins(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_excite(nodes, tmp_path, **{**GIVEN, "action": "/arm/follow_joint_trajectory"})
    robot = Robot(client)
    robot.wait_for("ready")
    answer = robot.arm()
    assert not answer.success
    assert "nobody offers the action /arm/follow_joint_trajectory" in answer.message


def test_efforts_are_no_trajectory(nodes: ChildProcesses, tmp_path: Path):
    given = {"interface": "effort", "allow_effort_release": "true"}
    process = start_excite(nodes, tmp_path, **GIVEN, **given)
    assert process.wait(timeout=PATIENCE) != 0
    log = (tmp_path / "logs" / "excite.log").read_text()
    assert "of positions, not of efforts" in log
