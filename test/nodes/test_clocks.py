# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The clock that dates messages: what is said of its jumps."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.parameter import Parameter
from ros_client import RosClient
from rosgraph_msgs.msg import Clock

from sysid_ros.nodes.clocks import ClockWatch


def watched(client: RosClient) -> tuple[ClockWatch, Callable[[int], None]]:
    """A watch of the client's clock, and what sets that clock, ns, and waits until it is heard."""
    node = client.node
    node.set_parameters([Parameter("use_sim_time", value=True)])
    watch = ClockWatch(node)
    clock = node.create_publisher(Clock, "/clock", 10)
    client.wait_until(lambda: clock.get_subscription_count() == 1)

    def tell(instant: int) -> None:
        client.tell_time(clock, instant, lambda: node.get_clock().now().nanoseconds == instant)

    return watch, tell


def test_the_first_jump_of_a_simulation_that_began_near_zero_is_said(client: RosClient):
    watch, tell = watched(client)
    said = []
    for instant in (10, 900, 20):  # ms; the last by one that has begun anew
        tell(10**6 * instant)
        said.append(watch.look())
    assert said == ["", "", "the clock jumped back by 0.88 s"]


def test_time_that_went_on_while_the_node_was_held_up_is_no_jump(client: RosClient):
    watch, tell = watched(client)
    said = []
    for seconds, held_up in ((10, 0.0), (20, 1000.0), (1900, 1000.0)):
        watch._looked -= held_up
        tell(10**9 * seconds)
        said.append(watch.look())
    assert said == ["", "", "the clock jumped forward by 1.88e+03 s"]


def test_two_simulations_at_once_are_named(client: RosClient):
    node = client.node
    node.set_parameters([Parameter("use_sim_time", value=True)])
    watch = ClockWatch(node)
    first, second = (node.create_publisher(Clock, "/clock", 10) for _ in range(2))

    def jumped(seconds: int) -> str:
        told = seconds * 10**9
        client.tell_time(first, told, lambda: node.get_clock().now().nanoseconds == told)
        return watch.look()

    client.wait_until(lambda: first.get_subscription_count() == 1)
    client.wait_until(lambda: node.count_publishers("/clock") == 2)
    assert jumped(10) == ""
    said = "the clock jumped forward by 50 s"
    assert jumped(60) == f"{said}; 2 nodes publish /clock"
    node.destroy_publisher(second)
    client.wait_until(lambda: node.count_publishers("/clock") == 1)
    assert jumped(110) == said
