# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An actuator's joint, in the joint's own frame or its parent's, is the same everywhere."""

from __future__ import annotations

import mujoco
import pytest

from sysid_ros.engine.elements import (
    actuators_on,
    is_effort,
    is_servo,
    is_velocity_servo,
    joint_of,
    takes_velocity,
)
from sysid_ros.engine.elements.joint_scales import joint_scales
from sysid_ros.engine.signals import sensor_unit
from sysid_ros.exports.joints import joints_of

MODEL = """
<mujoco>
  <worldbody><body>
    <joint name="slider" type="slide"/><geom size="0.1"/><site name="tip"/>
  </body></worldbody>
  <actuator>
    <general name="servo" {joint}="slider" biastype="affine" gainprm="50" biasprm="0 -50 -3"
             forcerange="-7 7" forcelimited="true"/>
    <velocity name="rate" joint="slider" kv="2" forcerange="-1 1" forcelimited="true"/>
    <motor name="jet" site="tip"/>
  </actuator>
  <sensor><actuatorpos name="length" actuator="servo"/></sensor>
</mujoco>
"""


@pytest.mark.parametrize("joint", ["joint", "jointinparent"])
def test_the_joint_is_known_in_either_frame(joint):
    model = mujoco.MjSpec.from_string(MODEL.format(joint=joint)).compile()
    assert [joint_of(model, a) for a in range(3)] == [0, 0, None]
    assert actuators_on(model, 0) == [0, 1]
    assert sensor_unit(model, 0) == "m"
    (slider,) = joints_of(model)
    assert (slider.kp, slider.kd) == (50.0, 3.0)
    assert joint_scales(model)["slider"].strength == 8.0


def test_the_input_is_a_position_a_velocity_or_an_effort():
    model = mujoco.MjSpec.from_string(MODEL.format(joint="joint")).compile()
    kinds = (is_servo, is_velocity_servo, is_effort)
    assert [[kind(model, a) for kind in kinds] for a in range(3)] == [
        [True, False, False], [False, True, False], [False, False, True],
    ]  # fmt: skip


def test_what_holds_an_integrated_velocity_is_asked_for_a_velocity():
    """``intvelocity`` is a position servo whose place is the integral of its input."""
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><actuator>'
        '<intvelocity joint="j" kp="9" actrange="-1 1"/><position joint="j" kp="9"/>'
        '<velocity joint="j" kv="2"/></actuator></mujoco>'
    )
    assert [is_servo(model, a) for a in range(3)] == [False, True, False]
    assert [takes_velocity(model, a) for a in range(3)] == [True, False, True]
