# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""First contact with robots: generated recordings go through init, check and fit untouched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robot_kinds import servo_arm
from robot_matrix import known_robots, own_robots, tried
from robot_to_try import ARM_PLAN, Robot

# The slow part needs models that are not in the repository.
MODELS = Path(__file__).resolve().parents[3] / "shared" / "data" / "models"


def test_a_robot_nobody_has_seen(tmp_path: Path) -> None:
    found = tried(Robot("servo arm", servo_arm, ARM_PLAN), tmp_path)
    assert found.wrong == ()
    assert found.false_alarms == ()
    assert found.free == 10  # three for each joint, and one delay
    assert found.intervals == found.free
    assert found.covered >= 0.9 * found.intervals, found.missed
    assert found.after < 1.3 * np.hypot(5e-5, 1e-4 / np.sqrt(12.0))  # noise and the encoder's step
    assert found.verdict.startswith("Improved")


def named(robot: Robot) -> str:
    """The name of a robot as that of a test."""
    return robot.name.replace(", ", "-")


def right(robot: Robot, folder: Path) -> None:
    """Fail unless everything is mapped, nothing is found that is not there, and the fit helps."""
    found = tried(robot, folder)
    print(found.row())
    assert found.false_alarms == ()
    assert found.wrong == ()
    assert found.after < found.before


@pytest.mark.slow
@pytest.mark.skipif(not MODELS.is_dir(), reason="needs the models of ../shared/data/models")
@pytest.mark.parametrize("robot", [*known_robots(MODELS)], ids=named)
def test_robots_of_a_collection(robot: Robot, tmp_path: Path) -> None:
    right(robot, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("robot", [*own_robots()], ids=named)
def test_small_robots_of_other_kinds(robot: Robot, tmp_path: Path) -> None:
    right(robot, tmp_path)
