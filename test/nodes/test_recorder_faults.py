# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What recorders suffer: kills, full disks, deleted folders, publishers that die or change."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from recorder_process import joint_state, listening, publish, recorded, start_recorder
from ros_client import RosClient
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.recording.bags import open_recording, recover
from sysid_ros_interfaces.srv import Start, Stop


@pytest.mark.parametrize("sent_after_a_report", [0, 37, 310])
def test_killed_at_any_instant_keeps_what_was_reported(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, sent_after_a_report: int
):
    process = start_recorder(nodes, tmp_path / "bags", "/joint_states", record_on_activate="true")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(JointState, "/joint_states", 100)
    client.wait_until(lambda: listening(publisher))
    sent, to_send = 0, 0

    def reported() -> int:
        status = status_of(diagnostics, "/joint_states")
        return int(
            next((v.value for v in status.values if v.key == "received"), 0) if status else 0
        )

    def far_enough() -> bool:
        nonlocal sent, to_send
        if not to_send and reported():
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
    for path in (bag, recover(bag).path):
        read = recorded(path)
        assert read == [joint_state(number) for number in range(len(read))]
        assert 0 < reported() <= len(read) <= sent


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


def status_of(diagnostics: list[DiagnosticArray], name: str) -> DiagnosticStatus | None:
    """The newest status of ``recorder: NAME``."""
    found = [s for m in diagnostics for s in m.status if s.name == f"recorder: {name}"]
    return found[-1] if found else None


def test_full_disk_ends_the_bag_in_good_order(
    nodes: ChildProcesses, client: RosClient, small_disk: Path
):
    start_recorder(
        nodes, small_disk, "/text", "/joint_states", min_free_disk="0.0", record_on_activate="true"
    )
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(String, "/text", 100)
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
    shutil.rmtree(bag)  # with room again, recording is possible again
    assert client.call(Start, "/recorder/start").success


def test_too_little_free_disk_completes_the_bag(
    nodes: ChildProcesses, client: RosClient, small_disk: Path
):
    start_recorder(nodes, small_disk, "/text", min_free_disk="1.5", record_on_activate="true")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(String, "/text", 100)
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
    publisher = client.node.create_publisher(JointState, "/joint_states", 100)
    client.wait_until(lambda: listening(publisher))
    bag = Path(client.call(Start, "/recorder/start").bag_path)
    sent = publish(publisher, range(100))
    client.spin(0.7)
    shutil.rmtree(tmp_path / "bags")
    client.wait_until(
        lambda: (
            "was deleted and has been written anew"
            in getattr(status_of(diagnostics, "recorder"), "message", "")
        )
    )
    sent += publish(publisher, range(100, 150))
    client.spin(0.2)
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
        publisher = robot.node.create_publisher(JointState, "/joint_states", 100)
        client.wait_until(lambda: listening(publisher))
        sent = publish(publisher, range(10))
        client.spin(0.3)
    client.wait_until(lambda: says("its publisher is gone"))
    with RosClient() as robot:
        text = robot.node.create_publisher(String, "/joint_states", 10)
        client.wait_until(lambda: says("recorded as sensor_msgs/msg/JointState, published as std"))
        bag = client.call(Stop, "/recorder/stop").bag_path
        assert recorded(bag) == sent
        assert client.call(Start, "/recorder/start").success  # a new bag may have the new type
        client.wait_until(lambda: listening(text))
        text.publish(String(data="hello"))
        client.spin(0.3)
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
        publisher = robot.node.create_publisher(JointState, "/joint_states", 100)
        publish(publisher, range(5))  # nobody was meant to hear these
        client.wait_until(lambda: listening(publisher))
        assert client.call(Start, "/recorder/start").success
        publish(publisher, range(10))
        client.wait_until(lambda: received(diagnostics) == 10)
    with RosClient() as robot:
        publisher = robot.node.create_publisher(JointState, "/joint_states", 100)
        missed = publish(publisher, range(7))  # it has only just come
        client.wait_until(lambda: listening(publisher))
        publish(publisher, range(10, 20))
        client.wait_until(lambda: received(diagnostics) >= 20)
    stopped = client.call(Stop, "/recorder/stop")
    assert stopped.success and stopped.lost == 0
    lacking = 20 + len(missed) - stopped.messages
    told = f"up to {lacking} messages that it sent before it was heard are missing"
    assert (told in stopped.message) == (lacking > 0), (lacking, stopped.message)


def received(diagnostics: list[DiagnosticArray]) -> int:
    """Messages of /joint_states that the newest status counts."""
    status = status_of(diagnostics, "/joint_states")
    values = {value.key: value.value for value in status.values} if status else {}
    return int(values.get("received", 0))


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
