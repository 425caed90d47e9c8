# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recorder keeps up with a humanoid, and knows what it lost where it could not."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="recording needs ROS 2 (rclpy)")

from benchmark.capture import STANDARD, run


def test_nothing_is_lost_at_the_standard_load(tmp_path: Path):
    found = run(tmp_path, duration=3.0, total=STANDARD, depth=100, stall=0.0)
    assert found.lost == 0
    assert found.exact
    assert found.topics["/imu"].recorded == 1200
    assert found.cores < 1.2


def test_what_a_stalled_recorder_loses_is_told_exactly(tmp_path: Path):
    found = run(tmp_path, duration=8.0, total=4000.0, depth=10, stall=4.0)
    assert found.lost > 0
    assert found.exact, str(found)
