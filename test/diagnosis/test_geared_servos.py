# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A servo behind a gear is asked for turns of its motor, which is no wrong scale."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.diagnosis.evidence.finding import FindingKind
from sysid_ros.diagnosis.evidence.recorded import recorded
from sysid_ros.diagnosis.servo_mistakes import servo_explanations

AXIS = """
<mujoco>
  <worldbody><body>
    <joint name="axis" type="{kind}" axis="1 0 0" damping="200" armature="30" range="-1 1"
      limited="false"/>
    <geom size="0.1" mass="5"/>
  </body></worldbody>
  <actuator>
    <general name="screw" joint="axis" gear="{gear}" gainprm="{kp}" biastype="affine"
      biasprm="{constant} -{kp} -{kv}"/>
  </actuator>
  <sensor><jointpos name="place" joint="axis"/></sensor>
</mujoco>
"""


def moved(
    gear: float, scale: float = 1.0, rest: float = 0.0, offset: float = 0.0
) -> sysid.ModelSequences:
    """A screw that its servo moves, recorded with commands times a scale; zero asks for -rest.

    Its measured place is off by an offset.
    """
    kp, kv = 5e4 / gear**2, 2e3 / gear**2
    kind = "hinge" if rest else "slide"
    text = AXIS.format(kind=kind, gear=gear, kp=kp, kv=kv, constant=-kp * rest)
    spec = mujoco.MjSpec.from_string(text)
    model = spec.compile()
    data, step = mujoco.MjData(model), model.opt.timestep
    times = np.arange(0.0, 8.0, step)
    asked = 0.2 * np.sin(2.0 * np.pi * 0.4 * times) + 0.05 * np.sin(2.0 * np.pi * 1.3 * times)
    places = np.empty(len(times))
    for i, place in enumerate(asked):
        data.ctrl[0], places[i] = gear * place + rest, data.qpos[0]
        mujoco.mj_step(model, data)
    control = sysid.TimeSeries(
        times,
        scale * (gear * asked[:, None] + rest),
        {"screw": (sysid.SignalType.MjCtrl, np.array([0]))},
    )
    measured = sysid.TimeSeries.from_names(times, places[:, None] + offset, model)
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    return sysid.ModelSequences("robot", spec, "run", start, control, measured)


@pytest.mark.parametrize("gear", [1.0, 1257.0, -30.0])
def test_a_gear_is_no_mistake(gear: float) -> None:
    assert servo_explanations(recorded([moved(gear)])) == []


def test_a_command_of_its_own_for_zero_is_no_mistake() -> None:
    assert servo_explanations(recorded([moved(1.0, rest=0.4)])) == []


@pytest.mark.parametrize("gear", [1.0, 1257.0])
def test_a_wrong_scale_behind_a_gear_is_found(gear: float) -> None:
    (found,) = servo_explanations(recorded([moved(gear, scale=2.0)]))
    assert found.change.kind is FindingKind.SCALE
    assert found.size == pytest.approx(0.5, rel=0.05) or found.size == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize("unit", [1.0, 1e-3])
@pytest.mark.parametrize("gear", [628.3185, -30.0])
def test_a_command_that_is_the_joint_s_own_is_told_as_such(gear: float, unit: float) -> None:
    """Recorded in metres or millimetres of the axis, where the servo counts its motor's turns."""
    found = servo_explanations(recorded([moved(gear, scale=1.0 / (abs(gear) * unit))]))
    assert [one.change.kind for one in found] == [FindingKind.UNIT]
    assert found[0].change.scale == {"screw": pytest.approx(abs(gear) * unit)}
    assert not found[0].alternatives


