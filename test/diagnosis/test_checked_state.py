# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A delay beside a low-pass of the model may be that of a slower one, and is told as both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import pytest
from planted_mistakes import checked, recordings
from robot_kinds import servo_arm
from robot_to_try import ARM_PLAN, true_joint

from sysid_ros.diagnosis import FindingKind
from sysid_ros.rehearsal import TrueParameter


@pytest.mark.parametrize("lag", [0.04, 0.0])
def test_a_delay_beside_a_low_pass_is_told_as_a_longer_one_too(tmp_path: Path, lag: float) -> None:
    spec = servo_arm()
    for actuator in spec.actuators if lag else ():
        actuator.dyntype, actuator.dynprm[0] = mujoco.mjtDyn.mjDYN_FILTEREXACT, lag
    slower = (TrueParameter("actuator", "*", "time_constant", lag + 0.03),) if lag else ()
    plan = replace(ARM_PLAN, duration=6.0, truth=(*true_joint("j0", damping=0.4), *slower))
    robot = recordings(spec, plan, tmp_path)
    [found] = checked(robot, robot.signals, late=not lag)
    assert found.kind is FindingKind.LAG
    assert ("time constant of 'm0' longer than the model's 0.04 s" in found.sentence) == bool(lag)
