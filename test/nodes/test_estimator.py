# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The robot moves, and another process says what its parameters are."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from patience import PATIENCE
from rclpy.clock import ClockType
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.time import Time
from ros_client import LATCHED, RosClient, free_port
from ros_parameters import ros_parameters
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import SetBool

from sysid_ros.errors import DataError
from sysid_ros.nodes.demo import ChildProcesses, node_arguments
from sysid_ros.nodes.estimator import node as estimator_node
from sysid_ros.nodes.estimator.node import Estimator
from sysid_ros_interfaces.msg import IdentifiedParameters
from sysid_ros_interfaces.srv import Start


def start_estimator(
    nodes: ChildProcesses, experiment: Path, **parameters: str
) -> subprocess.Popen[bytes]:
    given = {"experiment": str(experiment), **parameters}
    values = ros_parameters(given)
    return nodes.start("estimator", ["sysid_ros.nodes.estimator", "--ros-args", *values])


def on_page(port: int) -> Any:
    """What the page would show."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/progress", timeout=PATIENCE) as answer:
        return json.load(answer)


def listens(client: RosClient, node: str, topic: str) -> bool:
    infos = client.node.get_subscriptions_info_by_topic(topic)
    return any(info.node_name == node for info in infos)


def test_in_simulated_time_commands_keep_their_order_among_ticks_of_the_clock(client: RosClient):
    """However many of both are taken at once, at one instant of this node's clock."""
    overrides = [Parameter("use_sim_time", value=True), Parameter("autostart", value=False)]
    node = Estimator(context=client.node.context, parameter_overrides=overrides)
    node._watch = SimpleNamespace(topics={"/clock": None})
    topics = {name: SimpleNamespace(bag_topic=SimpleNamespace(name=name)) for name in "ct"}
    sent = [("t", 10), ("c", 20), ("t", 30), ("c", 40)]
    for now in (0, 7):  # what comes before the clock does not count
        node.get_clock().set_ros_time_override(Time(nanoseconds=now, clock_type=ClockType.ROS_TIME))
        for name, at in sent:
            info = {"received_timestamp": 50, "source_timestamp": at}
            node._on_message(topics[name], b"", info)
    taken = {(one.topic, one.log_ns, one.publish_ns) for one in node._messages.take()}
    assert taken == {(name, 7, at) for name, at in sent}
    node._watch = None
    node.destroy_node()


def test_messages_that_were_sent_again_are_no_clock_that_was_set_back(client: RosClient):
    """As after the process was held up: those that waited for a lost one arrived before it."""
    node = Estimator(context=client.node.context)
    topic: Any = SimpleNamespace(bag_topic=SimpleNamespace(name="/command"))
    began = time.time_ns() - 10_000_000_000
    received = [0, 6_000_000_000, 1_000_000_000, 2_000_000_000, 7_000_000_000]  # ns since then
    for sent, after in enumerate(received):
        info = {"received_timestamp": began + after, "source_timestamp": began + sent}
        node._on_message(topic, b"", info)
    messages = node._messages.take()
    node.destroy_node()
    assert [message.publish_ns - began for message in messages] == [0, 1, 2, 3, 4]
    after = [message.log_ns - began for message in messages]
    assert after == [0, *3 * [6_000_000_000], 7_000_000_000]