@pytest.mark.parametrize("gear", [1.0, 1257.0, -30.0])
def test_an_offset_behind_a_gear_may_be_the_position_s(gear: float) -> None:
    """A command counts turns of the motor, and is off by as many times more."""
    (found,) = servo_explanations(recorded([moved(gear, offset=0.3)]))
    assert found.change.kind is FindingKind.OFFSET
    assert found.change.offset == {"place": pytest.approx(-0.3, abs=0.02)}
    assert [one.offset["screw"] for one in found.alternatives] == [
        pytest.approx(0.3 * gear, rel=0.1)
    ]


PENDULUM = """
<mujoco>
  <worldbody><body>
    <joint name="axis" axis="0 1 0" damping=".3"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass="4"/>
  </body></worldbody>
  <actuator><position name="servo" joint="axis" kp="{kp}"/></actuator>
  <sensor><jointpos name="angle" joint="axis"/></sensor>
</mujoco>
"""


def test_what_a_weak_servo_sags_is_no_scale_where_nobody_knows_its_gain() -> None:
    true = mujoco.MjSpec.from_string(PENDULUM.format(kp=10)).compile()
    data, times = mujoco.MjData(true), np.arange(0.0, 12.0, true.opt.timestep)
    asked = 0.5 * np.sin(2.0 * np.pi * 0.3 * times) + 0.2 * np.sin(2.0 * np.pi * 0.8 * times)
    angles = np.empty(len(times))
    for i, angle in enumerate(asked):
        data.ctrl[0], angles[i] = angle, data.qpos[0]
        mujoco.mj_step(true, data)
    control = sysid.TimeSeries(
        times, asked[:, None], {"servo": (sysid.SignalType.MjCtrl, np.array([0]))}
    )
    measured = sysid.TimeSeries.from_names(times, angles[:, None], true)
    start = sysid.create_initial_state(true, true.qpos0, np.zeros(true.nv))
    spec = mujoco.MjSpec.from_string(PENDULUM.format(kp=500))
    group = sysid.ModelSequences("robot", spec, "run", start, control, measured)
    believed = servo_explanations(recorded([group]))
    assert [one.change.kind for one in believed] == [FindingKind.SCALE]
    assert servo_explanations(recorded([group], guessed=["servo"])) == []


FINGER = """
<mujoco>
  <worldbody><body>
    <joint name="near" axis="0 1 0" damping=".02" armature="2e-3"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.05" size=".01" mass=".05"/>
    <body pos="0 0 -.05">
      <joint name="far" axis="0 1 0" damping=".02" armature="1e-3"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.05" size=".01" mass=".03"/>
    </body>
  </body></worldbody>
  <tendon><fixed name="both"><joint joint="near" coef="1"/><joint joint="far" coef="1"/></fixed>
  </tendon>
  <actuator><position name="pull" tendon="both" kp="2"/></actuator>
  <sensor>
    <jointpos name="near_angle" joint="near"/><jointpos name="far_angle" joint="far"/>
  </sensor>
</mujoco>
"""


def test_a_wrong_scale_of_a_tendon_of_two_joints_is_found() -> None:
    spec = mujoco.MjSpec.from_string(FINGER)
    model = spec.compile()
    data, times = mujoco.MjData(model), np.arange(0.0, 8.0, model.opt.timestep)
    asked = 0.5 * np.sin(2.0 * np.pi * 0.4 * times) + 0.2 * np.sin(2.0 * np.pi * 1.1 * times)
    angles = np.empty((len(times), 2))
    for i, length in enumerate(asked):
        data.ctrl[0], angles[i] = length, data.qpos
        mujoco.mj_step(model, data)
    control = sysid.TimeSeries(
        times, 2.0 * asked[:, None], {"pull": (sysid.SignalType.MjCtrl, np.array([0]))}
    )
    measured = sysid.TimeSeries.from_names(times, angles, model)
    start = sysid.create_initial_state(model, model.qpos0, np.zeros(model.nv))
    group = sysid.ModelSequences("robot", spec, "run", start, control, measured)
    (found,) = servo_explanations(recorded([group]))
    assert found.change.kind is FindingKind.SCALE
    assert found.size == pytest.approx(0.5, rel=0.05)
