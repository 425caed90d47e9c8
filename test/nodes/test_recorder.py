# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder as a process: what was published is in the bag, whatever becomes of the process."""

from __future__ import annotations

import itertools
import signal
import time
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from patience import PATIENCE
from rclpy.publisher import Publisher
from recorder_process import (
    BEST_EFFORT,
    RELIABLE,
    joint_state,
    listening,
    publish,
    received,
    recorded,
    start_recorder,
    time_of,
)
from ros_client import LATCHED, RosClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.recording.bags import open_recording
from sysid_ros_interfaces.srv import IsPaused, Pause, Resume, Start, Stop


def test_bag_holds_exactly_what_was_published_while_recording(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", "command", "/late", "/description")
    states = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    commands = client.node.create_publisher(Float64MultiArray, "/command", BEST_EFFORT)
    description = client.node.create_publisher(String, "/description", LATCHED)
    description.publish(String(data="<robot/>"))
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    client.wait_until(lambda: all(map(listening, (states, commands, description))))
    publish(states, range(1000, 1010))  # before the start: not in the bag

    started = client.call(Start, "/recorder/start")
    assert started.success, started.message
    sent = publish(states, range(200))
    commands.publish(Float64MultiArray(data=[1.0, 2.0]))
    late = client.node.create_publisher(String, "/late", LATCHED)
    late.publish(String(data="better late"))
    client.wait_until(lambda: listening(late))
    another = client.call(Start, "/recorder/start")  # one bag at a time
    assert not another.success and "/recorder/stop completes it" in another.message
    client.wait_until(lambda: received(diagnostics, "/command") and received(diagnostics, "/late"))
    stopped = client.call(Stop, "/recorder/stop")
    assert stopped.success, stopped.message
    assert stopped.bag_path == started.bag_path
    publish(states, range(1000, 1010))  # after the stop: not in the bag

    assert recorded(stopped.bag_path) == sent
    assert (Path(stopped.bag_path) / "metadata.yaml").is_file()
    with open_recording(stopped.bag_path) as recording:
        counts = {name: info.promised for name, info in recording.topics.items()}
        messages = list(recording.messages(["/joint_states"]))
    assert counts == {"/joint_states": 200, "/command": 1, "/late": 1, "/description": 1}
    delays = [message.log_ns - (message.publish_ns or 0) for message in messages]
    assert all(0 <= delay < 1e9 * PATIENCE for delay in delays)
    assert [m.publish_ns for m in messages] == sorted(m.publish_ns or 0 for m in messages)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_recorder_that_is_asked_to_end_completes_its_bag(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, number: signal.Signals
):
    process = start_recorder(nodes, tmp_path / "bags", "/joint_states", record_on_activate="true")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    sent = publish(publisher, range(20))
    process.send_signal(number)
    assert process.wait(timeout=PATIENCE) == 0
    (bag,) = (tmp_path / "bags").iterdir()
    assert (bag / "metadata.yaml").is_file()
    assert recorded(bag) == sent


def test_pause_leaves_out_and_resume_goes_on(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    assert not client.call(Stop, "/recorder/stop").success
    client.call(Start, "/recorder/start")
    first = publish(publisher, range(5))
    client.call(Pause, "/recorder/pause")
    assert client.call(IsPaused, "/recorder/is_paused").paused
    publish(publisher, range(5, 10))
    client.call(Resume, "/recorder/resume")
    assert not client.call(IsPaused, "/recorder/is_paused").paused
    last = publish(publisher, range(10, 15))
    assert recorded(client.call(Stop, "/recorder/stop").bag_path) == first + last


def test_diagnostics_count_and_warn(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", "/silent", record_on_activate="true")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))

    def status(name: str) -> DiagnosticStatus | None:
        found = [s for m in diagnostics for s in m.status if s.name == f"recorder: {name}"]
        return found[-1] if found else None

    def says(name: str, level: bytes, words: str) -> bool:
        latest = status(name)
        return latest is not None and latest.level == level and words in latest.message

    publish(publisher, range(50))
    client.wait_until(lambda: says("/joint_states", DiagnosticStatus.OK, "receiving"))
    client.wait_until(lambda: says("/silent", DiagnosticStatus.ERROR, "no publisher"))
    client.wait_until(lambda: says("recorder", DiagnosticStatus.ERROR, "/silent: no publisher"))
    publisher.publish(joint_state(900))  # 850 ms later by its stamp
    client.wait_until(lambda: says("/joint_states", DiagnosticStatus.WARN, "1 gaps"))
    values = {entry.key: entry.value for entry in status("/joint_states").values}
    assert values["received"] == "51"
    assert values["lost"] == "0"
    assert float(values["rate (Hz)"]) > 0


def test_lifecycle_is_obeyed(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", autostart="false")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)

    def change(transition: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return bool(client.call(ChangeState, "/recorder/change_state", request).success)

    refused = client.call(Start, "/recorder/start")
    assert (refused.success, refused.message) == (False, "the recorder is not active")
    assert change(Transition.TRANSITION_CONFIGURE)
    assert not listening(publisher)
    assert change(Transition.TRANSITION_ACTIVATE)
    client.wait_until(lambda: listening(publisher))
    assert client.call(Start, "/recorder/start").success
    assert change(Transition.TRANSITION_DEACTIVATE)
    client.wait_until(lambda: not listening(publisher))
    (bag,) = (tmp_path / "bags").iterdir()
    assert (bag / "metadata.yaml").is_file()  # deactivation completed it


def test_bag_that_cannot_be_written_is_refused_with_a_sentence(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    (tmp_path / "bags").write_text("a file where the folder should be")
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    started = client.call(Start, "/recorder/start")
    assert not started.success
    assert str(tmp_path / "bags") in started.message


def test_recorder_with_nothing_to_record_says_so(nodes: ChildProcesses, tmp_path: Path):
    process = nodes.start(
        "recorder",
        ["sysid_ros.nodes.recorder", "--ros-args", "-p", "experiment:=/nowhere/experiment.yaml"],
    )
    log = tmp_path / "logs" / "recorder.log"
    deadline = time.monotonic() + PATIENCE
    while "/nowhere/experiment.yaml" not in log.read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "cannot read the experiment file" in log.read_text()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 0


def test_simulated_time_dates_everything_in_the_bag(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/command", "/clock", use_sim_time="true")
    began = time.time_ns()
    clock = client.node.create_publisher(Clock, "/clock", 10)
    publisher = client.node.create_publisher(Float64MultiArray, "/command", 10)
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    client.wait_until(lambda: listening(publisher) and listening(clock))
    assert client.call(Start, "/recorder/start").success
    for second in (50, 60, 70):
        client.tell_time(
            clock, second * 10**9, lambda second=second: time_of(diagnostics) == second
        )
        publisher.publish(Float64MultiArray(data=[1.0]))
        client.wait_until(
            lambda second=second: received(diagnostics, "/command") == second // 10 - 4
        )
    bag = client.call(Stop, "/recorder/stop").bag_path
    with open_recording(bag) as recording:
        messages = list(recording.messages())
    commands = [m for m in messages if m.topic == "/command"]
    assert [m.log_ns for m in commands] == [50 * 10**9, 60 * 10**9, 70 * 10**9]
    # What was published between two messages of /clock is told apart by the computers' time. The
    # first /clock may come before the recorder knows of any time, and is then left out.
    published = sorted(messages, key=lambda m: m.publish_ns or 0)
    in_turn = [topic for topic, _ in itertools.groupby(m.topic for m in published)]
    assert in_turn[-4:] == ["/clock", "/command", "/clock", "/command"]
    assert all(began < (m.publish_ns or 0) < time.time_ns() for m in messages)


def test_publishers_that_disagree_on_the_type_are_reported_and_recording_goes_on(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", record_on_activate="true")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    with RosClient() as other:  # one participant cannot hold two types of a topic
        other.node.create_publisher(String, "/joint_states", 10)
        client.wait_until(
            lambda: any(
                "published as sensor_msgs/msg/JointState and std_msgs/msg/String" in status.message
                for message in diagnostics
                for status in message.status
            )
        )
    sent = publish(publisher, range(10))
    assert recorded(client.call(Stop, "/recorder/stop").bag_path) == sent


def test_topic_is_still_recorded_when_a_publisher_joins_that_offers_less(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", record_on_activate="true")
    reliable = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(reliable))
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    first = publish(reliable, range(10))
    client.wait_until(lambda: received(diagnostics) == 10)
    lossy = client.node.create_publisher(JointState, "/joint_states", BEST_EFFORT)
    client.wait_until(lambda: listening(lossy) and listening(reliable))
    second = publish(lossy, range(10, 20))
    client.wait_until(lambda: received(diagnostics) == 20)
    third = publish(reliable, range(20, 30))
    client.wait_until(lambda: received(diagnostics) == 30)
    read = recorded(client.call(Stop, "/recorder/stop").bag_path)
    assert read == first + second + third


def publish_until_heard(client: RosClient, publisher: Publisher) -> list[JointState]:
    """Publish regularly until the recorder knows it, which it can do up to now."""
    diagnostics, sent = client.collect(DiagnosticArray, "/diagnostics"), []
    while received(diagnostics) < 20:
        sent.append(joint_state(len(sent)))
        publisher.publish(sent[-1])
        client.spin(0.005)
    return sent


@pytest.mark.parametrize("stop", ["signal", "service"])
def test_what_was_lost_on_the_way_is_waited_for(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, stop: str
):
    """The recorder is held up until the sockets are full: most has to be sent again."""
    process = start_recorder(
        nodes,
        tmp_path / "bags",
        "/joint_states",
        record_on_activate="true",
        stop_timeout=str(PATIENCE),
    )
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    stopping = client.node.create_client(Stop, "/recorder/stop")
    client.wait_until(stopping.service_is_ready)
    sent = publish_until_heard(client, publisher)
    process.send_signal(signal.SIGSTOP)
    for number in range(200):
        sent.append(joint_state(number))
        sent[-1].effort = [0.0] * 1000
        publisher.publish(sent[-1])
    if stop == "signal":
        process.send_signal(signal.SIGINT)
    else:
        answer = stopping.call_async(Stop.Request())
    process.send_signal(signal.SIGCONT)
    # The robot goes on; a middleware that has nothing to send repeats itself rarely.
    while process.poll() is None if stop == "signal" else not answer.done():
        publisher.publish(joint_state(0))
        client.spin(0.005)
    (bag,) = (tmp_path / "bags").iterdir()
    assert recorded(bag)[: len(sent)] == sent


def test_what_is_sent_after_the_stop_is_no_part_of_the_bag(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    """One publisher has just ended and is waited for; another goes on."""
    start_recorder(
        nodes,
        tmp_path / "bags",
        "/joint_states",
        "/command",
        "/note",
        record_on_activate="true",
        stop_timeout="1.0",
    )
    states = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    commands = client.node.create_publisher(Float64MultiArray, "/command", RELIABLE)
    notes = client.node.create_publisher(String, "/note", LATCHED)
    stopping = client.node.create_client(Stop, "/recorder/stop")
    client.wait_until(lambda: all(map(listening, (states, commands, notes))))
    client.wait_until(stopping.service_is_ready)
    commands.publish(Float64MultiArray())
    publish_until_heard(client, states)
    answer = stopping.call_async(Stop.Request())
    asked, noted = time.monotonic(), False
    while not answer.done():
        if not noted and time.monotonic() > asked + 0.5:  # the stop lasts a second
            notes.publish(String(data="latched: for whoever comes later"))
            noted = True
        commands.publish(Float64MultiArray())
        client.spin(0.005)
    answered = time.time_ns()
    if not noted:  # this process got no processor for half a second
        notes.publish(String(data="latched: for whoever comes later"))
    (bag,) = (tmp_path / "bags").iterdir()
    with open_recording(bag) as recording:
        told = [message.publish_ns or 0 for message in recording.messages(["/command"])]
    assert 0 < max(told) < answered - 10**9
    assert client.call(Start, "/recorder/start").success
    stopped = client.call(Stop, "/recorder/stop")
    with open_recording(stopped.bag_path) as recording:
        assert len(list(recording.messages(["/note"]))) == 1
    assert "none of /command came" in stopped.message and "/note" not in stopped.message
