# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of running nodes: checked at the start, named where misspelt, never set in vain."""

from __future__ import annotations

from pathlib import Path

import pytest
import rclpy
from patience import PATIENCE
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import DescribeParameters, SetParameters
from rclpy.context import Context
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from recorder_process import start_recorder
from ros_client import RosClient

from sysid_ros.errors import ErrorCode
from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.estimator.node import Estimator
from sysid_ros.nodes.parameters import NodeParameters


def assign(client: RosClient, node: str, name: str, value: ParameterValue) -> tuple[bool, str]:
    """Whether a node takes a new value, and why not."""
    request = SetParameters.Request(parameters=[ParameterMessage(name=name, value=value)])
    (result,) = client.call(SetParameters, f"/{node}/set_parameters", request).results
    return result.successful, result.reason


def text(value: str) -> ParameterValue:
    return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)


def number(value: float) -> ParameterValue:
    return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)


def test_new_value_is_refused_with_a_reason_where_it_would_change_nothing(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    taken, why = assign(client, "recorder", "max_size", number(5.0))
    assert (taken, "read-only" in why) == (False, True)
    taken, why = assign(client, "recorder", "regex", text("/arm/.*"))
    assert (taken, "clean it up first" in why) == (False, True)
    taken, _ = assign(client, "recorder", "regex", number(1.0))  # another type
    assert not taken


def test_new_value_takes_effect_before_the_recorder_is_configured(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", autostart="false")
    assert assign(client, "recorder", "regex", text("/arm/.*")) == (True, "")


def test_range_is_told_and_kept(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    request = DescribeParameters.Request(names=["max_size"])
    (said,) = client.call(DescribeParameters, "/recorder/describe_parameters", request).descriptors
    assert said.read_only
    assert said.additional_constraints == "at least 0"


@pytest.mark.parametrize(
    ("node", "given", "words"),
    [
        ("fit_server", "nice:=40", "parameter nice of fit_server must be from 0 to 19, given 40"),
        ("estimator", "nice:=40", "parameter nice of estimator must be from 0 to 19, given 40"),
        ("fit_server", "nice:=", "ROS arguments: failed to initialize rcl"),
        ("identify", "bag:=/bag", "the parameter experiment must name a file"),
        ("identify", "recordings:=0", "parameter recordings of identify must be at least 1"),
    ],
)
def test_what_a_parameter_cannot_be_is_one_sentence(
    nodes: ChildProcesses, tmp_path: Path, node: str, given: str, words: str
) -> None:
    process = nodes.start(node, [f"sysid_ros.nodes.{node}", "--ros-args", "-p", given])
    assert process.wait(timeout=PATIENCE) == ErrorCode.INVALID_EXPERIMENT
    log = (tmp_path / "logs" / f"{node}.log").read_text()
    assert f"error: {words}" in log
    assert "Traceback" not in log


def test_a_topic_that_cannot_be_is_named(nodes: ChildProcesses, tmp_path: Path, client: RosClient):
    start_recorder(nodes, tmp_path / "bags", "a b")
    log = tmp_path / "logs" / "recorder.log"
    client.wait_until(lambda: log.exists() and "recorder: 'a b': " in log.read_text())
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("max_gab", "no parameter max_gab; did you mean max_gap?"),
        ("zzz", "no parameter zzz; valid:"),
        ("qos_overrides./joint_states.subscription.depth", "subscription.depth changes nothing"),
    ],
)
def test_misspelt_parameter_is_named(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, given: str, words: str
):
    file = tmp_path / "params.yaml"
    file.write_text(f"/**:\n  ros__parameters:\n    {given}: 0.3\n    topics: [/joint_states]\n")
    nodes.start("recorder", ["sysid_ros.nodes.recorder", "--ros-args", "--params-file", str(file)])
    log = tmp_path / "logs" / "recorder.log"
    client.wait_until(lambda: log.exists() and words in log.read_text())


def test_simulated_time_that_does_not_come_is_said(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", use_sim_time="true")
    log = tmp_path / "logs" / "recorder.log"
    client.wait_until(lambda: log.exists() and "nothing came on /clock for 5 s" in log.read_text())


def test_estimator_takes_no_other_experiment_once_it_is_configured(
    ros_environment: dict[str, str], demo_files: Path
):
    context = Context()
    rclpy.init(args=[], context=context)
    experiment = str(demo_files / "experiment.yaml")
    given = [Parameter("experiment", value=experiment)]
    node = Estimator(context=context, parameter_overrides=given)
    try:
        (before,) = node.set_parameters(given)
        assert before.successful
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        (refused,) = node.set_parameters([Parameter("experiment", value="/other.yaml")])
        assert not refused.successful
        assert "when the estimator is configured" in refused.reason
        assert node.get_parameter("experiment").value == experiment
        assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
        (after,) = node.set_parameters([Parameter("experiment", value="/other.yaml")])
        assert after.successful
    finally:
        node.destroy_node()
        context.shutdown()


@pytest.mark.usefixtures("ros_environment")
def test_limits_that_would_not_count_are_not_taken() -> None:
    """Whoever lowers them while a robot moves must not believe that it heeds them."""
    given = Parameter("limits.velocity", value=[1, 2])
    with RosClient() as client:
        node = Node("excite", context=client.node.context, parameter_overrides=[given])
        declared = NodeParameters(node)
        assert declared.numbers("limits.velocity", "rad/s").tolist() == [1.0, 2.0]
        assert declared.numbers("limits.effort", "N m").size == 0
        for name in ("limits.velocity", "limits.effort"):
            (result,) = node.set_parameters([Parameter(name, value=[0.1, 0.1])])
            assert not result.successful and "read-only" in result.reason
        node.destroy_node()
