# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters are proposed by what they explain; those that are alike as one, or one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from robot_kinds import servo_arm
from robot_to_try import PLAN, hidden

from sysid_ros.proposal import propose
from sysid_ros.proposal.candidate import Candidate
from sysid_ros.proposal.chosen_forward import System, forward
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


@pytest.mark.parametrize(("explained", "kept"), [(400.0, True), (40.0, False)])
def test_what_is_many_times_its_typical_size_is_proposed_for_what_it_explains(
    explained: float, kept: bool
) -> None:
    """Its standard error is seven typical sizes; of four wheels alike one was left at zero."""
    sharpness = np.array([50.0, 0.02])
    slope = np.array([0.0, np.sqrt(explained * sharpness[1])])
    offered = [
        Candidate(element="joint", name=name, attribute="damping", low=0.0, high=10.0, typical=1.0)
        for name in "ab"
    ]
    assert forward(System(np.diag(sharpness), slope, 1000.0), offered).kept == [True, kept]
