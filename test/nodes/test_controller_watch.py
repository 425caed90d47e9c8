# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A controller that is not active is named with the state that it has, and nothing moves then."""

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from excite_robot import LONG_LIMITS, LONG_MOTION, Robot, start_excite
from ros_client import RosClient

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.excite.controller_watch import controller_problem

CONTROLLERS = [
    SimpleNamespace(name="arm", state="active"),
    SimpleNamespace(name="hand", state="inactive"),
]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("arm", ""),
        ("hand", "controller 'hand' is inactive, not active"),
        ("leg", "there is no controller 'leg'; there are: arm, hand"),
    ],
)
def test_controller_that_is_not_active_is_named(name: str, problem: str):
    assert controller_problem(name, CONTROLLERS) == problem


@pytest.mark.skipif(
    find_spec("controller_manager_msgs") is None,
    reason="controller_manager_msgs comes with a ROS installation",
)
def test_the_controller_manager_is_asked_before_and_during_the_motion(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    from controller_manager_msgs.msg import ControllerState
    from controller_manager_msgs.srv import ListControllers

    arm = ControllerState(name="arm", state="inactive")

    def answer(request: Any, response: Any) -> Any:
        response.controller = [ControllerState(name="hand", state="active"), arm]
        return response

    client.node.create_service(ListControllers, "/controller_manager/list_controllers", answer)
    start_excite(nodes, tmp_path, LONG_MOTION, **LONG_LIMITS, controller="arm")
    robot = Robot(client)
    robot.wait_for("ready")
    refused = []

    def refusal() -> str:
        refused.append(robot.arm().message)
        return refused[-1]

    # Until the first answer has come, that is what is said.
    client.wait_until(lambda: refusal() == "controller 'arm' is inactive, not active")
    assert set(refused[:-1]) <= {
        "/controller_manager does not say whether the controller 'arm' is active"
    }
    assert robot.commands == []
    arm.state = "active"
    client.wait_until(lambda: not refusal())
    robot.wait_for_commands(20)
    arm.state = "finalized"
    robot.wait_for("stopped: controller 'arm' is finalized, not active")
    robot.wait_for_rest()
    robot.limits = (4.0, 30.0)
    robot.assert_no_step()
