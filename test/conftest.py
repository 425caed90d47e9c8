# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fixtures for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes is a matter of what else the machine does.
settings.register_profile("any_machine", deadline=None)
# The same examples on every machine, so that a change fails for what it changed; ``make test-all``
# draws new ones.
settings.register_profile("without_slow_tests", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("any_machine")

# An animation for every fit of every test would take minutes; tests of it ask for one.
os.environ.setdefault("MUJOCO_GL", "disabled")

# Processes that are killed leave shared memory behind, which later ones of that domain trip over.
os.environ["FASTDDS_BUILTIN_TRANSPORTS"] = "UDPv4"

# Tests with ROS nodes, in two rows that take about as long.
_ROS_ROWS = (
    ("test/faults/", "test/benchmark/test_capture.py", "test/nodes/test_re"),
    ("test/nodes/",),
)


def pytest_configure(config: pytest.Config) -> None:
    """Look at fewer examples where slow tests are left out, as ``make test`` does."""
    if "not slow" in config.option.markexpr:
        settings.load_profile("without_slow_tests")


def _row(nodeid: str) -> str:
    """The row that a test stands in; empty for none."""
    return next((f"ros {row}" for row, of in enumerate(_ROS_ROWS) if nodeid.startswith(of)), "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the rows, which take the longest."""
    items.sort(key=lambda item: not _row(item.nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where tests run side by side (``-n 3``), those with ROS nodes stand in two rows.

    They start several processes each and mostly wait for them: while one row waits, another works,
    and more than two would wait for each other. The tests of any other file stay together for the
    sake of its fixtures. Files come in the order of their names, not by their numbers of tests: the
    last ones to begin would be those with one test that takes long.
    """
    from xdist.scheduler import LoadScopeScheduling

    class FilesAndRows(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _row(nodeid) or nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return FilesAndRows(config, log)


@pytest.fixture(scope="session", autouse=True)
def _elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test works in the checkout, where results and MuJoCo's warnings would stay behind."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("elsewhere"))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Recordings and models that are too large for the repository; skips where they are absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SYSID_ROS_SHARED_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no recordings at {folder}; set SYSID_ROS_SHARED_DATA")
    return folder


@pytest.fixture
def simulations(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many simulations each call has run."""
    from sysid_ros.engine.simulation import rollout_pool

    counts: list[int] = []
    original = rollout_pool.RolloutPool.rollout

    def counting(self: Any, models: Any, *rest: Any, **options: Any) -> Any:
        counts.append(len(models))
        return original(self, models, *rest, **options)

    monkeypatch.setattr(rollout_pool.RolloutPool, "rollout", counting)
    return counts
