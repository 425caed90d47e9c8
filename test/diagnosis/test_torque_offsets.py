# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A constant torque looks like the zero of a joint that carries a weight; it is named beside it."""

from __future__ import annotations

from pathlib import Path

import mujoco
from arm_recording import arm_model, simulate, write_experiment

from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.experiment import load_experiment


def test_an_offset_of_a_torque_is_named_beside_the_zero_that_it_looks_like(tmp_path: Path) -> None:
    xml = arm_model(3, 1)
    truth = mujoco.MjSpec.from_string(xml)
    truth.actuators[0].biastype = mujoco.mjtBias.mjBIAS_AFFINE
    truth.actuators[0].biasprm[0] = 0.4
    file = write_experiment(tmp_path, xml, simulate(truth.to_xml(), 1, duration=6.0))
    (found,) = check_experiment(load_experiment(file), None)
    assert found.kind is FindingKind.OFFSET
    assert found.signals == ("p0",)
    assert "'m0' is off by -0.4, as a current may be" in found.sentence
