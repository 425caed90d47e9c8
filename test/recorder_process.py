# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recorder in a process of its own, and what tests publish to it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.recording.bags import open_recording

BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)


def start_recorder(
    nodes: ChildProcesses, output: Path, *topics: str, **parameters: str
) -> subprocess.Popen[bytes]:
    given = {"output_dir": str(output), "topics": f"[{', '.join(topics)}]", **parameters}
    values = [part for name, value in given.items() for part in ("-p", f"{name}:={value}")]
    return nodes.start("recorder", ["sysid_ros.nodes.recorder", "--ros-args", *values])


def joint_state(number: int) -> JointState:
    message = JointState(name=["elbow"], position=[0.1 * number])
    message.header.stamp.sec, message.header.stamp.nanosec = 100, number * 1_000_000
    return message


def listening(publisher: Publisher, count: int = 1) -> bool:
    return publisher.get_subscription_count() >= count


def publish(publisher: Publisher, numbers: range) -> list[JointState]:
    messages = [joint_state(number) for number in numbers]
    for message in messages:
        publisher.publish(message)
        time.sleep(0.002)
    return messages


def recorded(bag: str | Path) -> list[JointState]:
    with open_recording(bag) as recording:
        raw = [message.data for message in recording.messages(["/joint_states"])]
    return [deserialize_message(data, JointState) for data in raw]
