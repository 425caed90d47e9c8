# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Real nodes in real processes: each test has a ROS domain of its own, and ends what it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="the nodes need ROS 2 (rclpy)")

from ros_client import RosClient  # after the skip: it imports rclpy

from sysid_ros.nodes.child_processes import ChildProcesses
from sysid_ros.nodes.demo import demo_folder, free_domain

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ros_environment(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Environment of processes that see each other and nothing else."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(free_domain()))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "test"), str(ROOT)]))
    return dict(os.environ)


@pytest.fixture
def nodes(ros_environment: dict[str, str], tmp_path: Path) -> Iterator[ChildProcesses]:
    """Starts node processes; their logs are in ``tmp_path/logs``."""
    with ChildProcesses(ros_environment, tmp_path / "logs") as children:
        yield children


@pytest.fixture
def client(ros_environment: dict[str, str]) -> Iterator[RosClient]:
    """A node in the test's own process."""
    with RosClient() as ros:
        yield ros


@pytest.fixture
def demo_files() -> Path:
    """The demo's model, experiment and settings."""
    return demo_folder()
