# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Excitation of a real topic: never unasked, softly, within limits, and not into silence."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml
from excitation_limits import assert_no_step
from excite_robot import JOINTS, LIMITS, MOTION, PATIENT, Robot, start_excite
from patience import PATIENCE
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from ros_client import LATCHED, RosClient
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory

from sysid_ros.excitation import ExcitationError
from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.excite import node as excite_node
from sysid_ros.nodes.excite.node import Excite


def test_nothing_moves_unarmed(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_excite(nodes, tmp_path)
    robot = Robot(client, qos=qos_profile_sensor_data)  # best effort, as many drivers publish
    robot.wait_for("ready")
    client.spin(1.0)
    assert robot.commands == []
    assert robot.state == "ready"


def test_armed_motion_starts_where_the_robot_stands_and_returns(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_excite(nodes, tmp_path, use_sim_time="true")
    robot = Robot(client, simulated=True)
    robot.position = [-0.1, 9.0, 0.05]  # shoulder, wrist, elbow
    robot.wait_for("ready")
    assert robot.arm().success
    assert not robot.arm().success  # it is moving already
    robot.wait_for("done")
    values = robot.values()
    assert len(values) > 150  # 2 s at 100 Hz
    np.testing.assert_allclose(values[0], [-0.1, 0.05], atol=0.01)
    np.testing.assert_allclose(values[-1], [-0.1, 0.05], atol=0.01)
    np.testing.assert_allclose(values[len(values) // 2], [0.2, 0.5], atol=0.01)  # by name
    assert robot.arm().success  # and once more
    robot.wait_for("running")


@pytest.mark.parametrize("strays", [False, True])
def test_a_slow_pass_comes_first_and_is_looked_at(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, strays: bool
):
    given = {"use_sim_time": "true", "slow_pass": "0.5", "following.tolerance": "0.1"}
    start_excite(nodes, tmp_path, **given)
    robot = Robot(client, simulated=True)
    if strays:  # by less than the tolerance, and more than half of it
        robot.change = lambda message: message.position.__setitem__(2, robot.position[2] + 0.07)
    robot.wait_for("ready")
    assert robot.arm().success
    robot.wait_for("stopped: in the slow pass joint 'elbow' was 0.07 away" if strays else "done")
    robot.assert_no_step((0.0, 0.07 if strays else 0.0))
    values = robot.values()
    turns = np.flatnonzero(np.diff((values[:, 0] > 0.15).astype(int)) == 1)
    assert len(turns) == (1 if strays else 2)
    if not strays:
        slow, full = np.abs(np.diff(values[:380], axis=0)).max(), robot.largest_step()
        assert slow < 0.6 * full


URDF = """<robot name="arm">
  <joint name="shoulder"><limit lower="-1" upper="1" velocity="3" effort="1"/></joint>
  <joint name="elbow"><limit lower="-1" upper="0.3" velocity="3" effort="1"/></joint>
</robot>"""


def test_limits_come_from_the_description_on_a_topic(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    description = client.node.create_publisher(String, "/robot_description", LATCHED)
    description.publish(String(data=URDF))
    given = dict.fromkeys(("limits.lower", "limits.upper", "limits.velocity"))
    start_excite(nodes, tmp_path, **given, **{"limits.robot_description": "/robot_description"})
    robot = Robot(client)
    robot.wait_for("ready")
    refused = robot.arm()
    assert not refused.success
    assert "'elbow'" in refused.message and "0.3" in refused.message


def test_parameter_arms_too_and_a_trajectory_message_is_sent(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_excite(
        nodes, tmp_path, armed="true", command_type="joint_trajectory", use_sim_time="true"
    )
    robot = Robot(client, JointTrajectory, simulated=True)
    robot.wait_for("done")
    middle = robot.commands[len(robot.commands) // 2]
    assert middle.joint_names == ["shoulder", "elbow"]
    np.testing.assert_allclose(middle.points[0].positions, [0.2, 0.5], atol=0.02)
    assert middle.header.stamp.sec + 1e-9 * middle.header.stamp.nanosec > 0.5  # it names its time
    assert robot.position[2] == pytest.approx(0.0, abs=1e-3)  # was there and came back


def test_motion_stops_when_joint_states_stop(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_excite(nodes, tmp_path, timeout="1.0")
    robot = Robot(client)
    robot.wait_for("ready")
    robot.arm()
    client.wait_until(lambda: len(robot.commands) > 40)
    robot.moving = False
    robot.wait_for("stopped: no joint states for ")
    robot.wait_for_rest()
    robot.assert_no_step()
    assert not robot.arm().success  # and does not move into silence


def test_motion_stops_when_a_joint_leaves_its_limits(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_excite(nodes, tmp_path)
    robot = Robot(client)
    robot.wait_for("ready")
    robot.arm()
    client.wait_until(lambda: len(robot.commands) > 20)
    robot.follows = False
    robot.position = [0.0, 0.0, -1.2]
    robot.wait_for("stopped: position of joint 'elbow' is -1.2, below its limit -1")
    robot.wait_for_rest()
    robot.assert_no_step()
    assert not robot.arm().success  # not from outside its limits
    robot.position = [0.0, 0.0, 0.0]
    client.wait_until(lambda: robot.arm().success)


def test_disarming_stops(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_excite(nodes, tmp_path)
    robot = Robot(client)
    robot.wait_for("ready")
    assert not robot.arm(False).success  # nothing moves
    robot.arm()
    client.wait_until(lambda: len(robot.commands) > 20)
    assert robot.arm(False).success
    robot.wait_for("stopped: disarmed")


def test_node_that_is_asked_to_end_brakes_first(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    process = start_excite(nodes, tmp_path, use_sim_time="true")
    robot = Robot(client, simulated=True)
    robot.wait_for("ready")
    robot.arm()
    client.wait_until(lambda: len(robot.commands) > 30)
    before = len(robot.commands)
    process.send_signal(signal.SIGINT)
    client.wait_until(lambda: process.poll() is not None)
    assert process.returncode == 0
    # 0.3 s of braking, which may arrive after the end
    client.wait_until(lambda: len(robot.commands) > before + 20)
    robot.assert_no_step()


def test_motion_beyond_the_limits_is_refused(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    motion = MOTION.replace("0.5,0.2", "1.3,0.2")
    start_excite(nodes, tmp_path, motion=motion, **{"limits.velocity": "[3.5, 3.5]"})
    robot = Robot(client)
    robot.wait_for("ready")
    answer = robot.arm()
    assert not answer.success
    assert "'elbow' goes above its upper limit 1" in answer.message
    assert robot.commands == []


@pytest.fixture
def excite(client: RosClient, tmp_path: Path) -> Iterator[Excite]:
    """The node in the test's own process, where nobody spins it."""
    (tmp_path / "motion.csv").write_text(MOTION)
    given = {name: yaml.safe_load(value) for name, value in {**LIMITS, **PATIENT}.items()}
    given |= {"joints": list(JOINTS), "trajectory": str(tmp_path / "motion.csv"), "ramp": 0.9}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    node = Excite(context=client.node.context, parameter_overrides=overrides)
    yield node
    node.destroy_node()


def test_a_robot_that_somebody_moves_is_not_begun_with(
    excite: Excite, monkeypatch: pytest.MonkeyPatch
):
    """The first position would stop it at once; ``armed`` waits until it rests."""
    clock = [0.0]
    monkeypatch.setattr(excite, "_now", lambda: clock[0])
    monkeypatch.setattr(excite._motion, "obstacle", lambda: "")
    monkeypatch.setattr(type(excite._motion), "heard", True)
    monkeypatch.setattr(type(excite._taken_as), "_is_known", True)
    said = list[str]()
    log = SimpleNamespace(
        error=said.append, info=said.append, repeated_warning=lambda text, period: said.append(text)
    )
    monkeypatch.setattr(excite_node, "log_of", lambda node: log)
    excite._armed = True

    def at(time: float, shoulder: float) -> None:
        clock[0] = time
        excite._on_joint_states(JointState(name=list(JOINTS), position=[shoulder, 0.0]))

    for step in range(4):
        at(0.1 * step, 0.05 * step)
    assert "'shoulder' moves" in excite._begin()
    excite._armed = True
    excite._watch()
    assert not excite._motion.moves and excite._armed
    assert said[-1].startswith("waiting: joint 'shoulder' moves")
    for step in range(4, 8):
        at(0.1 * step, 0.15)
    excite._watch()
    assert excite._motion.moves


def test_the_next_motion_begins_at_the_command_that_holds_the_robot(
    excite: Excite, client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    """Unless somebody has pushed it away since, or others have commanded it."""
    motion, clock = excite._motion, [0.0]
    monkeypatch.setattr(motion, "_now", lambda: clock[0])

    def begun_at(*position: float) -> list[float]:
        begun = motion.begin(excite._next.reference, np.array(position), 1.0)
        while not motion.ended():
            clock[0] += 0.01
            motion.go_on(clock[0])
        return [float(value) for value in begun]

    assert begun_at(0.1, 0.0) == [0.1, 0.0]
    excite._watch()
    assert begun_at(0.04, -0.02) == [0.1, 0.0]  # it sags
    assert begun_at(-0.15, 0.0) == [-0.15, 0.0]  # it was pushed
    client.node.create_publisher(Float64MultiArray, "/command", 10)
    client.wait_until(motion.rivals)
    excite._watch()
    assert begun_at(-0.2, 0.0) == [-0.2, 0.0]


@pytest.mark.parametrize("fault", ["is frozen", "velocity of joint 'elbow' is 4"])
def test_a_robot_that_did_not_do_as_told_is_not_taken_to_hold_its_last_command(
    excite: Excite, monkeypatch: pytest.MonkeyPatch, fault: str
):
    """As after an emergency stop, from which drives begin where the robot stands.

    Something else may have been a fault before.
    """
    motion, clock = excite._motion, [1.0]
    for clocked in (excite, motion):
        monkeypatch.setattr(clocked, "_now", lambda: clock[0])
    monkeypatch.setattr(excite._monitor._following, "_delay", 0.1)

    place = np.zeros(2)  # of a robot whose shoulder stands still
    excite._on_joint_states(JointState(name=list(JOINTS), position=place.tolist()))
    excite._passes = [1.0]
    excite._play(place)
    excite._tell("running")
    while motion.moves:
        place[1] = motion._motion.last[1]
        clock[0] += 0.01
        told = JointState(name=list(JOINTS), position=place.tolist())
        if "velocity" in fault and motion._motion.last[0] > 0.04:
            told.velocity = [0.0, 4.0]
        excite._on_joint_states(told)
        excite._tick()
    assert fault in excite._state
    assert 0.1 < motion._held[0] < excite._settings.tolerance[0]  # near enough to be held
    begun = motion.begin(excite._next.reference, place, 1.0)
    np.testing.assert_array_equal(begun, place)


def test_a_driver_that_was_started_anew_holds_no_command_of_before(
    excite: Excite, client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    """Where it stands is where the motion begins, however near that is to the last command."""
    motion = excite._motion
    held, stands = np.array([0.1, 0.0]), np.array([0.05, 0.0])

    def begun() -> list[float]:
        monkeypatch.setattr(motion, "_motion", None)
        return [float(value) for value in motion.begin(excite._next.reference, stands, 1.0)]

    def publishers() -> int:
        return excite.count_publishers("/joint_states")

    driver = client.node.create_publisher(JointState, "/joint_states", 10)
    client.wait_until(lambda: publishers() == 1)
    excite._watch()
    begun()
    monkeypatch.setattr(motion, "_held", held)
    excite._watch()
    assert begun() == held.tolist()
    client.node.destroy_publisher(driver)
    client.wait_until(lambda: publishers() == 0)
    excite._watch()
    assert begun() == held.tolist()
    client.node.create_publisher(JointState, "/joint_states", 10)
    client.wait_until(lambda: publishers() == 1)
    with suppress(ExcitationError):  # nobody listens to commands
        excite._refuse_obstacles()
    assert begun() == stands.tolist()


def test_another_node_of_the_same_name_is_told_from_this_one(excite: Excite, client: RosClient):
    twin = Node("excite", context=client.node.context)
    twin.create_publisher(Float64MultiArray, "/command", 10)
    said = "another node /excite publishes commands to /command, too"
    client.wait_until(lambda: excite._motion.rivals() == said)
    twin.destroy_node()


def test_a_command_that_the_middleware_refuses_is_no_step(
    excite: Excite, monkeypatch: pytest.MonkeyPatch
):
    """Fast DDS gives up after 100 ms; the robot holds what it was told last meanwhile."""
    motion, clock, told = excite._motion, [0.0], [np.zeros(2)]
    refused = rclpy_implementation.RCLError("cannot publish data")

    def publish(message: Float64MultiArray) -> None:
        if 40 <= len(told) < 43:
            told.append(told[-1])
            clock[0] += 0.1
            raise refused
        told.append(np.array(message.data))

    publisher = SimpleNamespace(publish=publish, topic_name="/command")
    monkeypatch.setattr(motion._topic, "_publisher", publisher)
    monkeypatch.setattr(motion, "_now", lambda: clock[0])
    motion.begin(excite._next.reference, np.zeros(2), 1.0)
    while not motion.ended():
        clock[0] += 0.01
        motion.go_on(clock[0])
    assert np.abs(told[39] - told[38]).max() > 0.005
    assert assert_no_step(np.array(told), 0.01, np.full(2, 3.0), np.full(2, 40.0)) == 1


def test_a_state_that_the_middleware_refuses_is_told_later(
    excite: Excite, monkeypatch: pytest.MonkeyPatch
):
    told, refusals = [], [rclpy_implementation.RCLError("cannot publish data")]

    def publish(message: String) -> None:
        if refusals:
            raise refusals.pop()
        told.append(message.data)

    publisher = SimpleNamespace(publish=publish, topic_name="/excite/state")
    monkeypatch.setattr(excite, "_states", publisher)
    excite._tell("done")
    assert told == []
    for _ in range(2):
        excite._watch()
    assert told == ["done"]


def test_a_full_pass_that_is_refused_leaves_no_fault_behind(
    excite: Excite, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_arguments: object) -> None:
        raise ExcitationError("it would leave the limits")

    def measured(elbow: float) -> str | None:
        excite._on_joint_states(JointState(name=list(JOINTS), position=[0.0, elbow]))
        return excite._monitor.fault(excite._now() + 2.0)  # by then a leap is forgotten

    monkeypatch.setattr(excite._motion, "begin", refuse)
    measured(0.0)
    excite._monitor.start(excite._now(), np.zeros(2))
    excite._state, excite._passes = "running", [1.0]
    excite._end_pass()
    assert excite._state == "stopped: it would leave the limits"
    assert measured(1.2) is not None
    assert measured(0.0) is None


@pytest.mark.parametrize(("rate", "spacing"), [(50.0, 0.02), (1000.0, 0.01)])
def test_a_goal_has_at_most_100_points_per_second(excite: Excite, rate: float, spacing: float):
    settings = replace(excite._settings, rate=rate)
    trajectory = settings.controlled(excite._next.reference, np.zeros(2)).trajectory
    assert np.median(np.diff(trajectory.times)) == pytest.approx(spacing)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"limits.lower": "[-1.0]"}, "limits.lower of excite needs 2 numbers"),
        ({"joints": "[elbow, elbow]"}, "joints of excite names elbow repeatedly"),
        ({"joints": "[shoulder, wrist]"}, "moves elbow, shoulder; parameter joints names"),
        ({"trajectory": "/nowhere.csv"}, "there is no file '/nowhere.csv'"),
        ({"interface": "torque"}, "valid: position, effort"),
        ({"rate": "0.0"}, "parameter rate of excite must be positive, given 0.0"),
        ({"rate": "250.0", "command_type": "joint_trajectory"}, "rate of excite is 250: with"),
        ({"limits.velocity": "[fast, slow]"}, "must be a list of numbers, given"),
        ({"limits.file": "/nowhere.yaml"}, "there is no file '/nowhere.yaml'"),
        ({"following.tolerance": "[0.1, 0.1, 0.1]"}, "needs one positive number, or one for each"),
        ({"interface": "effort"}, "set the parameter allow_effort_release to true"),
        (
            {"interface": "effort", "allow_effort_release": "true"},
            "needs limits.effort for every joint",
        ),
        (
            {
                "interface": "effort",
                "allow_effort_release": "true",
                "command_type": "joint_trajectory",
            },
            "joint_trajectory of excite is of positions, not of efforts",
        ),
        ({"ramp": "soon"}, "parameter ramp of excite must be a float, given 'soon'"),
        ({"limits.efort": "[1.0, 1.0]"}, "no parameter limits.efort; did you mean limits.effort?"),
    ],
)
def test_wrong_parameters_end_the_node_with_a_sentence(
    nodes: ChildProcesses, tmp_path: Path, parameters: dict[str, str], words: str
):
    process = start_excite(nodes, tmp_path, **parameters)
    assert process.wait(timeout=PATIENCE) != 0
    log = (tmp_path / "logs" / "excite.log").read_text()
    assert words in log
    assert "Traceback" not in log


def test_a_node_that_was_held_up_brakes_and_one_whose_time_stands_says_so(
    monkeypatch: pytest.MonkeyPatch,
):
    said, waits = list[str](), list[str]()
    log = SimpleNamespace(
        warning=said.append, repeated_warning=lambda text, period: waits.append(text)
    )
    monkeypatch.setattr(excite_node, "log_of", lambda node: log)
    long_ago = time.monotonic() - 1000.0
    motion = SimpleNamespace(moves=True, left_alone=False)
    node: Any = SimpleNamespace(_stop=lambda reason: None, _motion=motion, _ticked=long_ago)
    node._ending = math.inf
    assert not Excite.come_to_rest(node) and not said  # as after SIGSTOP: its timer comes first
    node._ending = long_ago
    assert Excite.come_to_rest(node)
    (sentence,) = said
    assert "no time passes on /clock" in sentence
    assert not waits
    motion.left_alone = True
    for moves in (True, False):
        motion.moves, node._ending = moves, time.monotonic() - 10.0
        assert not Excite.come_to_rest(node)
    assert len(said) == 1
    assert "without this node it would play its goal to the end" in waits[-1]
    node._ending = long_ago  # nobody will answer any more
    assert Excite.come_to_rest(node)
    assert "the controller does not answer" in said[-1]
