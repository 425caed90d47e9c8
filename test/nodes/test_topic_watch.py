# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What messages cost a node that takes them when it likes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from rclpy import executors
from rclpy.qos import QoSProfile, ReliabilityPolicy
from ros_client import RosClient
from std_msgs.msg import Float64

from sysid_ros.nodes.recorder import topic_watch
from sysid_ros.nodes.recorder.qos_overrides import QosOverride
from sysid_ros.nodes.recorder.topic_selection import TopicSelection
from sysid_ros.nodes.recorder.topic_watch import TopicWatch, WatchCallbacks, WatchedTopic

TOPIC = "/watched"


def watch(client: RosClient, heard: list[bytes], **given: Any) -> TopicWatch:
    """A watch of one topic that is published."""

    def take(topic: WatchedTopic, data: bytes, info: Any) -> None:
        heard.append(data)

    callbacks = WatchCallbacks(
        lambda topic: None, lambda name: None, take, lambda name, count: None
    )
    found = TopicWatch(client.node, TopicSelection([TOPIC]), callbacks, depth=10, **given)
    client.wait_until(lambda: found.refresh() or found.topics)
    return found


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that an executor has waited, in ns at most."""
    found: list[int] = []

    class Counted(executors._rclpy.WaitSet):
        def wait(self, timeout: int) -> None:
            found.append(timeout)
            super().wait(timeout)

    monkeypatch.setattr(executors._rclpy, "WaitSet", Counted)
    return found


def test_messages_that_wait_do_not_keep_an_executor_busy(
    client: RosClient, waits: list[int]
) -> None:
    publisher = client.node.create_publisher(Float64, TOPIC, 10)
    heard: list[bytes] = []
    watched = watch(client, heard)
    client.wait_until(publisher.get_subscription_count)
    client.spin(0.2)  # in which all discovery is over
    publisher.publish(Float64(data=1.0))
    client.spin(0.2)  # in which it arrives
    waits.clear()
    client.spin(0.5)
    # Each wait takes its 20 ms, on a busy machine longer; those of one that is kept busy take none.
    assert 0 < len(waits) < 50
    assert not heard
    client.wait_until(lambda: watched.poll() or heard)


def test_events_are_taken_with_the_messages(client: RosClient) -> None:
    offered = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    client.node.create_publisher(Float64, TOPIC, offered)
    watched = watch(client, [], overrides={TOPIC: QosOverride(reliability="reliable")})
    events: list[int] = []
    for handler in watched._subscriptions[TOPIC].event_handlers:
        handler.callback = lambda event: events.append(event.total_count_change)
    client.wait_until(lambda: watched.poll() or events)
    watched.poll()
    assert events == [1]


def test_what_changes_about_the_publishers_is_said_once(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    log = SimpleNamespace(info=said.append, warning=said.append)
    monkeypatch.setattr(topic_watch, "log_of", lambda node: log)
    client.node.create_publisher(Float64, TOPIC, 10)
    watched = watch(client, [])
    lossy = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    client.node.create_publisher(Float64, TOPIC, lossy)
    client.wait_until(lambda: watched.refresh() or watched.poll() or said)
    anew = f"{TOPIC} is heard anew as best effort and volatile"
    assert said == [f"{anew}: a publisher came that offers less"]
    another: Any = SimpleNamespace(topic_type="std_msgs/msg/String")  # of another process
    monkeypatch.setattr(client.node, "get_publishers_info_by_topic", lambda name: [another])
    for _ in range(2):
        watched.refresh()
    types = "recorded as std_msgs/msg/Float64, published as std_msgs/msg/String"
    assert said[1:] == [f"{TOPIC} is {types}: other types are not recorded"]
    assert watched.health() == {TOPIC: types}


def test_a_remapped_topic_keeps_its_name_and_its_other_name_is_told_where_nobody_publishes_it(
    client: RosClient,
) -> None:
    remapped = ["--ros-args", "-r", "/watched:=/arm/watched"]
    publisher = client.node.create_publisher(Float64, "/watched", 10)
    node = rclpy.create_node("watching", context=client.node.context, cli_args=remapped)
    callbacks = WatchCallbacks(*(lambda *given: None,) * 4)
    selection = TopicSelection(["/watched"], regex="/(arm/)?watched")
    watch = TopicWatch(node, selection, callbacks, depth=10)
    client.wait_until(lambda: node.count_publishers("/watched"))
    watch.refresh()
    said = "no publisher of /arm/watched, its remapping; there is /watched"
    assert watch.health() == {"/watched": said}
    client.node.destroy_publisher(publisher)
    client.node.create_publisher(Float64, "/arm/watched", 10)
    client.wait_until(lambda: watch.refresh() or watch.topics)
    assert watch.topics["/watched"].bag_topic.name == "/watched"
    assert watch.health() == {"/watched": None}  # once: the pattern does not find it again
    watch.close()
    node.destroy_node()
