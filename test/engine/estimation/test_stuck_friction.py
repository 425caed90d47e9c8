# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A joint that a search takes for one that never slides is found to slide."""

from __future__ import annotations

from pathlib import Path

import mujoco

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
