# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Joints that a search takes for ones that never slide, and ones that may well be such."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.estimation.stuck_friction import held_by_friction
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict
from sysid_ros.experiment import parse_experiment
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.rehearsal import JointStates, Motion, Reading, RecordingPlan, generate

WRIST = """<mujoco><option timestep="1e-3"/><worldbody><body>
  <joint name="wrist" axis="0 0 1" damping="26.5" armature=".2" frictionloss="1.17"/>
  <geom size=".01" mass="1e-3"/></body></worldbody>
  <actuator><position name="servo" joint="wrist" kp="330"/></actuator></mujoco>"""
STUCK = """
model: robot.xml
sequences: [bag]
validation: {fraction: 0.2}
signals:
  - {qpos: wrist, topic: /joint_states, field: "position[wrist]"}
  - {actuator: servo, topic: /position_controller/commands, field: "data[0]"}
windows: {length: 1.0}
parameters:
  - joint: wrist
    frictionloss: {initial: 2.9, min: 0.0, max: 29.0}
    damping: {initial: 25.5, min: 0.0, max: 290.0}
    armature: {initial: 0.0, min: 0.0, max: 4.8}
  - {actuator: servo, kp: {initial: 303.6, min: 2.9, max: 29000.0}}
"""


def test_a_joint_that_a_search_takes_for_one_that_never_slides(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(WRIST)
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    plan = RecordingPlan(
        duration=8.0, sensors=(JointStates(position=Reading(noise=5e-5)),),
        motion=Motion(reach=0.5), timestep=5e-4,
    )  # fmt: skip
    generate(spec, plan, tmp_path / "bag")
    experiment = parse_experiment(STUCK, path=tmp_path / "experiment.yaml")
    fit = run_experiment(experiment, output_dir=tmp_path / "results").outcome.fit
    values = {one.name: float(one.value) for one in fit.parameters}
    assert abs(values["wrist_frictionloss"] - 1.17) < 0.1
    assert abs(values["wrist_armature"] - 0.2) < 0.05


FINGER = """<mujoco><option timestep="1e-4"/><worldbody><body>
  <joint name="finger" axis="0 0 1" frictionloss="{}" damping="{}" armature="{}"/>
  <geom size=".01" mass="{}"/></body></worldbody>
  <actuator><position name="servo" joint="finger" kp="2"/></actuator></mujoco>"""
LINK = 4e-5 * 0.05  # kg m^2 of a sphere of 0.05 kg
HELD = (0.5, 1.0, 3e-4)  # friction, damping, armature


def motion(*values: float) -> np.ndarray:
    model = mujoco.MjModel.from_xml_string(FINGER.format(*values, 0.05))
    data, found = mujoco.MjData(model), []
    for k in range(20000):
        data.ctrl[0] = 0.3 * np.sin(3e-4 * k) + 0.2 * np.sin(1.1e-3 * k)
        mujoco.mj_step(model, data)
        found.append(data.qpos[0])
    return np.array(found)


def problem(mass: float, timestep: float = 1e-4) -> Any:
    model = mujoco.MjModel.from_xml_string(FINGER.format(0, 1, 0, mass))
    model.opt.timestep = timestep
    params = ParameterDict()
    for attribute, most in (("frictionloss", 5.0), ("damping", 10.0), ("armature", 0.1)):
        modifier = AttributeModifier("joint", "finger", attribute)
        params.add(Parameter(attribute, 0.0, min_value=0.0, max_value=most, modifier=modifier))
    batch = SimpleNamespace(model=model)
    lower, upper = params.get_bounds()
    groups = [SimpleNamespace(batches=[batch])]
    return SimpleNamespace(params=params, lower=lower, upper=upper, groups=groups)


@pytest.mark.parametrize("friction", [0.0, 3.5e-4])  # as much as none, for sure
def test_a_joint_without_friction_may_be_one_whose_friction_never_lets_go(friction: float) -> None:
    inertia = HELD[2] + LINK
    free = np.array([friction, HELD[1] + 950.0 * inertia, 10.0 * inertia - LINK])
    apart = motion(*HELD) - motion(*free)
    assert np.abs(apart).max() < 2e-3 * np.ptp(motion(*free))
    errors = np.array([1e-4, 1e-3, 1e-5])
    found = held_by_friction(problem(0.05), free, errors)
    assert found is not None
    assert np.all(np.abs(np.array(HELD) - free) <= 2.0 * found.error)


@pytest.mark.parametrize(
    ("mass", "friction", "armature"),
    [
        (0.05, 0.1, 3e-3),  # friction that is seen
        (500.0, 0.0, 3e-3),  # a link too heavy for it
        (0.05, 0.0, 1.0),  # a rotor whose tenth would take more than all damping
    ],
)
def test_friction_that_would_show_widens_nothing(
    mass: float, friction: float, armature: float
) -> None:
    theta, errors = np.array([friction, 1.3, armature]), np.array([1e-3, 1e-3, 1e-5])
    assert held_by_friction(problem(mass), theta, errors) is None
