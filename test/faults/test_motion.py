# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What reaches a robot when something goes wrong while ``excite`` moves it."""

from __future__ import annotations

import itertools
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from excitation_limits import largest_step
from excite_robot import JOINTS, LONG_LIMITS, LONG_MOTION, PATIENT, Robot, start_excite
from ros_client import LATCHED, RosClient
from ros_parameters import ros_parameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from sysid_ros.excitation import REPEATED, CommandedCurve
from sysid_ros.nodes.demo import ChildProcesses, node_arguments

# In lock-step the times that matter are those of the simulated clock.
ATTEMPTS = 5  # where a motion must not be held up by more than a fifth of a second
SIMULATED = {"use_sim_time": "true", "timeout": "0.2", "following.delay": "0.3"}


class Running:
    """A robot that ``excite`` moves already."""

    def __init__(
        self,
        nodes: ChildProcesses,
        client: RosClient,
        tmp_path: Path,
        message_type: type = Float64MultiArray,
        **parameters: str,
    ) -> None:
        given = {**LONG_LIMITS, **parameters}
        self.process = start_excite(nodes, tmp_path, LONG_MOTION, **given)
        self.robot = Robot(client, message_type, simulated="use_sim_time" in parameters)
        self.robot.limits = (4.0, 30.0)
        self.client = client

    def begin(self, commands: int = 100, attempts: int = 1) -> Robot:
        """Arm it and wait until it is at full speed."""
        self.robot.wait_for("ready")
        self.move(commands, attempts)
        return self.robot

    def move(self, commands: int, attempts: int) -> None:
        """Arm it and wait for commands; several attempts allow a busy machine to be late."""
        for _ in range(attempts):
            self.robot.wait_for_rest()
            if self._plays(commands):
                return
        pytest.fail(f"the motion stopped in {attempts} of {attempts} attempts: {self.robot.state}")

    def _plays(self, commands: int) -> bool:
        """Arm it; return whether so many commands come before a fault stops it."""
        robot = self.robot
        goal, told = len(robot.commands) + commands, len(robot.states)
        assert robot.arm().success
        self.client.wait_until(lambda: len(robot.commands) >= goal or robot.stopped_since(told))
        return not robot.stopped_since(told)

    def hold_up(self, seconds: float) -> None:
        """Stop the process as a debugger would; what it sent before has arrived."""
        self.process.send_signal(signal.SIGSTOP)
        self.client.spin(0.2)
        time.sleep(max(0.0, seconds - 0.2))
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture
def running(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    return lambda *args, **parameters: Running(nodes, client, tmp_path, *args, **parameters)


@pytest.mark.parametrize("seconds", [0.05, 0.3, 1.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_motion_goes_on_from_rest_after_a_short_stall(
    running, seconds: float, record_testsuite_property
):
    motion = running()
    robot = motion.begin()
    for _ in range(3):
        motion.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        motion.process.send_signal(signal.SIGCONT)
        robot.wait_for_commands(40)
    assert robot.state == "running"
    robot.assert_no_step()
    # --junit-xml shows it
    record_testsuite_property(f"largest step after {seconds} s, rad", robot.largest_step())


@pytest.mark.parametrize("seconds", [0.3, 1.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_motion_stops_softly_after_a_stall_beyond_the_timeout(running, seconds: float):
    motion = running(timeout="0.2")
    robot = motion.begin(attempts=ATTEMPTS)
    motion.hold_up(seconds)
    robot.wait_for("stopped: no command went out for ")
    robot.wait_for_rest()
    robot.assert_no_step()
    count = len(robot.commands)
    motion.client.spin(1.5)
    assert len(robot.commands) == count  # and moves no more unasked
    motion.move(20, ATTEMPTS)
    robot.assert_no_step()


def test_when_the_node_is_killed_the_last_message_ends_at_rest(running):
    motion = running(JointTrajectory, command_type="joint_trajectory")
    robot = motion.begin()
    motion.process.kill()
    motion.process.wait()
    count = -1
    while count != len(robot.commands):  # until nothing more is under way
        count = len(robot.commands)
        motion.client.spin(0.3)
    assert_rests_softly(robot.commands[-1])
    assert np.any(robot.commands[-1].points[0].velocities)  # it was moving


def assert_rests_softly(message: JointTrajectory) -> None:
    """Fail unless a message ends at rest within range, in time for its limits."""
    curve = curve_of(message)
    assert np.all(curve.velocities[-1] == 0.0)
    assert np.abs(curve.positions).max() <= 1.0
    turns = np.abs(np.diff(curve.velocities, axis=0)) / np.diff(curve.times)[:, None]
    assert turns.max(initial=0.0) <= 30.0 * 1.1  # central differences, a few periods apart


def curve_of(message: JointTrajectory) -> CommandedCurve:
    stamp = message.header.stamp.sec % 1000 + 1e-9 * message.header.stamp.nanosec
    times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
    positions = np.array([point.positions for point in message.points])
    velocities = np.array([point.velocities for point in message.points])
    return CommandedCurve(stamp + np.array(times), positions, velocities)


def test_a_controller_of_positions_holds_the_last_one_when_the_node_is_killed(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    arguments = node_arguments(demo_files, tmp_path)
    patient = ros_parameters(PATIENT)
    real_time = {
        "sim_robot": ("-p", "lockstep:=0.0"),
        "excite": ("-p", "use_sim_time:=false", *patient),
    }
    processes = {
        name: nodes.start(name, [f"sysid_ros.nodes.{name}", *arguments[name], *added])
        for name, added in real_time.items()
    }
    states = client.collect(JointState, "/joint_states")
    commands = client.collect(Float64MultiArray, "/command")
    assert client.call(SetBool, "/excite/arm", SetBool.Request(data=False)).message
    client.wait_until(
        lambda: client.call(SetBool, "/excite/arm", SetBool.Request(data=True)).success
    )
    client.wait_until(lambda: len(commands) > 100)
    processes["excite"].kill()
    processes["excite"].wait()

    def rests() -> bool:
        positions = np.array([state.position for state in states[-200:]])
        return len(positions) == 200 and float(np.ptp(positions, axis=0).max()) < 0.005

    client.wait_until(rests)
    distance = np.abs(np.array(states[-1].position) - np.array(commands[-1].data))
    assert distance.max() < 0.3  # a soft servo, under gravity


def test_a_controller_that_is_told_how_to_stop_never_sees_a_step(running):
    motion = running(JointTrajectory, command_type="joint_trajectory")
    robot = motion.begin()
    motion.hold_up(0.3)
    robot.wait_for_commands(40)
    robot.arm(False)
    robot.wait_for("stopped: disarmed")
    robot.wait_for_rest()
    for message in robot.commands:
        assert_rests_softly(message)
    # Wherever the controller is when the next message comes, that says the same.
    for before, after in itertools.pairwise(robot.commands):
        told, following = curve_of(before), curve_of(after)
        made = following.times[0] - 1e-9 * after.points[0].time_from_start.nanosec + REPEATED
        for instant in made + np.arange(0.0, 0.05, 0.01):
            np.testing.assert_allclose(following.at(instant), told.at(instant), atol=1e-5)


@pytest.mark.parametrize("what", ["frozen", "velocity", "effort", "old"])
def test_joint_states_that_say_nothing_stop_the_motion(running, what: str):
    motion = running(**SIMULATED)
    robot = motion.robot

    def complete(message: JointState) -> None:
        message.velocity, message.effort = [0.0] * 3, [0.0] * 3
        if what == "old":  # of a computer whose clock is 700 s ahead
            message.header.stamp.sec, centi = divmod(robot.ticks + 70_000, 100)
            message.header.stamp.nanosec = 10_000_000 * centi

    robot.change = complete
    motion.begin()
    if what == "frozen":
        robot.follows = False
    elif what == "old":

        def old(message: JointState) -> None:
            complete(message)
            message.header.stamp.sec, message.header.stamp.nanosec = 700, 0

        robot.change = old
    else:

        def lost(message: JointState) -> None:
            complete(message)
            getattr(message, what)[2] = float("nan")

        robot.change = lost
    words = {
        "frozen": "is frozen: it has stayed at exactly",
        "velocity": "velocity of joint 'elbow' is nan",
        "effort": "effort of joint 'elbow' is nan",
        "old": "s old, by the stamps of its messages",
    }
    robot.wait_for("stopped: ")
    assert words[what] in robot.state
    robot.wait_for_rest()
    robot.assert_no_step()


def test_a_joint_that_stays_behind_stops_the_motion(running):
    motion = running(**SIMULATED, **{"following.tolerance": "0.1"})
    robot = motion.robot

    def blocked(message: JointState) -> None:
        message.position[2] = min(message.position[2], 0.3) + 1e-6 * (len(robot.commands) % 7)

    robot.change = blocked
    motion.begin(commands=20)
    robot.wait_for("stopped: joint 'elbow' does not follow")
    robot.wait_for_rest()
    robot.assert_no_step()
    assert robot.values()[:, 1].max() < 0.8


def test_joint_states_in_parts_are_joined_and_watched_each(running):
    motion = running(**SIMULATED)
    robot = motion.robot
    parts = set(JOINTS)

    def send_parts(message: JointState) -> None:
        for name, position in zip(message.name, message.position, strict=True):
            if name in parts:
                robot.publish(JointState(name=[name], position=[position]))
        message.name, message.position = ["wrist"], [0.0]

    robot.change = send_parts
    motion.begin()
    parts.remove("elbow")
    robot.wait_for("stopped: no joint states of joint 'elbow' for ")
    robot.wait_for_rest()
    robot.assert_no_step()
    assert "elbow" in robot.arm().message


def test_a_second_publisher_refuses_the_start_and_ends_a_motion(running):
    motion = running(use_sim_time="true")  # in real time a busy machine ends it before
    robot, node = motion.robot, motion.client.node
    robot.wait_for("ready")
    rival = node.create_publisher(Float64MultiArray, "/command", 10)
    motion.client.wait_until(lambda: rival.get_subscription_count() > 0)
    named = "/test_client publishes commands to /command, too"  # a little after it is heard of
    motion.client.wait_until(lambda: named in robot.arm().message)
    assert robot.commands == []
    node.destroy_publisher(rival)
    motion.client.wait_until(lambda: robot.arm().success)
    robot.wait_for_commands(50)
    node.create_publisher(Float64MultiArray, "/command", 10)
    robot.wait_for("stopped: ")
    assert robot.state.endswith(" publishes commands to /command, too")
    robot.wait_for_rest()
    robot.assert_no_step()


def test_nobody_on_the_topic_refuses_the_start(running):
    motion = running()
    motion.robot.wait_for("ready")
    motion.client.node.destroy_subscription(
        next(s for s in motion.client.node.subscriptions if s.topic_name == "/command")
    )
    arm = SetBool.Request(data=True)
    begins = "nobody subscribes to /command"
    motion.client.wait_until(
        lambda: motion.client.call(SetBool, "/excite/arm", arm).message.startswith(begins)
    )


@pytest.mark.parametrize(("kind", "qos"), [(Float64MultiArray, LATCHED), (JointTrajectory, 10)])
def test_a_controller_that_cannot_hear_is_told_from_none(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, kind: type, qos: Any
):
    client.collect(kind, "/command", qos)
    start_excite(nodes, tmp_path)
    begins = "nobody who subscribes to /command hears a Float64MultiArray that is not latched"

    def said() -> str:
        asked = SetBool.Request(data=True)
        return str(client.call(SetBool, "/excite/arm", asked).message)

    client.wait_until(lambda: said().startswith(begins))


def test_a_controller_that_cannot_be_asked_about_refuses_the_start(running):
    motion = running(controller="arm_controller")
    motion.robot.wait_for("ready")
    answer = motion.robot.arm()
    assert not answer.success
    assert "arm_controller" in answer.message
    assert motion.robot.commands == []


def test_after_a_fault_the_parameter_armed_moves_nothing(running):
    motion = running(armed="true")
    robot = motion.robot
    robot.wait_for_commands(50)
    robot.change = lambda message: setattr(message, "position", [0.0, 0.0, 2.0])
    robot.wait_for("stopped: position of joint 'elbow' is 2, above")
    robot.wait_for_rest()
    robot.change = lambda message: None
    count = len(robot.commands)
    motion.client.spin(2.0)
    assert len(robot.commands) == count
    assert robot.state.startswith("stopped")
    assert robot.arm().success


def test_an_effort_fades_when_it_stops(running):
    motion = running(interface="effort", allow_effort_release="true", **{"limits.effort": "[1, 1]"})
    motion.robot.follows = False
    motion.robot.change = lambda message: setattr(
        message, "effort", [1e-3 * (len(motion.robot.commands) % 100)] * 3
    )
    robot = motion.begin()
    robot.arm(False)
    robot.wait_for("stopped: disarmed")
    robot.wait_for_rest()
    np.testing.assert_allclose(robot.values()[-1], 0.0, atol=1e-9)
    assert largest_step(robot.values()).max() < 0.2


def test_in_simulated_time_a_jump_of_the_clock_is_no_step(running):
    motion = running(**{**SIMULATED, "timeout": "0.5"})
    robot = motion.begin()
    robot.ticks += 1000
    robot.wait_for("stopped: ")
    robot.wait_for_rest()
    robot.assert_no_step()
