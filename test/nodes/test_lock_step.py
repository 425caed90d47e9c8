# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulated robot on a time of its own: whoever is held up, the motion stays the same."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import numpy as np
from ros_client import LATCHED, RosClient
from ros_parameters import ros_parameters
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory

from sysid_ros.errors import ErrorCode
from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.sim_robot.lock_step import START_NS

MOTION = "time,shoulder,elbow\n0,0,0\n0.5,0.3,0.2\n1.0,-0.2,0.4\n1.5,0,0\n"
# A test that gets little of a processor falls minutes behind a robot that runs on in real time.
DEEP = 100_000
STATES = 150  # of the motion, which takes 1.5 s
MESSAGES = {  # type of a command, and its values
    "float64_multi_array": (Float64MultiArray, lambda message: message.data),
    "joint_trajectory": (
        JointTrajectory,
        lambda message: np.concatenate([point.positions for point in message.points]),
    ),
}


def start_robot(nodes: ChildProcesses, demo_files: Path, **given: str) -> subprocess.Popen[bytes]:
    parameters = {
        "model": str(demo_files / "arm.xml"),
        "lockstep": "100.0",
        "rate": "100.0",
        **given,
    }
    values = ros_parameters(parameters)
    settings = ["--params-file", str(demo_files / "demo.yaml")]
    values += ["-r", f"command:={given.get('command_type', 'command')}"]  # a topic has one type
    return nodes.start("sim_robot", ["sysid_ros.nodes.sim_robot", "--ros-args", *settings, *values])


def start_excite(
    nodes: ChildProcesses, demo_files: Path, folder: Path, command_type: str
) -> subprocess.Popen[bytes]:
    (folder / "motion.csv").write_text(MOTION)
    values = ["-p", f"trajectory:={folder / 'motion.csv'}", "-p", "ramp:=0.4"]
    values += ["-p", f"command_type:={command_type}", "-r", f"command:={command_type}"]
    settings = ["--params-file", str(demo_files / "demo.yaml")]
    return nodes.start("excite", ["sysid_ros.nodes.excite", "--ros-args", *settings, *values])


def moved(
    nodes: ChildProcesses,
    client: RosClient,
    demo_files: Path,
    folder: Path,
    *,
    stall: bool = False,
    command_type: str = "float64_multi_array",
) -> tuple[list[list[float]], list[tuple[int, list[float]]]]:
    """Commands, and stamps and positions of the robot, of one motion."""
    robot = start_robot(nodes, demo_files, command_type=command_type)
    states = client.collect(JointState, "/joint_states", DEEP)
    client.wait_until(lambda: states)
    excite = start_excite(nodes, demo_files, folder, command_type)
    message_type, values = MESSAGES[command_type]
    commands = client.collect(message_type, f"/{command_type}", DEEP)
    said = client.collect(String, "/excite/state", LATCHED)
    client.wait_until(lambda: said and said[-1].data == "ready")
    # An answer shows that excite knows of everything that was subscribed to before.
    assert not client.call(SetBool, "/excite/arm", SetBool.Request(data=False)).success
    assert client.call(SetBool, "/excite/arm", SetBool.Request(data=True)).success
    for process, count in ((excite, 40), (robot, 80), (excite, 120)) if stall else ():
        client.wait_until(lambda count=count: len(commands) >= count)
        process.send_signal(signal.SIGSTOP)
        client.spin(0.4)  # many periods
        process.send_signal(signal.SIGCONT)
    client.wait_until(lambda: said[-1].data == "done")
    # Who is told ahead is also told of its rest, up to when it is there.
    count = 150 if command_type == "float64_multi_array" else 160
    client.wait_until(lambda: len(commands) == count)
    client.wait_until(lambda: len(states) >= STATES and stamp_of(states[-STATES]) > START_NS)
    for node in ("excite", "sim_robot"):
        nodes.end(node)
    moving = [state for state in states if stamp_of(state) > START_NS]
    positions = [(stamp_of(state), list(state.position)) for state in moving[:STATES]]
    return [list(values(c)) for c in commands], positions


def stamp_of(state: JointState) -> int:
    """Its stamp, ns."""
    return int(state.header.stamp.sec * 10**9 + state.header.stamp.nanosec)


def test_processes_that_are_held_up_change_nothing_of_the_motion(
    nodes: ChildProcesses, client: RosClient, demo_files: Path, tmp_path: Path
):
    commands = {}
    for command_type in MESSAGES:
        idle = moved(nodes, client, demo_files, tmp_path, command_type=command_type)
        held_up = moved(nodes, client, demo_files, tmp_path, command_type=command_type, stall=True)
        assert held_up == idle
        assert max(position[0] for _, position in idle[1]) > 0.15  # it did move
        commands[command_type] = idle[0]
    for command, points in zip(*commands.values(), strict=False):  # each has the other's, too
        away = np.abs(np.reshape(points, (-1, 2)) - command).max(axis=1)
        assert away.min() < 1e-9


def test_robot_shows_itself_moves_when_told_and_runs_on(
    nodes: ChildProcesses, client: RosClient, demo_files: Path
):
    start_robot(nodes, demo_files)
    clocks = client.collect(Clock, "/clock")
    states = client.collect(JointState, "/joint_states")
    client.wait_until(lambda: len(clocks) > 3 and len(states) > 3)
    assert {(c.clock.sec, c.clock.nanosec) for c in clocks} == {(0, 10_000_000)}
    assert len({tuple(s.position) for s in states}) == 1
    # Anybody may move it; then its time passes as ours does, as no motion of excite plays.
    publisher = client.node.create_publisher(Float64MultiArray, "/command", 10)
    client.wait_until(publisher.get_subscription_count)
    publisher.publish(Float64MultiArray(data=[-1.0, 0.6]))
    client.wait_until(lambda: states[-1].position[0] < -0.8)
    first, began = clocks[-1].clock.sec, time.monotonic()
    client.wait_until(lambda: clocks[-1].clock.sec >= first + 3)
    assert time.monotonic() - began > 1.5  # not at once, however long it takes


def test_robot_that_waits_in_vain_says_so_and_ends(
    nodes: ChildProcesses, client: RosClient, demo_files: Path, tmp_path: Path
):
    robot = start_robot(nodes, demo_files, patience="0.5")
    publisher = client.node.create_publisher(String, "/excite/state", LATCHED)
    publisher.publish(String(data="running"))
    client.wait_until(lambda: robot.poll() is not None)
    assert robot.returncode == ErrorCode.DATA_UNUSABLE
    log = (tmp_path / "logs" / "sim_robot.log").read_text()
    assert "excite is running a motion, and no command has come for 0.5 s" in log
    assert "Traceback" not in log
