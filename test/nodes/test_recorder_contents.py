# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A bag explains itself: experiment, model, description and counts are in it, for every reader."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from mcap.reader import make_reader
from recorder_process import RELIABLE, arrived, listening, publish, start_recorder
from ros_client import LATCHED, RosClient
from rosbags.highlevel import AnyReader
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from sysid_ros.nodes.demo import ChildProcesses
from sysid_ros.recording.bags import describe
from sysid_ros_interfaces.srv import Start, Stop

URDF = '<robot name="arm"><link name="base"/></robot>'


def test_experiment_model_description_and_counts_are_in_the_bag(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    experiment = Path(shutil.copytree(demo_files, tmp_path / "demo")) / "experiment.yaml"
    start_recorder(nodes, tmp_path / "bags", "/joint_states", experiment=str(experiment))
    states = client.node.create_publisher(JointState, "/joint_states", RELIABLE)
    description = client.node.create_publisher(String, "/robot_description", LATCHED)
    client.wait_until(lambda: listening(states) and listening(description))
    bag = Path(client.call(Start, "/recorder/start").bag_path)
    description.publish(String(data=URDF))  # it may come late
    publish(states, range(150))
    arrived(description)
    assert client.call(Stop, "/recorder/stop").success

    model = (tmp_path / "demo" / "arm.xml").read_bytes()
    (file,) = bag.glob("*.mcap")
    with file.open("rb") as stream:  # the mcap library finds them by the index
        reader = make_reader(stream)
        attached = {each.name: each.data for each in reader.iter_attachments()}
        records = {each.name: each.metadata for each in reader.iter_metadata()}
    assert attached == {
        "experiment.yaml": experiment.read_bytes(),
        "arm.xml": model,
        "robot_description.xml": URDF.encode(),
    }
    assert records["sysid_ros.model"]["sha256"] == hashlib.sha256(model).hexdigest()
    assert records["sysid_ros.robot_description"]["topic"] == "/robot_description"
    counted = records["sysid_ros.topic /joint_states"]
    assert (counted["received"], counted["lost"]) == ("150", "0")
    assert counted["clock offset (s)"].startswith("none (")  # the test's stamps are of 1970
    with AnyReader([bag]) as bags:
        assert sum(1 for _ in bags.messages()) == bags.message_count == 150

    info = describe(bag)
    assert {each.name for each in info.attachments} == set(attached)
    text = str(info)
    assert "attached arm.xml: application/xml" in text
    assert "topic /joint_states: received 150" in text
    assert "rosbag2_bagfile_information" not in text


@pytest.mark.parametrize("robot", ["", "left"])
def test_everything_that_the_experiment_reads_is_recorded(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path, robot: str
):
    experiment = tmp_path / "experiment.yaml"
    text = (demo_files / "experiment.yaml").read_text().replace("model: arm.xml", "model_topic: /d")
    masks = "enabled_when: {topic: /powered, field: data}\n"
    experiment.write_text(text.replace("model_topic:", f"{masks}model_topic:"))
    start_recorder(nodes, tmp_path / "bags", experiment=str(experiment), robot=robot or "''")
    diagnostics = client.collect(DiagnosticArray, "/diagnostics")
    client.wait_until(lambda: diagnostics)
    names = {status.name for status in diagnostics[-1].status}
    inside = f"/{robot}" if robot else ""
    topics = {f"{inside}/command", f"{inside}/joint_states", f"{inside}/powered", "/d", "/clock"}
    assert names == {"recorder: recorder", *(f"recorder: {topic}" for topic in topics)}


def test_model_that_is_elsewhere_does_not_keep_from_recording(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    experiment = tmp_path / "experiment.yaml"
    shutil.copy(demo_files / "experiment.yaml", experiment)
    start_recorder(nodes, tmp_path / "bags", experiment=str(experiment), robot_description="''")
    started = client.call(Start, "/recorder/start")
    assert started.success, started.message
    log = tmp_path / "logs" / "recorder.log"
    client.wait_until(lambda: "the bag will not name its model" in log.read_text())
