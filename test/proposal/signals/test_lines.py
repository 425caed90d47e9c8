# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Signals of a proposal."""

from __future__ import annotations

import pytest

from sysid_ros.proposal.signals.channels import Channel
from sysid_ros.proposal.signals.lines import Line

STATE = "control_msgs/msg/JointTrajectoryControllerState"


@pytest.mark.parametrize(
    ("kind", "msgtype", "field", "interpolation"),
    [
        ("actuator", STATE, "reference.positions[elbow]", "linear"),  # a curve, sampled
        ("actuator", "control_msgs/msg/JointControllerState", "set_point", "linear"),
        (
            "servo",
            "control_msgs/msg/JointTrajectoryControllerState",
            "output.positions[elbow]",
            "linear",
        ),
        ("actuator", "sensor_msgs/msg/JointState", "position[elbow]", ""),  # a command itself
        ("actuator", "std_msgs/msg/Float64MultiArray", "data[0]", ""),  # in force until the next
        ("sensor", STATE, "feedback.positions[elbow]", ""),  # joined by lines anyway
    ],
)
def test_the_reference_that_a_state_tells_is_no_staircase(
    kind: str, msgtype: str, field: str, interpolation: str
) -> None:
    channel = Channel("/topic", msgtype, field, "elbow", "position", 0, True, (), ())
    assert Line(kind, "elbow", channel).interpolation == interpolation
