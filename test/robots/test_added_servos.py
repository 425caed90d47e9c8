# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Servos that are added move a joint as a controller does whose force is limited."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.elements import add_servo, force_range
from sysid_ros.robots import with_servos, without_motors

LIMIT, GAIN, DAMPING = 6.0, 100.0, 12.0  # N m, N m/rad, N m s/rad
SWING = f"""<mujoco><option timestep="0.0005" integrator="implicitfast"/><worldbody><body>
  <joint name="swing" axis="0 1 0" armature="0.05" actuatorfrcrange="-{LIMIT} {LIMIT}"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass="0.5"/>
</body></worldbody></mujoco>"""


def course(model: mujoco.MjModel) -> tuple[list[float], float]:
    """Positions of the joint on its way along a command, and the largest force of its spring."""
    data, positions, pull = mujoco.MjData(model), [], 0.0
    for step in range(4000):
        data.ctrl[0] = 0.8 * np.sin(3.0 * step * model.opt.timestep)
        pull = max(pull, GAIN * abs(data.ctrl[0] - data.qpos[0]))
        mujoco.mj_step(model, data)
        positions.append(float(data.qpos[0]))
    return positions, pull


def test_the_limit_of_a_joints_drive_does_not_hold_back_the_spring_alone() -> None:
    bare = mujoco.MjSpec.from_string(SWING)
    truth = bare.copy()
    add_servo(truth, "servo", "swing", GAIN)
    truth.actuator("servo").biasprm[2] = -DAMPING  # the sum is limited, as a controller's
    expected, pull = course(truth.compile())
    assert pull > 3.0 * LIMIT

    served = with_servos(bare, ["swing"])
    servo, served.joint("swing").damping[0] = served.actuators[0], DAMPING
    servo.gainprm[0], servo.biasprm[1] = GAIN, -GAIN
    model = served.compile()
    assert course(model)[0] == pytest.approx(expected, abs=1e-6)
    assert force_range(model, 0) == (-LIMIT, LIMIT)  # which designed motions keep to


def test_an_exported_model_tells_of_no_limit_that_there_never_was() -> None:
    for xml, told in ((SWING, True), (SWING.replace("actuatorfrcrange", "range"), False)):
        served = with_servos(mujoco.MjSpec.from_string(xml), ["swing"])
        assert ('actuatorfrclimited="false"' in served.to_xml()) == told


def test_a_servo_takes_the_place_of_a_motor_that_nothing_drives() -> None:
    """A keyframe has inputs of motors, and sensors may tell their force."""
    motor = """<actuator><motor name="m" joint="swing" ctrlrange="-6 6"/></actuator>
        <keyframe><key name="home" qpos="0.1" ctrl="2"/></keyframe>
        <sensor><actuatorfrc actuator="m"/><jointactuatorfrc joint="swing"/></sensor></mujoco>"""
    xml = SWING.replace(f'actuatorfrcrange="-{LIMIT} {LIMIT}"', "").replace("</mujoco>", motor)
    spec = mujoco.MjSpec.from_string(xml)
    served = with_servos(spec, ["swing"])
    assert [one.name for one in served.actuators] == ["swing_servo"]
    assert served.compile().key_qpos[0, 0] == pytest.approx(0.1)
    assert len(served.sensors) == 1
    assert len(spec.actuators) == 1  # the model itself is not changed
    both = with_servos(spec, ["swing"], driven=["m"])
    assert {one.name for one in both.actuators} == {"m", "swing_servo"}


def test_a_motor_that_a_servo_takes_the_place_of_leaves_its_name_and_the_others_controls() -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><worldbody><body><joint name="a" type="hinge"/><geom size=".1" mass="1"/>
        <body><joint name="b" type="hinge"/><geom size=".1" mass="1"/></body></body></worldbody>
        <actuator><motor name="a_servo" joint="a"/><motor name="pull" joint="b"/></actuator>
        <keyframe><key name="home" ctrl="0.1 0.7"/></keyframe></mujoco>"""
    )
    served = with_servos(spec, ["a"])
    assert [one.name for one in served.actuators] == ["pull", "a_servo"]
    without = without_motors(spec, ["a"])
    np.testing.assert_array_equal(without.compile().key_ctrl, [[0.7]])
