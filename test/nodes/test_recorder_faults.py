# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What recorders suffer: kills, full disks, deleted folders, publishers that die or change."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from recorder_process import (
    RELIABLE,
    arrived,
    joint_state,
    listening,
    publish,
    received,
    recorded,
    start_recorder,
    status_of,
)
from ros_client import RosClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.nodes.recorder.node import Recorder
from sysid_ros.nodes.recorder.topic_statistics import message_times
from sysid_ros.recording.bags import open_recording, recover
from sysid_ros_interfaces.srv import Start, Stop


@pytest.mark.parametrize("sent_after_a_report", [0, 37, 310])
def test_killed_at_any_instant_keeps_what_was_reported(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, sent_after_a_report: int
):
    process = start_recorder(nodes, tmp_path / "bags", "/joint_states", record_on_activate="true")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    sent, to_send = 0, 0

    def far_enough() -> bool:
        nonlocal sent, to_send
        if not to_send and received(diagnostics):
            to_send = sent + sent_after_a_report
        for _ in range(10):
            if not to_send or sent < to_send:
                publisher.publish(joint_state(sent))
                sent += 1
        return bool(to_send) and sent >= to_send

    client.wait_until(far_enough)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (bag,) = (tmp_path / "bags").iterdir()
    assert not (bag / "metadata.yaml").exists()
    for path in (bag, recover(bag).path):
        read = recorded(path)
        assert read == [joint_state(number) for number in range(len(read))]
        assert 0 < received(diagnostics) <= len(read) <= sent


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB, really mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_disk_ends_the_bag_in_good_order(
    nodes: ChildProcesses, client: RosClient, small_disk: Path
):
    start_recorder(
        nodes, small_disk, "/text", "/joint_states", min_free_disk="0.0", record_on_activate="true"
    )
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(String, "/text", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    sent = 0

    def ended() -> bool:
        nonlocal sent
        publisher.publish(String(data=f"{sent:06d}" + 60_000 * "x"))
        sent += 1
        status = status_of(diagnostics, "recorder")
        return status is not None and "No space left on device" in status.message

    client.wait_until(ended)
    assert status_of(diagnostics, "recorder").level == DiagnosticStatus.ERROR
    message = status_of(diagnostics, "recorder").message
    (bag,) = small_disk.iterdir()
    assert (bag / "metadata.yaml").is_file()  # completed, index and all
    with open_recording(bag) as recording:
        texts = [m.data[8:14].decode() for m in recording.messages(["/text"])]
        assert recording.warnings == ()
        assert recording.topic("/text").promised == len(texts)
    assert texts == [f"{number:06d}" for number in range(len(texts))]
    assert 30 < len(texts) < sent
    refused = client.call(Stop, "/recorder/stop")
    assert not refused.success
    assert refused.message == message
    assert refused.messages == len(texts)
    shutil.rmtree(bag)  # with room again, recording is possible again
    assert client.call(Start, "/recorder/start").success


def test_too_little_free_disk_completes_the_bag(
    nodes: ChildProcesses, client: RosClient, small_disk: Path
):
    start_recorder(nodes, small_disk, "/text", min_free_disk="1.5", record_on_activate="true")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(String, "/text", RELIABLE)
    client.wait_until(lambda: listening(publisher))

    def ended() -> bool:
        publisher.publish(String(data=60_000 * "x"))
        status = status_of(diagnostics, "recorder")
        return status is not None and "min_free_disk is 1.5 MB" in status.message

    client.wait_until(ended)
    (bag,) = small_disk.iterdir()
    assert (bag / "metadata.yaml").is_file()


def test_deleted_folder_is_written_anew(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    bag = Path(client.call(Start, "/recorder/start").bag_path)
    sent = publish(publisher, range(100))
    client.wait_until(lambda: received(diagnostics) == 100)
    shutil.rmtree(tmp_path / "bags")
    client.wait_until(
        lambda: (
            "was deleted and has been written anew"
            in getattr(status_of(diagnostics, "recorder"), "message", "")
        )
    )
    sent += publish(publisher, range(100, 150))
    assert client.call(Stop, "/recorder/stop").success
    assert recorded(bag) == sent


def test_publisher_that_dies_and_returns_with_another_type(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", record_on_activate="true")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")

    def says(words: str) -> bool:
        return words in getattr(status_of(diagnostics, "/joint_states"), "message", "")

    with RosClient() as robot:
        publisher = robot.node.create_publisher(JointState, "/joint_states", RELIABLE)
        client.wait_until(lambda: listening(publisher))
        sent = publish(publisher, range(10))
    client.wait_until(lambda: says("its publisher is gone"))
    with RosClient() as robot:
        text = robot.node.create_publisher(String, "/joint_states", 10)
        client.wait_until(lambda: says("recorded as sensor_msgs/msg/JointState, published as std"))
        bag = client.call(Stop, "/recorder/stop").bag_path
        assert recorded(bag) == sent
        assert client.call(Start, "/recorder/start").success  # a new bag may have the new type
        client.wait_until(lambda: listening(text))
        text.publish(String(data="hello"))
        arrived(text)
        with open_recording(client.call(Stop, "/recorder/stop").bag_path) as recording:
            (message,) = recording.messages()
            assert recording.topic("/joint_states").msgtype == "std_msgs/msg/String"
        assert b"hello" in message.data


def test_what_a_publisher_sent_before_it_was_heard_is_told(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    with RosClient() as robot:
        publisher = robot.node.create_publisher(JointState, "/joint_states", RELIABLE)
        publish(publisher, range(5))  # nobody was meant to hear these
        client.wait_until(lambda: listening(publisher))
        assert client.call(Start, "/recorder/start").success
        publish(publisher, range(10))
        client.wait_until(lambda: received(diagnostics) == 10)
    with RosClient() as robot:
        publisher = robot.node.create_publisher(JointState, "/joint_states", RELIABLE)
        missed = publish(publisher, range(7))  # it has only just come
        client.wait_until(lambda: listening(publisher))
        publish(publisher, range(10, 20))
        client.wait_until(lambda: received(diagnostics) >= 20)
    stopped = client.call(Stop, "/recorder/stop")
    assert stopped.success and stopped.lost == 0
    lacking = 20 + len(missed) - stopped.messages
    told = f"up to {lacking} messages that it sent before it was heard are missing"
    assert (told in stopped.message) == (lacking > 0), (lacking, stopped.message)


def test_a_bag_without_messages_is_no_success_and_names_who_is_missing(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    client.wait_until(lambda: status_of(diagnostics, "recorder") is not None)
    own = status_of(diagnostics, "recorder")
    assert own.level == DiagnosticStatus.ERROR
    assert own.message == "/joint_states: no publisher"
    assert client.call(Start, "/recorder/start").success
    stopped = client.call(Stop, "/recorder/stop")
    assert not stopped.success
    assert stopped.message == (
        "the bag holds no message; none of /joint_states came (no publisher)"
    )


def test_silent_topics_are_named_while_there_is_time_with_those_that_may_be_meant(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    for name in ("/left/joint_states", "/command"):
        client.node.create_publisher(JointState, name, RELIABLE)
    client.node.create_subscription(JointState, "/commands", print, 10)  # nobody publishes it
    topics = ("/joint_states", "/comand")
    start_recorder(nodes, tmp_path / "bags", *topics, record_on_activate="true")
    log = tmp_path / "logs" / "recorder.log"
    client.wait_until(lambda: "recording, but" in log.read_text())
    warned = next(line for line in log.read_text().splitlines() if "recording, but" in line)
    assert "none of /joint_states came (no publisher; there is /left/joint_states)" in warned
    assert "none of /comand came (no publisher; there is /command)" in warned


@pytest.fixture
def recorder(client: RosClient, tmp_path: Path) -> Iterator[Callable[..., Recorder]]:
    """Makes a configured recorder of ``/joint_states`` in the test's own process, unspun."""
    made: list[Recorder] = []

    def make(**given: object) -> Recorder:
        given = {"topics": ["/joint_states"], "output_dir": str(tmp_path / "bags"), **given}
        overrides = [Parameter(name, value=value) for name, value in given.items()]
        made.append(Recorder(context=client.node.context, parameter_overrides=overrides))
        assert made[0].trigger_configure() == TransitionCallbackReturn.SUCCESS
        client.wait_until(lambda: made[0].get_publishers_info_by_topic("/joint_states"))
        return made[0]

    publisher = client.node.create_publisher(JointState, "/joint_states", 10)
    yield make
    client.wait_until(lambda: not listening(publisher))  # whatever happened
    for node in made:
        assert node._timers_while_active == []
        node.destroy_node()


def test_a_recorder_that_is_shut_down_while_it_records_completes_its_bag_and_hears_no_more(
    recorder: Callable[..., Recorder], client: RosClient, tmp_path: Path
):
    node = recorder(record_on_activate=True, min_free_disk=0.0)
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    client.wait_until(lambda: client.node.get_subscriptions_info_by_topic("/joint_states"))
    assert node.trigger_shutdown() == TransitionCallbackReturn.SUCCESS
    assert len(list(tmp_path.glob("bags/*/metadata.yaml"))) == 1


def test_simulated_time_leaves_publication_to_the_computers_where_the_clock_is_recorded(
    recorder: Callable[..., Recorder],
):
    node = recorder(use_sim_time=True)
    info = {"received_timestamp": 5, "source_timestamp": 7}
    assert message_times(node, info, 0, has_clock=False) == (0, 0)
    assert message_times(node, info, 0, has_clock=True) == (0, 7)


def test_simulated_time_that_is_set_while_the_node_lives_is_waited_for(
    recorder: Callable[..., Recorder],
):
    """Else everything until the first message of /clock would be dated 1970."""
    node = recorder()
    assert not node._clock_watch.waiting
    node.set_parameters([Parameter("use_sim_time", value=True)])
    assert node._clock_watch.waiting


def test_a_recorder_that_cannot_begin_hears_nothing(recorder: Callable[..., Recorder]):
    node = recorder(record_on_activate=True, min_free_disk=1e9)
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
    assert [one for one in node.subscriptions if one.topic_name == "/joint_states"] == []


def test_a_topic_that_is_named_twice_is_recorded_once_by_the_name_that_the_experiment_has(
    client: RosClient, tmp_path: Path
):
    experiment = tmp_path / "experiment.yaml"
    experiment.write_text(
        "model: arm.xml\nsequences: [bag]\n"
        'signals: [{qpos: elbow, topic: /joint_states, field: "position[0]"}]\n'
    )
    listed = ["/joint_states", "/robot/joint_states", "joint_states", "/motor"]
    given = {"experiment": str(experiment), "topics": listed, "robot_description": ""}
    node = Recorder(
        context=client.node.context,
        parameter_overrides=[Parameter(name, value=value) for name, value in given.items()],
        cli_args=["--ros-args", "-r", "/joint_states:=/robot/joint_states"],
    )
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert list(node._watch.health()) == ["/joint_states", "/motor"]
    node.destroy_node()


def test_a_stop_that_fails_leaves_no_end_that_the_next_bag_would_have(
    recorder: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
):
    def broken() -> None:
        raise RuntimeError("the middleware is gone")

    node = recorder()
    before = node._end_ns
    monkeypatch.setattr(node._watch, "poll", broken)
    with pytest.raises(RuntimeError):
        node._catch_up()
    assert node._end_ns == before


@pytest.mark.parametrize("simulated", [False, True])
def test_latched_messages_are_dated_by_the_recorders_clock(
    recorder: Callable[..., Recorder], simulated: bool
):
    node = recorder(use_sim_time=simulated)
    assert (node._session._now_ns() == 0) == simulated  # no message of /clock has come
