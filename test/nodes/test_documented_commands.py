# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ``ros2`` commands that README and docs show, carried out with real nodes.

Launch files are run by ``test/launch`` where there is a ROS 2 installation.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.request import urlopen

import yaml
from action_msgs.msg import GoalStatus
from demo_bag import write_demo_bag
from docs_commands import PAGES, commands_on
from rclpy.action import ActionClient
from ros2_words import call_service, echo, filled, interface, send_goal
from ros_client import RosClient, free_port
from sensor_msgs.msg import JointState

from sysid_ros.nodes.demo import ChildProcesses, node_arguments

# What needs other packages, the estimator that test_estimator.py and test_trend_status.py run, and
# the node that test_ros2_control_file.py stands in for.
ELSEWHERE = (
    ["ros2", "launch"],
    ["ros2", "bag"],
    ["ros2", "run", "rqt_plot"],
    ["ros2", "run", "sysid_ros", "estimator"],
    ["ros2", "run", "MY_PACKAGE"],
)


def documented(*first: str) -> list[list[str]]:
    """The words after ``ros2`` and some more words, of every command that begins with them."""
    commands = [shlex.split(c.text, comments=True) for p in PAGES for c in commands_on(p, ["ros2"])]
    beginning = ["ros2", *first]
    found = {tuple(words) for words in commands if words[: len(beginning)] == beginning}
    return [list(words[len(beginning) :]) for words in sorted(found)]


# The motion of the demo goes on for as long as a test takes, on however fast a machine.
LONG = ("-p", "multisine.duration:=300.0")


def test_no_command_is_forgotten() -> None:
    here = (
        ["service", "call"],
        ["action", "send_goal"],
        ["topic", "echo"],
        ["run", "sysid_ros", "fit_server"],
        ["run", "sysid_ros", "sim_robot"],
    )
    run = sum(len(documented(*first)) for first in here)
    run += sum(len(documented(*words[1:])) for words in ELSEWHERE)
    assert run == len(documented())
    assert all(documented(*first) for first in here)


def test_commands_that_fit(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
) -> None:
    (arguments,) = documented("run", "sysid_ros", "fit_server")
    output = ("-p", f"output_dir:={tmp_path / 'out'}")
    (named,) = (word for word in arguments if word.startswith("live_page_port:="))
    port = free_port()  # that of the documentation may be taken here
    arguments[arguments.index(named)] = f"live_page_port:={port}"
    nodes.start("fit_server", ["sysid_ros.nodes.fit_server", *arguments, *output])
    topics = [words[-1] for words in documented("topic", "echo") if "/fit_server/" in words[-1]]
    progress = [topic for topic in topics if "/progress/" in topic]
    printed = {topic: echo(client, topic) for topic in topics if topic not in progress}
    bag = write_demo_bag(tmp_path / "bags", duration=5.0)
    for words in documented("action", "send_goal"):
        assert words.pop(0) == "--feedback"
        places = {"/path/experiment.yaml": demo_files / "experiment.yaml", "/path/bag": bag}
        for written, there in places.items():
            words[-1] = words[-1].replace(written, str(there))
        result = send_goal(client, words)
        assert result.error_code == result.NONE, result.error_msg
        printed.update({topic: echo(client, topic) for topic in progress if topic not in printed})
        cancels_what_was_sent(client, words)
    assert b"<html" in urlopen(f"http://127.0.0.1:{port}/").read()
    client.wait_until(lambda: all(printed.values()))


def cancels_what_was_sent(client: RosClient, sent: list[str]) -> None:
    """The documented call cancels the goal of the last words of ``ros2 action send_goal``."""
    name, kind, values = sent
    action = interface(kind)
    goal = filled(action.Goal(), yaml.safe_load(values))
    handle = client.result(ActionClient(client.node, action, name).send_goal_async(goal))
    canceling = f"{name}/_action/cancel_goal"
    for words in documented("service", "call", canceling):
        assert len(call_service(client, [canceling, *words]).goals_canceling) == 1
    assert client.result(handle.get_result_async()).status == GoalStatus.STATUS_CANCELED


def test_a_simulated_robot_in_place_of_the_real_one(
    nodes: ChildProcesses, client: RosClient, demo_files: Path
) -> None:
    (arguments,) = documented("run", "sysid_ros", "sim_robot")
    model = str(demo_files / "arm.xml")
    arguments = [word.replace("/path/my_robot.xml", model) for word in arguments]
    nodes.start("sim_robot", ["sysid_ros.nodes.sim_robot", *arguments])
    states = client.collect(JointState, "/joint_states")
    obeyed = "/position_controller/commands"
    client.wait_until(lambda: states and client.node.count_subscribers(obeyed))


def test_commands_that_record(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
) -> None:
    arguments = node_arguments(demo_files, tmp_path)
    arguments["excite"] += LONG
    arguments["sim_robot"] += ("-p", "rate:=100.0")  # so that messages are not most of the work
    for name in ("sim_robot", "excite", "recorder"):
        nodes.start(name, [f"sysid_ros.nodes.{name}", *arguments[name]])
    experiment = ["--ros-args", "-p", f"experiment:={demo_files / 'experiment.yaml'}"]
    nodes.start("sufficiency", ["sysid_ros.nodes.sufficiency", *experiment, "-p", "load:=1.0"])
    calls = [words for words in documented("service", "call") if "/_action/" not in words[0]]
    arm = [words for words in calls if words[0] == "/excite/arm" and "true" in words[-1]]
    start, stop = (
        next(words for words in calls if words[0] == f"/recorder/{verb}")
        for verb in ("start", "stop")
    )
    disarm = [words for words in calls if "false" in words[-1]]
    assert len([*arm, *disarm, start, stop]) == len(calls)

    (topic,) = (words[-1] for words in documented("topic", "echo") if "/suffic" in words[-1])
    printed = echo(client, topic)
    client.wait_until(lambda: client.node.count_publishers(topic))  # before anything moves
    client.wait_until(lambda: call_service(client, arm[0]).success)
    assert call_service(client, start).success
    client.wait_until(lambda: any(message.parameters for message in printed))
    assert call_service(client, stop).success
    for words in disarm:
        assert call_service(client, words).success
