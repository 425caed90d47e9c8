# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions under a model's own servos: what is shown before anything moves, and within limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from designed_arm import ARM as WITH_MOTORS
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sysid_ros.excitation import ExcitationError, MotionLimits, TrajectoryTable, write_trajectory
from sysid_ros.excitation.design import (
    Demands,
    DesignSettings,
    MovingRobot,
    NoServoError,
    design_motion,
    load_planned,
    servo_motion,
    shown_motion,
)
from sysid_ros.excitation.design.demands import filled
from sysid_ros.excitation.design.servo_limits import servo_excess

ARM = """<mujoco><compiler angle="radian"/><option timestep="0.001" integrator="implicitfast"/>
<worldbody><geom name="floor" type="plane" size="3 3 .1" pos="0 0 {floor}"/>
<body name="upper"><joint name="shoulder" axis="0 1 0" range="-2.5 2.5" armature="{armature}"
 damping="0.2" frictionloss="0.1"/>
 <geom name="upper" type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" mass="{mass}"/>
 <body name="lower" pos="0 0 0.3"><joint name="elbow" axis="0 1 0" range="-2.2 2.2"
  armature="{armature}" damping="0.1" frictionloss="0.1"/>
  <geom name="lower" type="capsule" fromto="0 0 0 0 0 0.25" size="0.03" mass="1"/>
 </body></body></worldbody>
<actuator><position name="s" joint="shoulder" kp="{kp}" kv="{kv}" forcerange="-60 60"/>
<position name="e" joint="elbow" kp="{kp}" kv="{kv}" forcerange="-25 25"/></actuator></mujoco>"""
JOINTS = ("shoulder", "elbow")
ONES = np.ones(2)
FILL = 0.9  # the default of `sysid_ros design`; the rest of a limit is for what a servo does


def arm(floor: float = -0.2, **changes: float) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(ARM.format(floor=floor, **changes))


@settings(max_examples=3, deadline=None, phases=[Phase.generate])
@given(
    velocity=st.floats(0.5, 4.0), acceleration=st.floats(2.0, 20.0), mass=st.floats(0.5, 4.0),
    armature=st.floats(0.02, 0.3), clearance=st.floats(0.01, 0.08), seed=st.integers(0, 100),
    frequency=st.floats(1.5, 10.0), damping=st.floats(0.3, 1.0),
)  # fmt: skip
def test_no_design_exceeds_a_limit_when_the_servos_follow_it(
    velocity: float, acceleration: float, mass: float, armature: float, clearance: float, seed: int,
    frequency: float, damping: float,
) -> None:  # fmt: skip
    inertia = armature + 0.5 * mass  # about that of the shoulder, kg m^2
    kp = inertia * (2.0 * np.pi * frequency) ** 2
    model = arm(mass=mass, armature=armature, kp=kp, kv=2.0 * damping * np.sqrt(kp * inertia))
    limits = MotionLimits(
        lower=-2.0 * ONES, upper=1.8 * ONES, velocity=velocity * ONES,
        acceleration=acceleration * ONES, effort=np.array([60.0, 25.0]),
    )  # fmt: skip
    used = filled(limits, FILL)
    demands = Demands(limits=used, jerk=100.0 * ONES, clearance=clearance, fill=FILL)
    np.testing.assert_allclose(demands.robot.upper, limits.upper)
    short = DesignSettings(duration=6.0, starts=1, steps=4, seed=seed)
    motion = design_motion(MovingRobot(model, JOINTS, demands, np.zeros(2)), short)
    made = servo_motion(model, JOINTS, np.zeros(2), motion.duration, motion.values)
    most = servo_excess(model, JOINTS, np.zeros(2), demands, made)
    assert 0.2 < most.share <= 1.0, most
    assert np.all(made.position >= limits.lower) and np.all(made.position <= limits.upper)
    assert np.all(np.abs(made.velocity) <= limits.velocity)
    assert np.all(np.abs(made.torque) <= limits.effort)
    data, segment = mujoco.MjData(model), np.zeros(6)
    floor, *links = (model.geom(name).id for name in ("floor", "upper", "lower"))
    for qpos in made.qpos[::10]:
        data.qpos[:] = qpos
        mujoco.mj_kinematics(model, data)
        apart = [mujoco.mj_geomDistance(model, data, floor, link, 1.0, segment) for link in links]
        assert min(apart) > 0.0


def test_a_motion_is_drawn_in_for_servos_that_overshoot_and_refused_for_those_that_fail() -> None:
    limits = MotionLimits(
        lower=-2.0 * ONES, upper=2.0 * ONES, velocity=2.0 * ONES, acceleration=10.0 * ONES,
        effort=np.array([60.0, 25.0]),
    )  # fmt: skip
    demands = Demands(limits=limits, jerk=np.full(2, np.inf), clearance=0.0)
    short = DesignSettings(duration=4.0, starts=1, steps=3)
    reached = []
    for kp, kv in ((4000.0, 120.0), (80.0, 3.0)):
        model = arm(floor=-1.0, mass=2.0, armature=0.05, kp=kp, kv=kv)
        motion = design_motion(MovingRobot(model, JOINTS, demands, np.zeros(2)), short)
        reached.append(np.abs(motion.motion(np.linspace(0.0, 4.0, 401)).velocity).max())
    assert reached[1] < 0.97 * reached[0]
    weak = arm(floor=-1.0, mass=2.0, armature=0.05, kp=0.5, kv=0.1)
    with pytest.raises(ExcitationError, match=r"under its own servos .* leaves its .* at \d"):
        design_motion(MovingRobot(weak, JOINTS, demands, np.array([0.5, 0.0])), short)


def test_the_plan_is_shown_with_what_the_servos_make_of_it(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(
        ARM.format(floor=-1.0, mass=2.0, armature=0.05, kp=2000, kv=50)
    )
    (tmp_path / "experiment.yaml").write_text("model: arm.xml\nsequences: [bag]\n")
    knots = np.array([0.0, 0.5, 1.0, 1.5])
    table = np.array([[0.0, 0.0], [0.3, -0.2], [0.1, 0.2], [0.0, 0.0]])
    write_trajectory(tmp_path / "motion.csv", JOINTS, knots, table)
    shown, model = load_planned(tmp_path / "experiment.yaml", tmp_path / "motion.csv")
    assert shown.sequence == "motion.csv" and shown.joints == JOINTS
    np.testing.assert_allclose(shown.measured[[0, 50, 100]], table[:3], atol=1e-9)
    np.testing.assert_array_equal(shown.measured_qpos, shown.measured)
    behind = np.abs(shown.simulated - shown.measured)
    assert 1e-3 < behind.max() < 0.05
    assert model.nq == 2 and shown.simulated_qpos.shape == shown.measured_qpos.shape


def test_motors_are_shown_as_planned_and_other_joints_are_refused() -> None:
    model = mujoco.MjModel.from_xml_string(WITH_MOTORS)
    table = TrajectoryTable(
        JOINTS, np.array([0.0, 1.0, 2.0]), np.array([[0, 0], [0.3, 0.1], [0, 0.0]])
    )
    shown = shown_motion(model, table, "plan")
    np.testing.assert_array_equal(shown.simulated, shown.measured)
    plan = table.reference(JOINTS, np.full(2, np.inf))
    with pytest.raises(NoServoError, match="'shoulder' has 0 position servos"):
        servo_motion(model, JOINTS, np.zeros(2), plan.duration, plan.values)
    with pytest.raises(ExcitationError, match="the model lacks what the motion moves: wrist"):
        shown_motion(model, replace(table, joints=("wrist", "elbow")), "plan")
