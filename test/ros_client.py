# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A node for tests to talk to other nodes with: never sleeps, always waits for something."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import rclpy
from patience import PATIENCE
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock

_REST = 0.05  # s
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RosClient:
    """Owns a context, a node and an executor."""

    def __enter__(self) -> RosClient:
        self._context = Context()
        rclpy.init(args=[], context=self._context)
        self.node: Node = rclpy.create_node("test_client", context=self._context)
        self._clients: dict[tuple[Any, str], Any] = {}
        self._answered: dict[str, float] = {}  # when a service last did, by time.monotonic()
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        self._context.shutdown()

    def wait_until(self, condition: Callable[[], Any], timeout: float = PATIENCE) -> None:
        """Spin until ``condition`` holds; the test fails if it does not in time."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f"waited {timeout} s in vain"
            self._executor.spin_once(timeout_sec=0.05)

    def spin(self, seconds: float) -> None:
        """Spin for some time, where the test is about what does not happen."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._executor.spin_once(timeout_sec=0.02)

    def result(self, future: Any, timeout: float = PATIENCE) -> Any:
        """The result of a future."""
        self.wait_until(future.done, timeout)
        return future.result()

    def call(self, service_type: Any, name: str, request: Any = None) -> Any:
        """Call a service, once it is there; one that is asked again and again has a rest between.

        Its client stays: a new one may be answered before the server knows of it, which drops the
        answer.
        """
        if (service_type, name) not in self._clients:
            self._clients[service_type, name] = self.node.create_client(service_type, name)
        client = self._clients[service_type, name]
        self.wait_until(client.service_is_ready)
        self.spin(self._answered.get(name, -_REST) + _REST - time.monotonic())
        response = self.result(client.call_async(request or service_type.Request()))
        self._answered[name] = time.monotonic()
        return response

    def tell_time(self, clock: Publisher, instant_ns: int, heard: Callable[[], Any]) -> None:
        """Publish a simulation's time until it was heard: nodes take ``/clock`` as best effort."""
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(instant_ns, 10**9)

        def told() -> Any:
            clock.publish(message)
            return heard()

        self.wait_until(told)

    def collect(self, message_type: Any, topic: str, qos: Any = 1000) -> list[Any]:
        """A list that grows with the messages of a topic."""
        messages: list[Any] = []
        self.node.create_subscription(message_type, topic, messages.append, qos)
        return messages
