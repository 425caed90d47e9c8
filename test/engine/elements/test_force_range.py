# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The force that a joint's drive can have."""

from __future__ import annotations

import math

import mujoco
import pytest

from sysid_ros.engine.elements import drive_strength, force_range, usual_servo_gain

ARM = """
<mujoco><worldbody><body><joint name='j' {joint}/><geom size='.1'/></body></worldbody>
<actuator>{actuators}</actuator></mujoco>
"""


@pytest.mark.parametrize(
    ("joint", "actuators", "expected"),
    [
        ("", "", (-math.inf, math.inf)),
        ("actuatorfrcrange='-3 2'", "", (-3.0, 2.0)),
        ("actuatorfrcrange='-3 2' actuatorfrclimited='false'", "", (-3.0, 2.0)),
        ("", "<motor joint='j' ctrlrange='-1 2' gear='-5'/>", (-10.0, 5.0)),
        ("", "<motor joint='j' ctrlrange='-1 2' forcerange='-9 1.5' gear='2'/>", (-2.0, 3.0)),
        ("", "<position joint='j' ctrlrange='-1 2'/>", (-math.inf, math.inf)),
        ("", "<position joint='j' ctrlrange='-1 2' forcerange='-4 4'/>", (-4.0, 4.0)),
        ("", "<motor joint='j' ctrlrange='0 1'/><motor jointinparent='j' ctrlrange='-2 0'/>",
         (-2.0, 1.0)),
        ("actuatorfrcrange='-3 3'", "<motor joint='j' ctrlrange='-1 9'/>", (-1.0, 3.0)),
        ("", "<motor joint='j' ctrlrange='-1 1'/><motor joint='j'/>", (-math.inf, math.inf)),
    ],
)  # fmt: skip
def test_all_actuators_of_a_joint_count_within_its_own_limit(
    joint: str, actuators: str, expected: tuple[float, float]
) -> None:
    model = mujoco.MjModel.from_xml_string(ARM.format(joint=joint, actuators=actuators))
    assert force_range(model, 0) == expected


@pytest.mark.parametrize(("limit", "believed"), [(20.0, 20.0), (1000.0, None)])
def test_a_limit_that_no_such_robot_has_is_not_believed(
    limit: float, believed: float | None
) -> None:
    joint = f"range='-1 1' actuatorfrcrange='-{limit} {limit}'"
    model = mujoco.MjModel.from_xml_string(ARM.format(joint=joint, actuators=""))
    assert float(model.body_mass.sum()) == pytest.approx(4.19, abs=0.01)
    assert drive_strength(model, 0) == believed
    weight = 9.81 * 4.1888
    assert usual_servo_gain(model, 0) == pytest.approx(10.0 * (believed or weight), rel=1e-3)
