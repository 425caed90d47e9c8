# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the model lacks shows in residuals against velocity and torque."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros import sysid
from sysid_ros.engine.windows.measured_joints import measured_joints
from sysid_ros.judgement.outcome import ResidualTrend
from sysid_ros.judgement.residual_trends import joint_torque, residual_trends
from sysid_ros.judgement.scoring import ScoringSettings, WindowErrors, open_loop_errors

MODEL = """
<mujoco>
  <option timestep="0.001" integrator="implicitfast"/>
  <worldbody>
    <body name="arm">
      <joint name="pivot" axis="0 1 0" armature="0.02" damping="0.1" frictionloss="{friction}"/>
      <inertial pos="0 0 -0.3" mass="1" diaginertia="0.01 0.01 0.01"/>
    </body>
  </worldbody>
  <actuator>{actuator}</actuator>
  <sensor><jointpos name="angle" joint="pivot"/></sensor>
</mujoco>
"""
MOTOR = '<motor name="drive" joint="pivot" gear="2"/>'
SERVO = '<position name="drive" joint="pivot" kp="20" kv="1" forcerange="-6 6" ctrlrange="-1 1"/>'
RATE = 200


def errors(
    friction: float, actuator: str = MOTOR, commands: float = 1.5
) -> tuple[WindowErrors, ...]:
    """Windows of a robot with dry friction, predicted by a model without."""
    robot = mujoco.MjModel.from_xml_string(MODEL.format(friction=friction, actuator=actuator))
    data = mujoco.MjData(robot)
    rng = np.random.default_rng(3)
    command = np.repeat(rng.uniform(-commands, commands, 100), RATE // 5)
    angle = np.empty(command.size)
    for i in range(command.size):
        angle[i] = data.qpos[0]
        data.ctrl[0] = command[i]
        mujoco.mj_step(robot, data, nstep=round(1000 / RATE))
    spec = mujoco.MjSpec.from_string(MODEL.format(friction=0.0, actuator=actuator))
    times = np.arange(command.size) / RATE
    model = spec.compile()
    sequences = sysid.ModelSequences(
        "arm",
        spec,
        "swing",
        sysid.create_initial_state(model, np.zeros(1), np.zeros(1)),
        sysid.TimeSeries(times, command[:, None], interpolation=("zoh",)),
        sysid.TimeSeries.from_names(times, angle[:, None], model),
    )
    params = sysid.ParameterDict({"unused": sysid.Parameter("unused", 1.0, 0.0, 2.0)})
    settings = ScoringSettings(length=0.5, overlap=0.0, velocity_filter=30.0)
    return open_loop_errors([sequences], params, np.ones(1), settings)


def step_at_zero(trend: ResidualTrend) -> float:
    """How much the mean residual rises from negative to positive."""
    middles = 0.5 * (trend.edges[:-1] + trend.edges[1:])
    return float(np.nanmean(trend.mean[middles > 0]) - np.nanmean(trend.mean[middles < 0]))


def test_dry_friction_that_the_model_lacks_follows_the_velocity() -> None:
    velocity, torque = residual_trends(errors(0.4), velocity_filter=30.0)
    assert (velocity.against, velocity.against_unit) == ("velocity", "rad/s")
    assert (torque.against, torque.against_unit, torque.unit) == ("torque", "N m", "rad")
    assert velocity.edges[12] == pytest.approx(0.0, abs=1e-12)
    spread = float(np.nanmean(velocity.high - velocity.low))
    assert step_at_zero(velocity) < -0.2 * spread  # less motion than predicted, either way
    known = np.isfinite(velocity.mean)
    assert np.all(velocity.low[known] <= velocity.mean[known])
    assert np.all(velocity.mean[known] <= velocity.high[known])


def test_a_model_that_lacks_nothing_leaves_no_trend() -> None:
    lacking, *_ = residual_trends(errors(0.4), velocity_filter=30.0)
    velocity, *_ = residual_trends(errors(0.0), velocity_filter=30.0)
    assert abs(step_at_zero(velocity)) < 0.05 * abs(step_at_zero(lacking))


@pytest.mark.parametrize("actuator", [MOTOR, SERVO])
def test_torque_is_what_mujoco_applies(actuator: str) -> None:
    window = errors(0.0, actuator)[0].window
    model, sequence = window.model, window.sequence
    motion = measured_joints(model, sequence.sensordata, 60.0)[0]
    times = sequence.sensordata.times[100:3000:50] + 1e-3
    found = joint_torque(model, sequence, 0, motion, times)
    data = mujoco.MjData(model)
    for t, torque in zip(times, found, strict=True):
        control = sequence.controls[0]
        assert control is not None
        data.ctrl[0] = control.mean(np.array([t]), 1e-4)[0]
        data.qpos[0], data.qvel[0] = motion.position(t), motion.velocity(t)
        mujoco.mj_forward(model, data)
        assert torque == pytest.approx(data.qfrc_actuator[0], abs=1e-6)


def test_an_actuator_with_a_state_of_its_own_has_no_known_torque() -> None:
    filtered = '<general name="drive" joint="pivot" dyntype="filter" dynprm="0.05"/>'
    (trend,) = residual_trends(errors(0.0, filtered), velocity_filter=30.0)
    assert trend.against == "velocity"
