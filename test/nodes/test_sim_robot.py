# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot on its topics, in real time."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from ros_client import RosClient
from ros_parameters import ros_parameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from sysid_ros.nodes.demo import ChildProcesses


def start_robot(nodes: ChildProcesses, demo_files: Path, **parameters: str) -> None:
    given = {"model": str(demo_files / "arm.xml"), **parameters}
    values = ros_parameters(given)
    nodes.start("sim_robot", ["sysid_ros.nodes.sim_robot", "--ros-args", *values])


def stamps(messages: list[JointState]) -> np.ndarray:
    return np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in messages])


def test_states_are_evenly_stamped_and_a_little_old(
    nodes: ChildProcesses, client: RosClient, demo_files: Path
):
    # Few enough for a busy machine, which may miss some of them, to be up to date now and then.
    start_robot(nodes, demo_files, rate="50", latency="0.05")
    messages, ages = client.collect(JointState, "/joint_states"), []

    def is_fresh() -> bool:  # nothing but the machine's load makes one older
        ages.extend(1e-9 * (time.time_ns() - stamps(messages[-1:])))
        return 0.05 < ages[-1] < 1.0

    client.wait_until(lambda: len(messages) > 100 and is_fresh())
    assert min(ages) > 0.05
    intervals = np.diff(stamps(messages))
    assert np.min(intervals) == 20_000_000
    assert not np.any(intervals % 20_000_000)
    assert messages[0].name == ["shoulder", "elbow"]
    assert len(messages[0].velocity) == len(messages[0].effort) == 2


@pytest.mark.parametrize("command_type", ["float64_multi_array", "joint_trajectory"])
def test_commands_are_obeyed_and_wrong_ones_ignored(
    nodes: ChildProcesses, client: RosClient, demo_files: Path, command_type: str
):
    start_robot(nodes, demo_files, command_type=command_type)
    messages = client.collect(JointState, "/joint_states")
    kind = Float64MultiArray if command_type == "float64_multi_array" else JointTrajectory
    publisher = client.node.create_publisher(kind, "/command", 10)
    client.wait_until(lambda: messages and publisher.get_subscription_count())
    if kind is Float64MultiArray:
        publisher.publish(Float64MultiArray(data=[-1.0, 0.6]))
        publisher.publish(Float64MultiArray(data=[1.0]))
        publisher.publish(Float64MultiArray(data=[float("nan"), 1.0]))
    else:
        point = JointTrajectoryPoint(positions=[0.6, -1.0])
        publisher.publish(JointTrajectory(joint_names=["elbow", "shoulder"], points=[point]))
        publisher.publish(JointTrajectory(joint_names=["wrist"], points=[point]))
    # Gravity keeps a servo without an integrator a little below its target.
    client.wait_until(
        lambda: np.allclose([m.position for m in messages[-100:]], [-1.0, 0.6], atol=0.15)
    )


def test_a_command_that_comes_too_late_is_told_at_once(
    nodes: ChildProcesses, client: RosClient, demo_files: Path
):
    start_robot(nodes, demo_files, latency="0.0")  # and every message takes some time
    publisher = client.node.create_publisher(Float64MultiArray, "/command", 10)
    client.wait_until(publisher.get_subscription_count)

    def is_told() -> bool:
        publisher.publish(Float64MultiArray(data=[0.0, 0.0]))
        return "a command arrived too late" in nodes.last_words("sim_robot")

    client.wait_until(is_told)
