# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A running fit as seen from outside: plain topics, and the page with its button."""

from __future__ import annotations

import http.client
import itertools
import json
import re
from pathlib import Path
from typing import Any

from patience import PATIENCE
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionClient
from ros_client import RosClient, free_port
from ros_parameters import ros_parameters
from std_msgs.msg import Float64

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.fit_server import FITTED, READING
from sysid_ros.nodes.number_topics import NumberTopics, topic_part
from sysid_ros_interfaces.action import FitModel


def ask(port: int, method: str, path: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def start(nodes: ChildProcesses, client: RosClient, tmp_path: Path, **given: Any) -> ActionClient:
    """A server whose fit is the function of the module ``fits`` that the goal names."""
    given = {"output_dir": tmp_path / "results", "ahead": "false", **given}
    values = ros_parameters(given)
    nodes.start("fit_server", ["fit_server_of_fits", "--ros-args", *values])
    action = ActionClient(client.node, FitModel, "/fit_server/fit")
    client.wait_until(action.server_is_ready)
    return action


def test_numbers_are_plain_topics(nodes: ChildProcesses, client: RosClient, tmp_path: Path) -> None:
    action = start(nodes, client, tmp_path)
    costs = client.collect(Float64, "/fit_server/progress/cost")
    shares = client.collect(Float64, "/fit_server/progress/share")
    masses = client.collect(Float64, "/fit_server/progress/values/mass")
    client.wait_until(lambda: client.node.count_publishers("/fit_server/progress/cost"))
    for _ in range(3):  # answers show that the server knows of what was subscribed to before
        client.call(GetParameters, "/fit_server/get_parameters")
    handle = client.result(action.send_goal_async(FitModel.Goal(experiment_yaml="obedient")))
    client.wait_until(lambda: len(costs) > 5 and len(masses) > 5)
    client.result(handle.cancel_goal_async())
    client.result(handle.get_result_async())
    numbers = [message.data for message in costs]
    assert numbers[:3] == [10.0, 5.0, 10.0 / 3.0]
    assert shares[0].data == READING + (FITTED - READING) * 0.1
    client.wait_until(lambda: shares[-1].data == 1.0)  # nothing is left to do
    assert all(b.data == a.data + 1.0 for a, b in itertools.pairwise(masses))
    assert (
        "live page" not in (tmp_path / "logs" / "fit_server.log").read_text()
    )  # none was asked for


def test_the_page_cancels_a_fit(nodes: ChildProcesses, client: RosClient, tmp_path: Path) -> None:
    port = free_port()
    action = start(nodes, client, tmp_path, live_page_port=port)
    handle = client.result(action.send_goal_async(FitModel.Goal(experiment_yaml="obedient")))
    client.wait_until(lambda: json.loads(ask(port, "GET", "/progress")[1])["steps"])
    known = json.loads(ask(port, "GET", "/progress")[1])
    assert (known["state"], known["names"]) == ("running", ["mass", "damping"])
    found = re.search(r'name="token" content="([^"]+)"', ask(port, "GET", "/")[1])
    assert found is not None
    assert ask(port, "POST", "/cancel")[0] == 403
    assert ask(port, "POST", "/cancel", **{"X-Sysid-Ros-Token": found[1]})[0] == 202
    client.result(handle.get_result_async())
    assert json.loads(ask(port, "GET", "/progress")[1])["state"] == "ended"


def test_names_of_parameters_become_names_of_topics() -> None:
    parts: list[str] = []
    for name in ("mass", "link_inertia[3]", "3rd joint/damping", "a-b", "a_b", "[]"):
        parts.append(topic_part(name, parts))
    assert parts == ["mass", "link_inertia_3", "p_3rd_joint_damping", "a_b", "a_b_2", "parameter"]


def test_topics_of_numbers_give_an_executor_nothing_to_look_at(client: RosClient) -> None:
    """Two event handlers of each of 21 publishers took a third of a core."""
    before = len(list(client.node.waitables))
    heard = client.collect(Float64, "/test_client/value/a")
    topics = NumberTopics(client.node, "~/value")
    with_listener = len(list(client.node.waitables))
    for number in range(21):
        topics.publish("abcdefghijklmnopqrstu"[number], float(number))
    assert before < with_listener == len(list(client.node.waitables))
    client.wait_until(lambda: topics.publish("a", 7.0) or (heard and heard[-1].data == 7.0))
