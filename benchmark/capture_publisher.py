# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid's topics at their usual rates, or images, for :mod:`benchmark.capture`.

Prints ``ready`` once every topic has a subscriber, and at the end what it sent, as JSON.
"""

from __future__ import annotations

import argparse
import json
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image, Imu, JointState
from std_msgs.msg import Float64MultiArray

from sysid_ros.recording.bags import open_recording

JOINTS = 29
PATIENCE = 30.0  # s to wait for subscribers
# s for messages under way; Fast DDS tells every 3 s which ones will not come again.
SETTLING = 4.0
_STAMP = struct.Struct("<iI")
_STAMP_AT = 4  # bytes, after CDR's own header


@dataclass
class Stream:
    """One topic, serialized once; only the stamp changes, as the load is to be the recorder's.

    Several contents are sent in a circle.
    """

    publisher: Publisher[Any]
    contents: list[bytearray]
    stamped: bool
    period: float  # s
    listeners: int = 1  # to be waited for
    even: bool = False  # whether stamps are as those of a clock in the robot, however late they are
    sent: int = 0
    began: int = 0  # ns since the epoch
    latest: float = field(default=0.0)  # s by which the worst message was late

    def send_due(self, elapsed: float, limit: int) -> None:
        """Send what is due after ``elapsed`` seconds, ``limit`` messages in all at most."""
        while self.sent < limit and self.sent * self.period <= elapsed:
            self.latest = max(self.latest, elapsed - self.sent * self.period)
            self.send()

    def send(self) -> None:
        """Send one message, unless the middleware gives up."""
        content = self.contents[self.sent % len(self.contents)]
        if self.stamped:
            self.began = self.began or time.time_ns()
            even = self.began + round(1e9 * self.period * self.sent)
            stamp = even if self.even else time.time_ns()
            _STAMP.pack_into(content, _STAMP_AT, *divmod(stamp, 10**9))
        with suppress(rclpy_implementation.RCLError):  # of which nothing was sent, see sending.py
            self.publisher.publish(bytes(content))
            self.sent += 1


def image_stream(node: Node, rate: float, megabytes: float, depth: int) -> Stream:
    """Images of one size at one rate."""
    content = bytearray(serialize_message(Image(data=bytes(round(1e6 * megabytes)))))
    return Stream(node.create_publisher(Image, "/image", depth), [content], True, 1.0 / rate)


def streams(node: Node, factor: float, depth: int) -> list[Stream]:
    """29 joint states and commands at 1 kHz each and an IMU at 400 Hz, times ``factor``."""
    states = JointState(
        name=[f"joint_{number}" for number in range(JOINTS)],
        **dict.fromkeys(("position", "velocity", "effort"), [0.1] * JOINTS),
    )
    messages = (
        ("/joint_states", states, 1000.0),
        ("/command", Float64MultiArray(data=[0.1] * JOINTS), 1000.0),
        ("/imu", Imu(), 400.0),
    )
    return [
        Stream(
            node.create_publisher(type(message), topic, depth),
            [bytearray(serialize_message(message))],
            hasattr(message, "header"),
            1.0 / (factor * rate),
        )
        for topic, message, rate in messages
    ]


def played(node: Node, bag: Path, namespace: str, depth: int) -> Stream:
    """Joint states of a bag, at the rate at which they were recorded."""
    with open_recording(bag) as recording:
        messages = list(recording.messages(["/joint_states"]))
    period = 1e-9 * (messages[-1].log_ns - messages[0].log_ns) / (len(messages) - 1)
    publisher = node.create_publisher(JointState, f"/{namespace}/joint_states", depth)
    return Stream(
        publisher, [bytearray(message.data) for message in messages], True, period, 2, True
    )


def main(args: Sequence[str] | None = None) -> None:
    """Publish for some seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=60.0)
    parser.add_argument("--factor", type=float, default=1.0, help="of every rate")
    parser.add_argument("--depth", type=int, default=10, help="of the publishers' queues")
    parser.add_argument("--images", type=float, default=0.0, help="per second, and nothing else")
    parser.add_argument("--megabytes", type=float, default=2.0, help="of an image")
    parser.add_argument("--play", type=Path, metavar="BAG", help="joint states besides")
    parser.add_argument("--namespace", default="robot", help="of the bag's robot")
    options = parser.parse_args(args)
    rclpy.init(args=[])
    node = rclpy.create_node("robot")
    if options.images:
        topics = [image_stream(node, options.images, options.megabytes, options.depth)]
    else:
        topics = streams(node, options.factor, options.depth)
    if options.play:
        topics.append(played(node, options.play, options.namespace, options.depth))
    deadline = time.monotonic() + PATIENCE
    while any(topic.publisher.get_subscription_count() < topic.listeners for topic in topics):
        if time.monotonic() > deadline:
            raise SystemExit(f"nobody subscribed within {PATIENCE:g} s")
        time.sleep(0.05)
    print("ready", flush=True)
    limits = [round(options.duration / topic.period) for topic in topics]
    began = time.monotonic()
    while any(topic.sent < limit for topic, limit in zip(topics, limits, strict=True)):
        elapsed = time.monotonic() - began
        for topic, limit in zip(topics, limits, strict=True):
            topic.send_due(elapsed, limit)
        upcoming = min(topic.sent * topic.period for topic in topics)
        time.sleep(max(0.0, upcoming - (time.monotonic() - began)))
    seconds = time.monotonic() - began
    # A message behind all others: without it nobody could count what was lost at the very end.
    time.sleep(SETTLING)
    for topic, limit in zip(topics, limits, strict=True):
        while topic.sent <= limit:
            topic.send()
    time.sleep(SETTLING)
    found = {
        topic.publisher.topic_name: {"sent": topic.sent, "latest": topic.latest} for topic in topics
    }
    print(json.dumps({"seconds": seconds, "topics": found}), flush=True)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    main()
