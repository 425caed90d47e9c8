# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals of a proposal."""

from __future__ import annotations

import pytest

from sysid_ros.proposal.channels import Channel
from sysid_ros.proposal.lines import Line

STATE = "control_msgs/msg/JointTrajectoryControllerState"


@pytest.mark.parametrize(
    ("kind", "msgtype", "interpolation"),
    [
        ("actuator", STATE, "linear"),  # a curve, sampled
        ("actuator", "std_msgs/msg/Float64MultiArray", ""),  # steps, each in force until the next
        ("sensor", STATE, ""),  # feedback is joined by lines anyway
    ],
)
def test_the_reference_of_a_trajectory_is_no_staircase(
    kind: str, msgtype: str, interpolation: str
) -> None:
    channel = Channel("/topic", msgtype, "reference.positions[elbow]", "elbow", "position", 0,
                      True, (), ())  # fmt: skip
    assert Line(kind, "elbow", channel).interpolation == interpolation
