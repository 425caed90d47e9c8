# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A controller that would take commands for what they do not mean is told none."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from excite_robot import JOINTS, Robot, start_excite
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter
from rclpy.task import Future
from ros_client import LATCHED, RosClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.excite import controller_parameters
from sysid_ros.nodes.excite.controller_parameters import ControllerParameters, misunderstanding

NUMBERS = SimpleNamespace(sends_numbers=True, is_effort=False, joints=JOINTS)
EFFORTS = SimpleNamespace(sends_numbers=True, is_effort=True, joints=JOINTS)
TRAJECTORIES = SimpleNamespace(sends_numbers=False, is_effort=False, joints=JOINTS)
FORWARD = {"joints": list(JOINTS), "interface_name": "position"}
SPLINES = {"joints": ["wrist", *JOINTS], "interpolation_method": "splines"}
PARTIAL = {**SPLINES, "allow_partial_joints_goal": True, "allow_trajectory_replacement": False}


@pytest.mark.parametrize(
    ("told", "settings", "words"),
    [
        (FORWARD, NUMBERS, ""),
        ({**FORWARD, "interface_name": "velocity"}, NUMBERS, "takes numbers as velocity"),
        (FORWARD, EFFORTS, "and excite sends them as effort"),
        ({**FORWARD, "joints": ["elbow", "shoulder"]}, NUMBERS, "elbow, shoulder, in this order"),
        ({**FORWARD, "joints": [*JOINTS, "wrist"]}, NUMBERS, "shoulder, elbow, wrist, in this"),
        ({"joints": ["elbow"]}, NUMBERS, ""),  # no controller's, such as of a node that looks on
        ({"joints": 6, "interface_name": "can0"}, NUMBERS, ""),  # a driver's
        ({"joints": 6, "interpolation_method": "cubic"}, TRAJECTORIES, ""),
        ({**FORWARD, "joints": [f"pid/{joint}" for joint in JOINTS]}, NUMBERS, ""),
        (dict.fromkeys(FORWARD), NUMBERS, ""),
        ({}, TRAJECTORIES, ""),
        (PARTIAL, TRAJECTORIES, ""),
        (SPLINES, TRAJECTORIES, "takes trajectories of the joints wrist, shoulder, elbow"),
        ({**PARTIAL, "joints": ["elbow"]}, TRAJECTORIES, "takes trajectories of the joints elbow"),
        ({**PARTIAL, "interpolation_method": "none"}, TRAJECTORIES, "interpolation_method to spl"),
        ({**PARTIAL, "allow_trajectory_replacement": True}, TRAJECTORIES, "replacement to false"),
    ],
)
def test_what_a_controller_would_make_of_commands_is_told(told: Any, settings: Any, words: str):
    said = misunderstanding(told, settings)
    assert words in said if words else not said


