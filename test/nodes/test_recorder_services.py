# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder's services and limits beyond start and stop."""

from __future__ import annotations

from pathlib import Path

import yaml
from diagnostic_msgs.msg import DiagnosticArray
from recorder_process import (
    BEST_EFFORT,
    RELIABLE,
    arrived,
    joint_state,
    listening,
    publish,
    received,
    recorded,
    start_recorder,
    time_of,
)
from ros_client import RosClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.recording.bags import open_recording
from sysid_ros_interfaces.srv import Snapshot, SplitBagfile, Start, Stop


def counts_of(bag: Path) -> list[int]:
    """Messages of each file of a bag, whose names are numbered."""
    information = yaml.safe_load((bag / "metadata.yaml").read_text())
    files = information["rosbag2_bagfile_information"]["files"]
    assert [entry["path"] for entry in files] == [
        f"{bag.name}_{number}.mcap" for number in range(len(files))
    ]
    return [entry["message_count"] for entry in files]


def test_split_goes_on_in_a_new_file_of_the_same_bag(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    bag = Path(client.call(Start, "/recorder/start").bag_path)
    sent = publish(publisher, range(20))
    client.call(SplitBagfile, "/recorder/split_bagfile")
    sent += publish(publisher, range(20, 50))
    assert client.call(Stop, "/recorder/stop").success
    assert counts_of(bag) == [20, 30]
    assert recorded(bag) == sent


def test_bag_is_split_by_time(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", split_duration="1.0")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    bag = Path(client.call(Start, "/recorder/start").bag_path)
    sent = publish(publisher, range(20))
    client.wait_until(lambda: len(list(bag.glob("*.mcap"))) >= 2)
    sent += publish(publisher, range(20, 50))
    assert client.call(Stop, "/recorder/stop").success
    assert len(counts_of(bag)) >= 2
    assert sum(counts_of(bag)) == 50
    assert recorded(bag) == sent


def test_snapshot_writes_the_recent_past(nodes: ChildProcesses, client: RosClient, tmp_path: Path):
    start_recorder(
        nodes,
        tmp_path / "bags",
        "/joint_states",
        snapshot_mode="true",
        snapshot_duration="0.001",  # in which no fifty messages are sent
        use_sim_time="true",  # which passes as the test wants it
    )
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    clock = client.node.create_publisher(Clock, "/clock", 10)
    client.wait_until(lambda: listening(publisher) and listening(clock))

    def goes_on_to(second: int) -> None:
        client.tell_time(clock, second * 10**9, lambda: time_of(diagnostics) == second)

    goes_on_to(10)
    refused = client.call(Start, "/recorder/start")
    assert not refused.success
    assert "snapshot" in refused.message
    publish(publisher, range(10))  # will be too old
    client.wait_until(lambda: received(diagnostics) == 10)
    goes_on_to(11)
    sent = publish(publisher, range(10, 60))
    client.wait_until(lambda: received(diagnostics) == 60)
    assert not (tmp_path / "bags").exists()
    assert client.call(Snapshot, "/recorder/snapshot").success
    (bag,) = (tmp_path / "bags").iterdir()
    assert (bag / "metadata.yaml").is_file()
    assert recorded(bag) == sent
    assert not client.call(Snapshot, "/recorder/snapshot").success  # it is empty now


def test_patterns_find_topics_that_appear_late(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    overrides = tmp_path / "qos.yaml"
    overrides.write_text("/arm/text: {reliability: best_effort, depth: 7}\n")
    start_recorder(
        nodes,
        tmp_path / "bags",
        "'/arm/*'",
        regex="'.*/late'",
        exclude="[/arm/secret]",
        qos_overrides=str(overrides),
        record_on_activate="true",
    )
    publishers = [
        client.node.create_publisher(String, name, 10)
        for name in ("/arm/text", "/arm/secret", "/other")
    ]
    client.wait_until(lambda: listening(publishers[0]))
    late = client.node.create_publisher(String, "/leg/late", 10)
    client.wait_until(lambda: listening(late))
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")

    def heard() -> bool:
        """Say it again: a best-effort subscriber that is still being matched misses the first."""
        for publisher in (*publishers, late):
            publisher.publish(String(data="hello"))
        return all(received(diagnostics, name) for name in ("/arm/text", "/leg/late"))

    client.wait_until(heard)
    (endpoint,) = client.node.get_subscriptions_info_by_topic("/arm/text")
    assert endpoint.qos_profile.reliability.name == "BEST_EFFORT"
    with open_recording(client.call(Stop, "/recorder/stop").bag_path) as recording:
        assert {m.topic for m in recording.messages()} == {"/arm/text", "/leg/late"}


def test_what_an_override_keeps_from_being_heard_is_said(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    overrides = tmp_path / "qos.yaml"
    overrides.write_text("/joint_states: {reliability: reliable, durability: transient_local}\n")
    start_recorder(
        nodes,
        tmp_path / "bags",
        "/joint_states",
        qos_overrides=str(overrides),
        record_on_activate="true",
    )
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    publisher = client.node.create_publisher(JointState, "/joint_states", BEST_EFFORT)
    said = "asks for {reliability: reliable, durability: transient_local}, which a publisher"

    def reported() -> bool:
        publisher.publish(joint_state(0))
        return any(said in s.message for message in diagnostics for s in message.status)

    client.wait_until(reported)
    stopped = client.call(Stop, "/recorder/stop")
    assert not stopped.success
    assert said in stopped.message


def test_bag_is_completed_at_its_longest_duration(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", max_duration="1.0")
    publisher = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    client.wait_until(lambda: listening(publisher))
    bag = Path(client.call(Start, "/recorder/start").bag_path)
    sent = publish(publisher, range(10))
    client.wait_until((bag / "metadata.yaml").is_file)
    stopped = client.call(Stop, "/recorder/stop")
    assert not stopped.success
    assert "reached its limit" in stopped.message
    read = recorded(bag)
    assert read == sent[: len(read)]  # all, unless this machine took a second


def test_what_cannot_be_is_refused_on_a_disk_with_too_little_room(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(nodes, tmp_path / "bags", "/joint_states", min_free_disk="1e9")
    refused = client.call(Start, "/recorder/start")
    assert not refused.success
    assert "min_free_disk is 1e+09 MB" in refused.message
    assert not client.call(Snapshot, "/recorder/snapshot").success  # nor outside of its mode


def test_recording_waits_for_simulated_time_and_survives_its_jump(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
):
    start_recorder(
        nodes, tmp_path / "bags", "/joint_states", use_sim_time="true", record_on_activate="true"
    )
    clock = client.node.create_publisher(Clock, "/clock", 10)
    publisher = client.node.create_publisher(JointState, "/joint_states", 10)
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")

    def own_values() -> dict[str, str]:
        if not diagnostics:
            return {}
        status = diagnostics[-1].status[0]
        return {"message": status.message, **{v.key: v.value for v in status.values}}

    client.wait_until(lambda: own_values().get("message") == "waiting for the topic /clock")
    client.wait_until(lambda: listening(publisher) and listening(clock))
    publisher.publish(joint_state(0))  # there is no time to date it with
    arrived(publisher)
    seen = len(diagnostics)
    client.wait_until(lambda: len(diagnostics) > seen + 1)  # it has been looked at since
    for count, second in enumerate((50, 10), 1):
        client.tell_time(
            clock, second * 10**9, lambda second=second: time_of(diagnostics) == second
        )
        publisher.publish(joint_state(second))
        client.wait_until(lambda count=count: received(diagnostics) == count)
    client.wait_until(lambda: own_values().get("clock jumps") == "1")
    with open_recording(client.call(Stop, "/recorder/stop").bag_path) as recording:
        times = [m.log_ns for m in recording.messages(["/joint_states"])]
    assert times == [50 * 10**9, 10 * 10**9]
