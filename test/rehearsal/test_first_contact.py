# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""First contact with robots: generated recordings go through init, check and fit untouched."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from robot_matrix import DELAY, ENCODER, Robot, known_robots, tried

from sysid_ros.rehearsal import Controller, Motion, RecordingPlan

# The slow part needs models that are not in the repository.
MODELS = Path(__file__).resolve().parents[3] / "shared" / "data" / "models"

LINK = (
    '<body name="l{0}" pos="0 0 -.2"><joint name="j{0}" axis="{1}" damping=".3" armature=".02" '
    'frictionloss=".1"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass="{2}"/>'
)
HEAD = '<mujoco><option timestep="0.0005" integrator="implicitfast"/><worldbody>'


def servo_arm() -> mujoco.MjSpec:
    """Three joints under servos; neighbouring links do not touch."""
    links = "".join(
        LINK.format(k, axis, mass)
        for k, (axis, mass) in enumerate([("0 1 0", 1.0), ("1 0 0", 0.6), ("0 1 0", 0.3)])
    )
    servos = "".join(f'<position name="m{k}" joint="j{k}" kp="30" kv="1"/>' for k in range(3))
    return mujoco.MjSpec.from_string(
        f"{HEAD}{links}{'</body>' * 3}</worldbody><actuator>{servos}</actuator></mujoco>"
    )


# The truth's time step is the model's: what a longer step does to intervals is told elsewhere.
PLAN = RecordingPlan(
    controllers=(Controller(delay=DELAY),), sensors=(ENCODER,), duration=12.0, timestep=5e-4,
    motion=Motion(reach=0.7, speed=5.0, acceleration=60.0, highest=2.5),
)  # fmt: skip


def test_a_robot_nobody_has_seen(tmp_path: Path) -> None:
    found = tried(Robot("servo arm", servo_arm, PLAN), tmp_path)
    assert found.wrong == ()
    assert found.false_alarms == ()
    assert found.free == 10  # three for each joint, and one delay
    assert found.intervals == found.free
    assert found.covered >= 0.75 * found.intervals, found.missed
    assert found.after < 1.3 * np.hypot(5e-5, 1e-4 / np.sqrt(12.0))  # noise and the encoder's step
    assert found.verdict.startswith("Improved")


@pytest.mark.slow
@pytest.mark.skipif(not MODELS.is_dir(), reason="needs the models of ../shared/data/models")
@pytest.mark.parametrize(
    "robot", [*known_robots(MODELS)], ids=lambda robot: robot.name.replace(", ", "-")
)
def test_robots_of_many_kinds(robot: Robot, tmp_path: Path) -> None:
    found = tried(robot, tmp_path)
    print(found.row())
    assert found.false_alarms == ()
    assert found.wrong == ()
    assert found.after < found.before