def test_numbers_do_not_go_to_a_controller_that_takes_them_for_those_of_other_joints(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    client.node.declare_parameter("interface_name", "position")
    client.node.declare_parameter("joints", ["elbow", "shoulder"])
    start_excite(nodes, tmp_path)
    robot = Robot(client)
    robot.wait_for("ready")
    refused = robot.arm()
    assert not refused.success
    assert "controller /test_client takes numbers of the joints elbow, shoulder" in refused.message
    assert robot.commands == []
    client.node.set_parameters([Parameter("joints", value=list(JOINTS))])
    client.wait_until(lambda: robot.arm().success)


def test_a_controller_that_comes_after_ready_is_asked_before_anything_moves(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    client.node.declare_parameter("interface_name", "velocity")
    client.node.declare_parameter("joints", list(JOINTS))
    start_excite(nodes, tmp_path, armed="true")
    publisher = client.node.create_publisher(JointState, "/joint_states", 10)
    message = JointState(name=list(JOINTS), position=[0.0, 0.0])
    client.node.create_timer(0.01, lambda: publisher.publish(message))
    states = client.collect(String, "/excite/state", LATCHED)
    client.wait_until(lambda: any(one.data == "ready" for one in states))
    robot = Robot(client)
    client.wait_until(lambda: "takes numbers as velocity" in robot.arm().message)
    assert robot.commands == []
    client.node.set_parameters([Parameter("interface_name", value="position")])
    client.wait_until(lambda: robot.arm().success)


def test_nothing_is_begun_before_it_is_known_who_hears_commands(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    client.node.declare_parameter("interface_name", "velocity")
    client.node.declare_parameter("joints", list(JOINTS))
    start_excite(nodes, tmp_path)
    robot = Robot(client)
    client.wait_until(lambda: "takes numbers as velocity" in robot.arm().message)  # at once
    assert robot.commands == []


class Slow:
    """The client of a node that answers what is asked of it so many looks later."""

    def __init__(self, looks: int, has: dict[str, Any]) -> None:
        self._looks, self._has = looks, has
        self._pending: list[tuple[int, str, Future]] = []
        self.asked: list[str] = []  # names in turn

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: GetParameters.Request) -> Future:
        (name,), answer = request.names, Future()
        self._pending.append((self._looks, name, answer))
        self.asked.append(name)
        return answer

    def remove_pending_request(self, future: Future) -> None:
        self._pending = [one for one in self._pending if one[2] is not future]

    def go_on(self) -> None:
        left = [(looks - 1, *one) for looks, *one in self._pending]
        self._pending = [one for one in left if one[0] > 0]
        for _, name, answer in (one for one in left if one[0] <= 0):
            value = Parameter(name, value=self._has.get(name)).get_parameter_value()
            answer.set_result(GetParameters.Response(values=[value]))


def looked_at(
    monkeypatch: pytest.MonkeyPatch, client: Slow, looks: int
) -> tuple[ControllerParameters, list[str]]:
    """What a controller is known as after so many looks, and the problem at each."""
    now = [100.0]
    monkeypatch.setattr(controller_parameters.time, "monotonic", lambda: now[0])
    node = SimpleNamespace(create_client=lambda *_: client, destroy_client=lambda _: None)
    known, said = ControllerParameters(node, NUMBERS), []
    for _ in range(looks):
        known.look({"/controller"}, True)
        client.go_on()
        said.append(known.problem())
        now[0] += 0.5
    return known, said


def test_a_controller_that_answers_slowly_is_heard(monkeypatch: pytest.MonkeyPatch):
    """What it answered later than it was asked again was dropped, each time."""
    known, said = looked_at(monkeypatch, Slow(10, {**FORWARD, "interface_name": "velocity"}), 40)
    assert "has not told yet" in said[8] and "takes numbers as velocity" in said[-1]
    assert known.settled and not known.is_expected


def test_a_node_is_asked_once_for_what_it_does_not_have(monkeypatch: pytest.MonkeyPatch):
    client = Slow(1, FORWARD)
    known, said = looked_at(monkeypatch, client, 10)
    assert said[-1] == "" and known.settled
    counts = Counter(client.asked)
    assert counts["interpolation_method"] == 1 and counts["joints"] == counts["interface_name"] > 5


def test_a_controller_in_the_place_of_another_is_asked_anew(monkeypatch: pytest.MonkeyPatch):
    known, said = looked_at(monkeypatch, Slow(1, FORWARD), 4)
    assert said[-1] == ""
    known.look({"/other"}, True)
    assert "/other, who hears commands, has not told yet" in known.problem()


def test_who_hears_commands_and_has_no_name_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    """Commands were heard and their listener's name was on its way: that was called ready."""
    now = [100.0]
    monkeypatch.setattr(controller_parameters.time, "monotonic", lambda: now[0])
    known = ControllerParameters(SimpleNamespace(), NUMBERS)
    known.look(set(), False)
    assert known.settled  # nobody is there yet
    known.look(set(), True)
    assert not known.settled and "somebody" in known.problem()
    now[0] += 10.0
    known.look(set(), True)
    assert known.settled and known.problem() == ""
