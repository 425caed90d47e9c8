# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Designs for robots that exist: within every limit, as planned and as their servos follow."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import pytest

from sysid_ros.excitation.design import (
    DesignSettings,
    NoServoError,
    design_motion,
    robot_demands,
    servo_motion,
)
from sysid_ros.excitation.design.clearance import Clearance
from sysid_ros.excitation.design.servo_limits import servo_excess
from sysid_ros.robots import load_model


class Robot(NamedTuple):
    model: str  # below ../shared/data
    velocity: float
    acceleration: float
    joints: tuple[str, ...] = ()


ROBOTS = {
    "panda": Robot("models/franka_emika_panda/panda_nohand.xml", 2.0, 6.0),
    "so_arm100": Robot("models/trs_so_arm100/so_arm100.xml", 2.0, 8.0),
    "tx40": Robot("tx40/tx40.urdf", 2.0, 6.0),
    "go2": Robot(
        "go2/go2_hanging.xml", 3.0, 20.0, ("FL_hip_joint", "FL_thigh_joint", "FL_calf_joint")
    ),
}
BRIEF = DesignSettings(duration=4.0, starts=1, steps=1)


def hinges(model: mujoco.MjModel) -> tuple[str, ...]:
    """Every joint of a URDF, which names no motors; none where there are some to go by."""
    return () if model.nu else tuple(model.joint(i).name for i in range(model.njnt))


@pytest.mark.parametrize("name", ROBOTS)
def test_no_limit_is_exceeded(name: str, shared_data: Path) -> None:
    robot = ROBOTS[name]
    model = load_model(shared_data / robot.model).spec.compile()
    moving = robot_demands(
        model, robot.joints or hinges(model), velocity=robot.velocity,
        acceleration=robot.acceleration, clearance=0.01,
    )  # fmt: skip
    motion = design_motion(moving, BRIEF)
    times = np.linspace(0.0, BRIEF.duration, 3001)
    q, v, a = motion.motion(times)
    joints, home, demands = moving.joints, moving.home, moving.demands
    limits = demands.limits
    assert np.all(q >= limits.lower - 1e-9) and np.all(q <= limits.upper + 1e-9)
    assert np.all(np.abs(v) <= limits.velocity + 1e-9)
    assert np.all(np.abs(a) <= limits.acceleration + 1e-9)
    near = Clearance(model, joints, home, demands.clearance).near(q[::20], 0.0)
    assert near.distance.min(initial=np.inf) > demands.clearance - 1e-3
    assert np.abs(v).max() > 0.3  # it does move
    try:
        made = servo_motion(model, joints, home, motion.duration, motion.values)
    except NoServoError:
        assert name in ("tx40", "go2")
    else:
        used = servo_excess(model, joints, home, demands, made)
        assert used.share <= 1.0, used.words
