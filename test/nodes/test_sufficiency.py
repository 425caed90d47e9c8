# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The robot moves, the recorder writes, and a third process says when it has been enough."""

from __future__ import annotations

import subprocess
from pathlib import Path

from diagnostic_msgs.msg import DiagnosticArray
from patience import PATIENCE
from ros_client import LATCHED, RosClient
from ros_parameters import ros_parameters
from std_msgs.msg import Float64
from std_srvs.srv import SetBool

from sysid_ros.errors import ErrorCode
from sysid_ros.nodes.demo import ChildProcesses, node_arguments
from sysid_ros_interfaces.msg import Sufficiency
from sysid_ros_interfaces.srv import Start, Stop


def start_judge(
    nodes: ChildProcesses, experiment: Path, **parameters: str
) -> subprocess.Popen[bytes]:
    given = {"experiment": str(experiment), "period": "0.5", **parameters}
    values = ros_parameters(given)
    return nodes.start("sufficiency", ["sysid_ros.nodes.sufficiency", "--ros-args", *values])


def test_recording_is_judged_while_it_goes_on(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    arguments = node_arguments(demo_files, tmp_path)
    arguments["excite"] += ("-p", "multisine.duration:=300.0")  # longer than any test
    for name in ("sim_robot", "excite", "recorder"):
        nodes.start(name, [f"sysid_ros.nodes.{name}", *arguments[name]])
    start_judge(nodes, demo_files / "experiment.yaml", load="1.0", precision="0.3")
    verdicts = client.collect(Sufficiency, "/sufficiency/sufficiency", LATCHED)
    progress = client.collect(Float64, "/sufficiency/progress/elbow_armature")
    # A robot in lock-step moves as fast as the machine can, and must not before it is needed.
    client.wait_until(lambda: client.node.count_publishers("/sufficiency/sufficiency"))
    client.wait_until(
        lambda: client.call(SetBool, "/excite/arm", SetBool.Request(data=True)).success
    )
    bag = client.call(Start, "/recorder/start").bag_path
    client.wait_until(lambda: any(v.parameters for v in verdicts))
    latest = next(v for v in reversed(verdicts) if v.parameters)
    assert latest.bag == bag
    names = {parameter.name for parameter in latest.parameters}
    assert {"shoulder_armature", "elbow_damping", "payload_mass"} <= names
    assert latest.message.startswith("after ")
    assert latest.windows >= 1
    for parameter in latest.parameters:
        assert 0.0 <= parameter.progress <= 1.0
        assert parameter.sufficient == (parameter.progress >= 1.0)
        assert parameter.target > 0.0
    client.wait_until(lambda: progress)
    assert client.call(Stop, "/recorder/stop").success
    before = len(verdicts)
    client.wait_until(lambda: len(verdicts) > before)  # the last word on this bag


def test_reason_is_told_where_nothing_can_be_said(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    nodes.start(
        "recorder",
        [
            "sysid_ros.nodes.recorder",
            *("--ros-args", "-p", f"experiment:={demo_files / 'experiment.yaml'}"),
            *("-p", f"output_dir:={tmp_path / 'bags'}"),
        ],
    )
    start_judge(nodes, demo_files / "experiment.yaml")
    verdicts = client.collect(Sufficiency, "/sufficiency/sufficiency", LATCHED)
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    client.wait_until(lambda: diagnostics)
    assert client.call(Start, "/recorder/start").success
    client.wait_until(lambda: any("holds no messages" in v.message for v in verdicts))
    assert not any(v.sufficient or v.parameters for v in verdicts)


def test_a_recorder_of_another_namespace_is_not_followed(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    experiment = demo_files / "experiment.yaml"
    for side in ("left", "right"):  # /diagnostics is the same for all
        name = ["-r", f"__ns:=/{side}", "-p", f"experiment:={experiment}"]
        given = [*name, "-p", f"output_dir:={tmp_path / side}"]
        nodes.start(f"recorder_{side}", ["sysid_ros.nodes.recorder", "--ros-args", *given])
    nodes.start("sufficiency", ["sysid_ros.nodes.sufficiency", "--ros-args", *name])
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    verdicts = client.collect(Sufficiency, "/right/sufficiency/sufficiency", LATCHED)
    client.wait_until(lambda: client.node.count_publishers("/right/sufficiency/sufficiency"))
    bags = [client.call(Start, f"/{side}/recorder/start").bag_path for side in ("left", "right")]

    def told(bag: str) -> int:
        statuses = [status for message in diagnostics for status in message.status]
        return sum(any(pair.value == bag for pair in status.values) for status in statuses)

    client.wait_until(lambda: verdicts and all(told(bag) > 2 for bag in bags))
    assert {verdict.bag for verdict in verdicts} == {bags[1]}


def test_experiment_is_required(nodes: ChildProcesses, tmp_path: Path):
    process = start_judge(nodes, tmp_path / "nowhere.yaml")
    assert process.wait(timeout=PATIENCE) == ErrorCode.INVALID_EXPERIMENT
    assert "must name a file" in (tmp_path / "logs" / "sufficiency.log").read_text()
