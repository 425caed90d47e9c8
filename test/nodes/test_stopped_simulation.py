# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A simulation that is stopped as a whole process, and goes on once nobody is there any more."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE
from ros_client import LATCHED, RosClient
from std_msgs.msg import String
from std_srvs.srv import SetBool

from sysid_ros.nodes.demo import ChildProcesses

pytest.importorskip("control_msgs", reason="control_msgs comes with a ROS installation")

from control_msgs.msg import JointTrajectoryControllerState

ACCELERATION = 80.0  # of the demo's excite
ROBOT = {"command_type": "follow_joint_trajectory", "lockstep": "100.0"}
EXCITE = {"command_type": "follow_joint_trajectory", "timeout": "60.0", "following.delay": "60.0"}


def start(nodes: ChildProcesses, name: str, file: Path, given: dict[str, str]) -> Any:
    """Start a node with a file of parameters, and some on top of them."""
    values = [part for key, value in given.items() for part in ("-p", f"{key}:={value}")]
    given_file = ["--params-file", str(file)]
    return nodes.start(name, [f"sysid_ros.nodes.{name}", "--ros-args", *given_file, *values])


def wait_for(process: subprocess.Popen[bytes], condition: Callable[[], bool]) -> None:
    """Wait while a process runs."""
    for _ in range(round(PATIENCE / 0.05)):
        if condition():
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
            break
    assert condition(), "waited in vain, or its process has ended"


def test_a_goal_does_not_outlive_who_sent_it_where_the_simulation_was_stopped(
    nodes: ChildProcesses, client: RosClient, demo_files: Path, tmp_path: Path
):
    file = demo_files / "demo.yaml"
    states = client.collect(String, "/excite/state", LATCHED)
    references = client.collect(JointTrajectoryControllerState, "/controller_state")
    model = {"model": str(demo_files / "arm.xml")}
    robot = start(nodes, "sim_robot", file, {**ROBOT, **model})
    excite = start(nodes, "excite", file, EXCITE)
    client.wait_until(lambda: bool(states) and states[-1].data == "ready")
    assert client.call(SetBool, "/excite/arm", SetBool.Request(data=True)).success

    def speed() -> float:
        return float(np.abs(references[-1].reference.velocities).max())

    client.wait_until(lambda: bool(references) and speed() > 1.0)
    robot.send_signal(signal.SIGSTOP)
    excite.send_signal(signal.SIGINT)
    log = tmp_path / "logs" / "excite.log"
    wait_for(excite, lambda: "waiting for the controller" in log.read_text())
    robot.send_signal(signal.SIGCONT)
    client.wait_until(lambda: excite.poll() is not None)
    assert excite.returncode == 0
    assert "ended in mid motion" not in log.read_text()
    client.wait_until(lambda: speed() == 0.0)
    # What a busy machine loses of the references leaves longer intervals.
    stamps = [message.header.stamp for message in references]
    intervals = np.diff([one.sec + 1e-9 * one.nanosec for one in stamps])[:, None]
    positions = np.array([message.reference.positions for message in references])
    turns = np.abs(np.diff(np.diff(positions, axis=0) / intervals, axis=0))
    assert np.all(turns <= ACCELERATION * 0.5 * (intervals[1:] + intervals[:-1]) * 1.05)
