# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A fitted recording reaches ROS: measured and simulated, in time with each other."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE
from pendulum_result import DURATION, MODEL, measured, write_pendulum_result
from ros_client import LATCHED, RosClient
from ros_parameters import ros_parameters
from sensor_msgs.msg import JointState

from sysid_ros.errors import ErrorCode
from sysid_ros.nodes.demo import ChildProcesses

MODULE = "sysid_ros.nodes.replay"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pendulum_result(tmp_path_factory.mktemp("results"))


def arguments(**given: object) -> list[str]:
    return ["--ros-args", *ros_parameters(given)]


def stamp(message: JointState) -> float:
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def test_both_robots_move_in_time(nodes: ChildProcesses, client: RosClient, result: Path) -> None:
    states = {
        robot: client.collect(JointState, f"/{robot}/joint_states")
        for robot in ("measured", "simulated")
    }
    nodes.start("replay", [MODULE, *arguments(result=result, rate=2.0, frequency=100.0)])

    def paired() -> list[tuple[JointState, JointState]]:
        """Those of one instant; of the first ones, only one robot's may have been heard."""
        simulated = {stamp(message): message for message in states["simulated"]}
        return [(m, simulated[stamp(m)]) for m in states["measured"] if stamp(m) in simulated]

    client.wait_until(lambda: len(paired()) > 150)
    pairs = paired()
    for real, model in pairs:
        assert real.name == model.name == ["shoulder"]
        assert abs(model.position[0] - real.position[0] - 0.8) < 0.01
    # At twice the speed: one second shows two, after which it begins again.
    positions = np.array([real.position[0] for real, _ in pairs])
    assert positions.max() > 0.95
    assert (np.diff(positions) < -0.5).any()
    elapsed = np.array([stamp(real) - stamp(pairs[0][0]) for real, _ in pairs])
    begin = np.arctan2(positions[0], pairs[0][0].velocity[0])
    phase = (begin + 2 * elapsed) % DURATION
    clear = (elapsed < 0.3) & (phase > 0.05) & (phase < DURATION - 0.05)  # of the jump
    np.testing.assert_allclose(positions[clear], measured(phase[clear]), atol=0.06)
    assert pairs[0][0].velocity[0] == pytest.approx(np.cos(begin), abs=0.02)


def test_a_planned_motion_is_shown_before_anything_moves(
    nodes: ChildProcesses, client: RosClient, tmp_path: Path
) -> None:
    (tmp_path / "arm.xml").write_text(MODEL)
    (tmp_path / "experiment.yaml").write_text("model: arm.xml\nsequences: [bag]\n")
    (tmp_path / "motion.csv").write_text("time,elbow\n0,0.1\n1,0.5\n2,0.1\n")
    states = client.collect(JointState, "/planned/joint_states")
    simulated = client.collect(JointState, "/simulated/joint_states")
    given = {"result": tmp_path / "experiment.yaml", "motion": tmp_path / "motion.csv"}
    nodes.start("replay", [MODULE, *arguments(**given, rate=4.0)])
    client.wait_until(lambda: max((state.position[0] for state in states), default=0.0) > 0.45)
    client.wait_until(lambda: len(simulated) > 10)
    assert states[0].name == ["elbow"]
    assert all(0.1 <= state.position[0] <= 0.5 for state in states)


@pytest.mark.skipif(
    find_spec("tf2_msgs") is None or find_spec("visualization_msgs") is None,
    reason="tf2_msgs and visualization_msgs come with a ROS installation",
)
@pytest.mark.parametrize("inside", ["", "left/"])
def test_frames_and_shapes_of_both_robots(
    nodes: ChildProcesses, client: RosClient, result: Path, inside: str
) -> None:
    from tf2_msgs.msg import TFMessage
    from visualization_msgs.msg import Marker, MarkerArray

    messages = client.collect(TFMessage, "/tf")
    namespace = ["-r", f"__ns:=/{inside.strip('/')}"] if inside else []
    nodes.start("replay", [MODULE, *arguments(result=result, apart=0.5), *namespace])
    real = client.collect(MarkerArray, f"/{inside}measured/robot", LATCHED)
    ghost = client.collect(MarkerArray, f"/{inside}simulated/robot", LATCHED)
    client.wait_until(lambda: len(messages) > 10 and real and ghost)
    transforms = {t.child_frame_id: t for message in messages for t in message.transforms}
    assert transforms[f"{inside}measured/lower"].header.frame_id == f"{inside}measured/upper"
    assert transforms[f"{inside}simulated/upper"].transform.translation.z == 1.0
    assert transforms[f"{inside}simulated/world"].transform.translation.y == 0.5
    assert transforms[f"{inside}simulated/world"].header.frame_id == "world"
    assert [m.type for m in real[0].markers[:3]] == [Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE]
    assert real[0].markers[3].header.frame_id == f"{inside}measured/lower"
    assert real[0].markers[0].color.a == 1.0
    assert 0.0 < ghost[0].markers[0].color.a < 1.0


def run(ros_environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        env=ros_environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


def test_once_ends_by_itself(ros_environment: dict[str, str], result: Path) -> None:
    ended = run(ros_environment, "sysid_ros", "replay", str(result), "--once", "--rate", "10")
    assert ended.returncode == 0, ended.stderr
    assert "replaying held_out: 2.0 s, joints shoulder" in ended.stderr


def test_what_is_wrong_is_said(ros_environment: dict[str, str], result: Path) -> None:
    ended = run(ros_environment, "sysid_ros", "replay", str(result), "--sequence", "other")
    assert ended.returncode == ErrorCode.DATA_UNUSABLE
    assert "held_out" in ended.stderr
    ended = run(ros_environment, MODULE, *arguments(result=result, rate=-1.0))
    assert ended.returncode == ErrorCode.INVALID_EXPERIMENT
    assert "rate" in ended.stderr


def test_a_result_is_required(ros_environment: dict[str, str]) -> None:
    ended = run(ros_environment, MODULE)
    assert ended.returncode == ErrorCode.INVALID_EXPERIMENT
    assert ended.stderr == "error: parameter result of replay must name the folder of a result\n"
