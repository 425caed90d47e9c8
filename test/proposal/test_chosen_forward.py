# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the model has alike is proposed as one, or one by one, as the recordings have it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from robot_kinds import servo_arm
from robot_to_try import PLAN, hidden

from sysid_ros.proposal import propose
from sysid_ros.rehearsal import Motion, TrueParameter, generate

MODELLED, TRUE = 0.03, 0.04  # s


@pytest.mark.parametrize(
    ("wrong", "proposed"),
    [(("m0", "m1", "m2"), [("*", True)]), (("m1",), [("m1", False)]), ((), [])],
)
def test_time_constants_of_servos_alike_are_one_where_all_are_off(
    tmp_path: Path, wrong: tuple[str, ...], proposed: list[tuple[str, bool]]
) -> None:
    spec = servo_arm()
    for actuator in spec.actuators:
        actuator.set_to_position(kp=30.0, kv=1.0, timeconst=MODELLED)
    truth = hidden(spec.copy().compile(), 3)
    truth += tuple(TrueParameter("actuator", name, "time_constant", TRUE) for name in wrong)
    plan = replace(PLAN, truth=truth, duration=12.0, motion=Motion(highest=2.5))
    bag = generate(spec, plan, tmp_path / "bag").bag
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    found = propose(tmp_path / "robot.xml", [bag], tmp_path / "experiment.yaml")
    own = [one for one in found.draft.parameters if one.attribute == "time_constant"]
    assert [(one.name, one.shared) for one in own] == proposed
