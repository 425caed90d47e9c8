# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs are lines that a person would have written."""

from __future__ import annotations

from pathlib import Path

from sysid_ros.diagnosis.finding import Change, FindingKind
from sysid_ros.diagnosis.repair import ExperimentLines
from sysid_ros.experiment import parse_experiment, with_overrides

EXPERIMENT = """
model: arm.xml
sequences: [bags/a]
signals:
  - {sensor: angle, topic: /joint_states, field: "position[elbow]", unit: deg}
parameters:
  - {joint: "*", armature: {min: 0.0, max: 0.05}}
"""


def test_a_unit_that_converts_once_too_often_is_left_out() -> None:
    experiment = parse_experiment(EXPERIMENT, path=Path("experiment.yaml"))
    change = Change(FindingKind.DEGREES, scale={"angle": 57.29577951308232})
    repair = ExperimentLines(experiment).with_change(change)
    assert "unit" not in repair.text
    assert "scale" not in repair.text
    (signal,) = with_overrides(experiment, repair.overrides).signals
    assert signal.unit is None
    assert signal.scale == 1.0
