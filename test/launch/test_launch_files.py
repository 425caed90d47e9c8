# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The launch files, really launched, wherever a ROS 2 installation has ``launch``."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import PATIENCE

HERE = Path(__file__).parent

# Our own folder launch/ may answer to `import launch`, but it has no actions.
pytest.importorskip(
    "launch.actions", reason="launch files need the package launch, which comes with ROS 2 only"
)
rclpy_nodes = pytest.importorskip("sysid_ros.nodes.demo", reason="launch files need rclpy")
demo_folder, free_domain = rclpy_nodes.demo_folder, rclpy_nodes.free_domain

pytestmark = pytest.mark.ros_launch


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A ROS domain and log folder of the test's own."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    with free_domain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        yield dict(os.environ)


def ros2(*arguments: str) -> list[str]:
    command = shutil.which("ros2")
    assert command is not None, "there is launch, but no command ros2"
    return [command, *arguments]


@contextmanager
def launched(
    environment: dict[str, str], tmp_path: Path, *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """``ros2 launch sysid_ros ...``, its output in ``tmp_path/output``."""
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(
            ros2("launch", "sysid_ros", *arguments),
            env=environment,
            cwd=tmp_path,
            stdout=output,
            stderr=output,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)  # SIGTERM would orphan the nodes
        process.wait(timeout=PATIENCE)


@contextmanager
def published(environment: dict[str, str]) -> Iterator[None]:
    """Joint states, fifty per second."""
    message = "{name: [shoulder, elbow], position: [0.1, 0.2]}"
    kind = "sensor_msgs/msg/JointState"
    command = ros2("topic", "pub", "--rate", "50", "/joint_states", kind, message)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)


def call(environment: dict[str, str], *arguments: str) -> str:
    """Output of a ros2 command, asked again until it succeeds: discovery takes its time."""
    deadline = time.monotonic() + PATIENCE
    while True:
        done = subprocess.run(
            ros2(*arguments), env=environment, capture_output=True, text=True, timeout=PATIENCE
        )
        if done.returncode == 0:
            return done.stdout
        assert time.monotonic() < deadline, done.stdout + done.stderr


def test_demo_identifies_the_robot(environment: dict[str, str]):
    done = subprocess.run(
        [sys.executable, "-m", "launch_testing.launch_test", str(HERE / "launch_demo.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=4 * PATIENCE,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def test_record_writes_a_bag_on_request(environment: dict[str, str], tmp_path: Path):
    experiment = f"experiment:={demo_folder() / 'experiment.yaml'}"
    with published(environment), launched(environment, tmp_path, "record.launch.py", experiment):
        start = call(
            environment, "service", "call", "/recorder/start", "sysid_ros_interfaces/srv/Start"
        )
        assert "success=True" in start
        call(
            environment, "topic", "echo", "--once", "/joint_states"
        )  # and a bag is begun before it
        stop = call(
            environment, "service", "call", "/recorder/stop", "sysid_ros_interfaces/srv/Stop"
        )
        assert "success=True" in stop
    assert len(list((tmp_path / "bags").glob("rosbag2_*/metadata.yaml"))) == 1


def test_what_no_argument_says_is_as_in_the_parameter_file(
    environment: dict[str, str], tmp_path: Path
):
    file, bags = tmp_path / "robot.yaml", tmp_path / "of_the_file"
    own = f"{{output_dir: {bags}, record_on_activate: true}}"
    file.write_text(f"/**/recorder: {{ros__parameters: {own}}}\n", encoding="utf-8")
    given = [f"experiment:={demo_folder() / 'experiment.yaml'}", f"params_file:={file}"]
    with launched(environment, tmp_path, "record.launch.py", *given):
        call(environment, "service", "call", "/recorder/stop", "sysid_ros_interfaces/srv/Stop")
    assert list(bags.glob("rosbag2_*"))


def test_fit_fits_a_bag_and_tells_who_asks_later(environment: dict[str, str], tmp_path: Path):
    from demo_bag import write_demo_bag

    bag = write_demo_bag(tmp_path / "recordings", duration=6.0)
    goal = f"{{experiment_file: {demo_folder() / 'experiment.yaml'}, bags: [{bag}]}}"
    with launched(environment, tmp_path, "fit.launch.py", f"output_dir:={tmp_path / 'results'}"):
        call(environment, "action", "info", "/fit_server/fit")
        kind = "sysid_ros_interfaces/action/FitModel"
        sent = call(environment, "action", "send_goal", "--feedback", "/fit_server/fit", kind, goal)
        assert "Feedback:" in sent and "iteration: 1" in sent
        assert "Goal finished with status: SUCCEEDED" in sent
        latched = call(environment, "topic", "echo", "--once", "/fit_server/identified_parameters")
        assert "name: payload_mass" in latched


def test_fit_with_a_bag_ends_by_itself(environment: dict[str, str], tmp_path: Path):
    from demo_bag import write_demo_bag

    bag = write_demo_bag(tmp_path / "recordings", duration=6.0)
    arguments = [f"experiment:={demo_folder() / 'experiment.yaml'}", f"bag:={bag}"]
    with launched(environment, tmp_path, "fit.launch.py", *arguments) as process:
        assert process.wait(timeout=PATIENCE) == 0
    assert len(list((tmp_path / "results").glob("*/report.html"))) == 1


def test_failing_identification_fails_the_launch(environment: dict[str, str], tmp_path: Path):
    arguments = ["experiment:=/nowhere/experiment.yaml", "bag:=/nowhere"]
    with launched(environment, tmp_path, "fit.launch.py", *arguments) as process:
        assert process.wait(timeout=PATIENCE) != 0
    assert "/nowhere/experiment.yaml" in (tmp_path / "output").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_launch_that_is_killed_ends_its_nodes(
    environment: dict[str, str], tmp_path: Path, number: signal.Signals
):
    """As by Ctrl-C: a bag is completed."""
    experiment = f"experiment:={demo_folder() / 'experiment.yaml'}"
    given = [experiment, "record_on_activate:=true", f"output_dir:={tmp_path / 'bags'}"]
    with launched(environment, tmp_path, "record.launch.py", *given) as process:
        call(environment, "service", "type", "/recorder/stop")
        deadline = time.monotonic() + PATIENCE
        while not list(tmp_path.glob("bags/*/*.mcap")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(number)
        while not list(tmp_path.glob("bags/*/metadata.yaml")):
            assert time.monotonic() < deadline
            time.sleep(0.1)
