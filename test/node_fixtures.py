# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fixtures for real nodes in real processes; each test has a ROS domain of its own.

A folder of such tests takes them over in its ``conftest.py``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from ros_client import RosClient
from warm_start import WarmProcesses

from sysid_ros.nodes.demo import demo_folder, free_domain, run
from sysid_ros.nodes.demo.child_processes import ChildProcesses

ROOT = Path(__file__).parents[1]
_FOLDERS = ("test/nodes/", "test/faults/")
_LAST_CHARACTERS = 4000  # of a log that a failure shows


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failure what the node processes said."""
    report = yield
    folder = item.funcargs.get("tmp_path")
    if report.failed and folder is not None:
        for log in sorted((Path(folder) / "logs").glob("*.log")):
            text = log.read_text(encoding="utf-8", errors="replace")
            report.sections.append((f"log of {log.stem}", text[-_LAST_CHARACTERS:]))
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try a test again, once, if it waited in vain for another process.

    A server that has not yet discovered its client's reader drops its answer (rmw_fastrtps waits
    for that reader for 100 ms), which a machine with too much to do brings about now and then.
    """
    for item in items:
        if item.nodeid.startswith(_FOLDERS) and item.get_closest_marker("flaky") is None:
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=["in vain"]))


@pytest.fixture(scope="session", autouse=True)
def domains_of_this_worker() -> None:
    """Draw ROS domains that no other worker draws, as two may look for one at the same time."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    run._DOMAINS = run._DOMAINS[number::count]


@pytest.fixture
def signals() -> Iterator[None]:
    """Puts the handlers back that a node's process takes for itself."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)


@pytest.fixture
def ros_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Environment of processes that see each other and nothing else."""
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    inherited = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "test"), str(ROOT), *inherited]))
    with free_domain() as domain:
        monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
        yield dict(os.environ)


@pytest.fixture
def nodes(ros_environment: dict[str, str], tmp_path: Path) -> Iterator[ChildProcesses]:
    """Starts node processes; their logs are in ``tmp_path/logs``."""
    with WarmProcesses(ros_environment, tmp_path / "logs") as children:
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
