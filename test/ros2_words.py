# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What ``ros2 service call``, ``action send_goal`` and ``topic echo`` do, on rclpy alone.

Their package ros2cli comes with ROS 2 only. Names of services and fields, types and YAML are those
of the command line, so that a command in the documentation that is wrong fails here.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from patience import PATIENCE
from rclpy.action import ActionClient
from rclpy.qos import QoSProfile
from ros_client import RosClient


def interface(name: str) -> Any:
    """The class of an interface, such as ``std_srvs/srv/SetBool``."""
    package, kind, cls = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), cls)


def filled(message: Any, values: Mapping[str, Any]) -> Any:
    """A message with fields set by name; a name or a type that it lacks fails."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            filled(getattr(message, name), value)
        else:
            setattr(message, name, value)
    return message


def call_service(client: RosClient, words: Sequence[str]) -> Any:
    """The response to ``ros2 service call NAME TYPE [YAML]``, given its last words."""
    name, kind, *values = words
    service = interface(kind)
    request = filled(service.Request(), yaml.safe_load(values[0]) if values else {})
    return client.call(service, name, request)


def send_goal(client: RosClient, words: Sequence[str], timeout: float = PATIENCE) -> Any:
    """The result of ``ros2 action send_goal NAME TYPE YAML``, given its last words."""
    name, kind, values = words
    action = ActionClient(client.node, interface(kind), name)
    client.wait_until(action.server_is_ready)
    goal = filled(interface(kind).Goal(), yaml.safe_load(values))
    handle = client.result(action.send_goal_async(goal))
    assert handle.accepted
    return client.result(handle.get_result_async(), timeout).result


def echo(client: RosClient, topic: str) -> list[Any]:
    """A list that grows with what ``ros2 topic echo TOPIC`` prints, once it is published."""
    client.wait_until(lambda: client.node.get_publishers_info_by_topic(topic))
    publisher = client.node.get_publishers_info_by_topic(topic)[0]
    kept = QoSProfile(depth=10, durability=publisher.qos_profile.durability)
    return client.collect(interface(publisher.topic_type), topic, kept)
