# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A controller that would take commands for what they do not mean is told none."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from excite_robot import JOINTS, Robot, start_excite
from rclpy.parameter import Parameter
from ros_client import LATCHED, RosClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.excite.controller_parameters import misunderstanding

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
