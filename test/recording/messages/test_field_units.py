# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Units are read from comments of definitions, and known of types that have none."""

from __future__ import annotations

import pytest
from rosbags.typesys import get_types_from_msg

from sysid_ros.recording.messages import Definition, unit_of

KIND = "arm_msgs/msg/RobotState"
TEXT = f"""# The state of an arm, in degrees where nothing else is said.

float64[6] bare
# position from the encoder at the motor (used for control) [deg]
float64[6] position
# and its speed
# (deg/s)
float64[6] velocity
float64[6] turns      # measured in revolutions
float64[6] torque     # [Nm]
float64[6] place      # in mm, or degrees of a screw (deg)
float64[6] angle      # in radians, not [deg]
int32 scaled          # in deg * 100
int32 warm            # in degrees Celsius
arm_msgs/Wheel[] wheels
{"=" * 80}
MSG: arm_msgs/Wheel
float32 speed # how quickly it turns in rpm
float32 flag  # in turn with others [-]
"""


@pytest.mark.parametrize(("field", "unit"), [
    ("bare[0]", ""), ("position[2]", "deg"), ("velocity[2]", "deg/s"), ("turns[1]", "rev"),
    ("torque[0]", ""), ("place[0]", ""), ("angle[0]", ""), ("wheels[1].speed", "rpm"),
    ("wheels[0].flag", ""), ("scaled", ""), ("warm", ""), ("absent.speed", ""),
])  # fmt: skip
def test_a_unit_stands_in_brackets_or_behind_in(field: str, unit: str) -> None:
    types = {name: fields for name, (_, fields) in get_types_from_msg(TEXT, KIND).items()}
    assert unit_of(field, KIND, types, Definition("msg", TEXT, "")) == unit


def test_a_maker_that_comments_nothing_is_known_by_its_types() -> None:
    kind, motor = "kortex_driver/msg/BaseCyclic_Feedback", "kortex_driver/msg/ActuatorFeedback"
    types = {
        name: fields
        for text, name in (
            ("kortex_driver/ActuatorFeedback[] actuators\n", kind),
            ("float32 position\nfloat32 torque\n", motor),
        )
        for _, fields in [get_types_from_msg(text, name)[name]]
    }
    told = [
        unit_of(f"actuators[3].{part}", kind, types, Definition("", "", ""))
        for part in ("position", "torque")
    ]
    assert told == ["deg", ""]
