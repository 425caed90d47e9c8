# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder loses nothing at a load that any machine bears, and knows what it lost at others."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="recording needs ROS 2 (rclpy)")

from warm_start import WarmProcesses

from benchmark import capture
from benchmark.capture import STANDARD, run


@pytest.fixture(autouse=True)
def warm_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "ChildProcesses", WarmProcesses)


def test_nothing_is_lost(tmp_path: Path):
    # The publisher's queue outlives that the machine is busy with other things for a while.
    found = run(tmp_path, duration=3.0, total=0.25 * STANDARD, depth=1000, stall=0.0)
    assert found.lost == 0
    assert found.exact
    assert {name: topic.recorded for name, topic in found.topics.items()} == {
        "/joint_states": 751,
        "/command": 751,
        "/imu": 301,
    }


def test_what_a_stalled_recorder_loses_is_told_exactly(tmp_path: Path):
    found = run(tmp_path, duration=3.0, total=STANDARD, depth=10, stall=1.5)
    assert found.lost > 0
    assert found.exact, str(found)


@pytest.mark.slow
def test_an_estimator_beside_the_recorder_costs_it_nothing(tmp_path: Path, shared_data: Path):
    arm = shared_data / "models" / "franka_emika_panda" / "panda_nohand.xml"
    found = run(tmp_path, duration=20.0, total=STANDARD, depth=1000, arm=arm)
    assert found.lost == 0 and found.exact, str(found)
    assert found.estimates > 50, str(found)
