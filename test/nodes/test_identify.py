# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The client: fits a bag without moving anything, waits for a person, gives up in words."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from demo_bag import write_demo_bag
from patience import PATIENCE
from ros_client import RosClient
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from sysid_ros.nodes.demo import ChildProcesses, node_arguments


def start_identify(nodes: ChildProcesses, **parameters: str) -> subprocess.Popen[bytes]:
    values = [part for name, value in parameters.items() for part in ("-p", f"{name}:={value}")]
    return nodes.start("identify", ["sysid_ros.nodes.identify", "--ros-args", *values])


def test_bag_is_fitted_without_a_robot(nodes: ChildProcesses, tmp_path: Path, demo_files: Path):
    bag = write_demo_bag(tmp_path / "bags", duration=6.0)
    results = tmp_path / "results"
    nodes.start(
        "fit_server",
        ["sysid_ros.nodes.fit_server", "--ros-args", "-p", f"output_dir:={results}"],
    )
    process = start_identify(nodes, experiment=str(demo_files / "experiment.yaml"), bag=str(bag))
    assert process.wait(timeout=PATIENCE) == 0
    log = (tmp_path / "logs" / "identify.log").read_text()
    (folder,) = results.iterdir()
    assert "payload_mass" in log and str(folder) in log
    assert "iteration 2" in log


def test_missing_node_is_named_when_patience_ends(
    nodes: ChildProcesses, tmp_path: Path, demo_files: Path
):
    process = start_identify(nodes, experiment=str(demo_files / "experiment.yaml"), patience="1.0")
    assert process.wait(timeout=PATIENCE) == 4
    log = (tmp_path / "logs" / "identify.log").read_text()
    assert "waited 1 s in vain for the action of the fit server" in log
    assert "Traceback" not in log


def moved(states: list[JointState]) -> float:
    """The largest way of any joint."""
    return float(np.ptp([state.position for state in states], axis=0).max())


def test_robot_moves_only_once_a_person_has_armed_it(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path, demo_files: Path
):
    arguments = node_arguments(demo_files, tmp_path)
    # By the wall clock the robot is seen to rest; in lock-step its time stands.
    arguments["sim_robot"] += ("-p", "lockstep:=0.0")
    arguments["excite"] += ("-p", "use_sim_time:=false")
    arguments["fit_server"] += ("-p", "ahead:=false")  # nothing is fitted
    for name in ("sim_robot", "excite", "recorder", "fit_server"):
        nodes.start(name, [f"sysid_ros.nodes.{name}", *arguments[name]])
    states = client.collect(JointState, "/joint_states")
    start_identify(nodes, experiment=str(demo_files / "experiment.yaml"))
    log = tmp_path / "logs" / "identify.log"
    client.wait_until(lambda: "once you arm it" in log.read_text())
    assert list((tmp_path / "bags").glob("*")) == []
    client.wait_until(lambda: len(states) > 100 and moved(states[-100:]) < 0.01)  # it has settled
    del states[:-1]
    client.spin(1.0)
    assert moved(states) < 0.05
    assert client.call(SetBool, "/excite/arm", SetBool.Request(data=True)).success
    client.wait_until(lambda: list((tmp_path / "bags").glob("*/*.mcap")))
