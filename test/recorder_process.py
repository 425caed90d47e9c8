# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recorder in a process of its own, and what tests publish to it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from patience import PATIENCE
from rclpy.duration import Duration
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from ros_parameters import ros_parameters
from sensor_msgs.msg import JointState

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.recording.bags import open_recording

# More than any test sends: a publisher drops its oldest message for the newest, heard or not, and a
# recorder may get no processor for a while.
RELIABLE = QoSProfile(depth=5000)
BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)


def start_recorder(
    nodes: ChildProcesses, output: Path, *topics: str, **parameters: str
) -> subprocess.Popen[bytes]:
    # Tests wait until what they publish has arrived; publishers that are silent then need not cost.
    given = {"output_dir": str(output), "topics": f"[{', '.join(topics)}]", "stop_timeout": "0.0"}
    given |= parameters
    values = ros_parameters(given)
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
    arrived(publisher)
    return messages


def arrived(publisher: Publisher) -> None:
    """Wait until every reliable subscriber has what was published, though not yet looked at it."""
    assert publisher.wait_for_all_acked(Duration(seconds=PATIENCE))


def status_of(diagnostics: list[DiagnosticArray], name: str) -> DiagnosticStatus | None:
    """The newest status of ``recorder: NAME``."""
    found = [s for m in diagnostics for s in m.status if s.name == f"recorder: {name}"]
    return found[-1] if found else None


def received(diagnostics: list[DiagnosticArray], topic: str = "/joint_states") -> int:
    """Messages of a topic that the newest status counts; all are in the file by then."""
    status = status_of(diagnostics, topic)
    values = {value.key: value.value for value in status.values} if status else {}
    return int(values.get("received", 0))


def time_of(diagnostics: list[DiagnosticArray]) -> float:
    """The recorder's time at its newest status, s."""
    stamp = diagnostics[-1].header.stamp if diagnostics else Time()
    return float(stamp.sec + 1e-9 * stamp.nanosec)


def recorded(bag: str | Path) -> list[JointState]:
    with open_recording(bag) as recording:
        raw = [message.data for message in recording.messages(["/joint_states"])]
    return [deserialize_message(data, JointState) for data in raw]