def test_parameters_are_published_while_the_robot_moves(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    arguments = node_arguments(demo_files, tmp_path)
    arguments["excite"] += ("-p", "multisine.duration:=300.0")  # longer than any test
    arguments["sim_robot"] += ("-p", "rate:=100.0")  # so that messages are not most of the work
    for name in ("sim_robot", "excite"):
        nodes.start(name, [f"sysid_ros.nodes.{name}", *arguments[name]])
    state = tmp_path / "state.json"
    experiment = demo_files / "experiment.yaml"
    given = {"state_file": str(state), "most_behind": "30.0", "horizon": "3.0"}
    port = free_port()
    estimator = start_estimator(nodes, experiment, **given, live_page_port=str(port))
    estimates = client.collect(IdentifiedParameters, "/estimator/estimate", LATCHED)
    numbers = client.collect(Float64MultiArray, "/estimator/numbers")
    values = client.collect(Float64, "/estimator/value/elbow_damping")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    # A robot in lock-step moves as fast as the machine can, and must not before it is needed.
    client.wait_until(lambda: listens(client, "estimator", "/command"))
    client.wait_until(
        lambda: client.call(SetBool, "/excite/arm", SetBool.Request(data=True)).success
    )
    client.wait_until(lambda: len(estimates) > 3 and numbers and values)
    names = [parameter.name for parameter in estimates[-1].parameters]
    assert {"shoulder_armature", "elbow_damping", "payload_mass"} <= set(names)
    client.wait_until(lambda: on_page(port)["signals"])
    assert [one["name"] for one in on_page(port)["parameters"]] == names
    stamps = [one.header.stamp.sec + 1e-9 * one.header.stamp.nanosec for one in estimates]
    assert stamps == sorted(set(stamps))
    assert [dim.size for dim in numbers[-1].layout.dim] == [len(names), 3]
    client.wait_until(
        lambda: any(
            status.name == "estimator: estimator" and any(v.key == "windows" for v in status.values)
            for message in diagnostics
            for status in message.status
        )
    )
    estimator.send_signal(signal.SIGINT)
    assert estimator.wait(timeout=PATIENCE) == 0
    kept = json.loads(state.read_text(encoding="utf-8"))
    assert kept["names"] == names
    before = len(estimates)
    nodes.start("recorder", ["sysid_ros.nodes.recorder", *arguments["recorder"]])
    assert client.call(Start, "/recorder/start").success
    enough = {"stop_recorder": "recorder", "precision": "0.9"}
    start_estimator(nodes, experiment, **given, **enough)
    log = tmp_path / "logs" / "estimator.log"
    client.wait_until(lambda: "carrying on from" in log.read_text(encoding="utf-8"))
    client.wait_until(lambda: len(estimates) > before)
    client.wait_until(lambda: "stopping the recording" in log.read_text(encoding="utf-8"))
    told = len(diagnostics)
    client.wait_until(lambda: recorder_states(diagnostics[told:])[-1:] == ["watching"])


def recorder_states(diagnostics: Sequence[DiagnosticArray]) -> list[str]:
    """What the recorder says it does."""
    return [
        pair.value
        for message in diagnostics
        for status in message.status
        if status.name == "recorder: recorder"
        for pair in status.values
        if pair.key == "state"
    ]


def test_what_is_missing_is_said(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    start_estimator(nodes, demo_files / "experiment.yaml")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    client.wait_until(
        lambda: any(
            "/joint_states: no publisher" in status.message
            for message in diagnostics
            for status in message.status
        )
    )


def test_what_stays_missing_is_logged_once(
    client: RosClient, demo_files: Path, monkeypatch: pytest.MonkeyPatch
):
    logged, told = list[str](), list[str]()
    other = client.node.create_publisher(JointState, "/left/joint_states", 10)
    log = SimpleNamespace(info=told.append, warning=logged.append)
    monkeypatch.setattr(estimator_node, "log_of", lambda _: log)
    experiment = Parameter("experiment", value=str(demo_files / "experiment.yaml"))
    node = Estimator(context=client.node.context, parameter_overrides=[experiment])
    for transition in (node.trigger_configure, node.trigger_activate):
        assert transition() == TransitionCallbackReturn.SUCCESS
    client.wait_until(lambda: node.get_publishers_info_by_topic("/left/joint_states"))
    assert told == ["configured for /command, /joint_states, /clock"]
    node._watch.refresh()
    node._on_time()
    assert logged == []  # it may not have been looked for long enough
    for _ in range(3):
        node._logged_at -= 60.0
        node._on_time()
    (said,) = logged
    assert "/joint_states: no publisher; there is /left/joint_states" in said
    client.node.destroy_publisher(other)
    node.destroy_node()


def test_an_estimator_that_is_shut_down_while_active_hears_no_more(
    client: RosClient, demo_files: Path
):
    publisher = client.node.create_publisher(JointState, "/joint_states", 10)
    experiment = Parameter("experiment", value=str(demo_files / "experiment.yaml"))
    node = Estimator(context=client.node.context, parameter_overrides=[experiment])
    client.wait_until(lambda: node.get_publishers_info_by_topic("/joint_states"))
    for transition in (node.trigger_configure, node.trigger_activate):
        assert transition() == TransitionCallbackReturn.SUCCESS
    node._watch.refresh()
    client.wait_until(publisher.get_subscription_count)
    assert node.trigger_shutdown() == TransitionCallbackReturn.SUCCESS
    client.wait_until(lambda: publisher.get_subscription_count() == 0)
    assert node._timers_while_active == []
    node.destroy_node()


def test_an_update_that_fails_ends_the_node_with_what_it_knows(client: RosClient, tmp_path: Path):
    state = tmp_path / "state.json"
    given = Parameter("state_file", value=str(state))
    node = Estimator(context=client.node.context, parameter_overrides=[given])
    failed: Future[None] = Future()
    failed.set_exception(ZeroDivisionError())
    written: list[Path] = []
    node._watch = SimpleNamespace(poll=lambda: None, close=lambda: None)
    node._estimator = SimpleNamespace(keep=written.append)
    node._work = failed
    node._timers_while_active = [node.create_timer(60.0, lambda: None)]
    with pytest.raises(ZeroDivisionError):
        node._go_on()
    node.stop()
    assert written == [state]
    node.destroy_node()


def test_a_file_that_is_no_state_of_its_own_is_not_overwritten(
    client: RosClient, tmp_path: Path, demo_files: Path, monkeypatch: pytest.MonkeyPatch
):
    """As the experiment file itself, by a slip."""
    mine = tmp_path / "mine.yaml"
    mine.write_text("model: arm.xml\n")
    given = {"state_file": str(mine), "experiment": str(demo_files / "experiment.yaml")}
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    node = Estimator(context=client.node.context, parameter_overrides=overrides)
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    logged = list[str]()
    log = SimpleNamespace(warning=logged.append, info=logged.append)
    monkeypatch.setattr(estimator_node, "log_of", lambda _: log)

    def refuse(path: Path) -> None:
        raise DataError(f"{path} holds no state")

    begun = SimpleNamespace(recall=refuse, keep=lambda path: path.write_text("{}"))
    monkeypatch.setattr(estimator_node, "LiveEstimator", lambda *_, **__: begun)
    node._keep(node._begin({}, node._ending))
    assert mine.read_text() == "model: arm.xml\n"
    assert len(logged) == 1 and "that file stays as it is" in logged[0]
    mine.unlink()
    node._keep(node._begin({}, node._ending))
    assert mine.read_text() == "{}"
    node.destroy_node()


def test_a_state_that_could_not_be_written_is_refused_before_anything_is_estimated(
    client: RosClient, tmp_path: Path, demo_files: Path
):
    places = {"experiment": demo_files / "experiment.yaml", "state_file": tmp_path / "no/state"}
    overrides = [Parameter(name, value=str(value)) for name, value in places.items()]
    node = Estimator(context=client.node.context, parameter_overrides=overrides)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    node.destroy_node()


def test_a_problem_that_counts_messages_does_not_fill_the_log(
    client: RosClient, monkeypatch: pytest.MonkeyPatch
):
    """A robot may be switched off overnight."""
    node, logged = Estimator(context=client.node.context), list[str]()
    monkeypatch.setattr(estimator_node, "log_of", lambda _: SimpleNamespace(warning=logged.append))
    for count in range(5):
        node._say(f"none in {count} messages")
    assert logged == ["none in 0 messages"]
    assert node._problem == "none in 4 messages"  # for /diagnostics
    node._logged_at -= 60.0
    node._say("none in 9 messages")
    assert logged[1:] == ["none in 9 messages"]
    node.destroy_node()
