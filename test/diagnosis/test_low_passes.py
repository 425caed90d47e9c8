# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A driver that smooths set points is named; its time constant is no delay and no damping."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, drive_parts, low_passes
from sysid_ros.diagnosis.evidence import Recorded
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.experiment import Experiment, parse_experiment, with_overrides
from sysid_ros.judgement.outcome import Judgement
from sysid_ros.pipeline import run_experiment
from sysid_ros.rehearsal import Controller, JointStates, Motion, Reading, RecordingPlan, generate

PLAN = RecordingPlan(
    controllers=(Controller(delay=0.008),),
    sensors=(JointStates(position=Reading(noise=5e-5, quantum=1e-4)),),
    duration=12.0,
    timestep=1e-3,
    motion=Motion(reach=0.6),
)


def arm(constant: float = 0.0, mass: float = 1.0) -> str:
    """Two joints behind each other that turn against gravity, whose servos may have low-passes."""
    own = f'timeconst="{constant}"' if constant else ""
    return f"""<mujoco><option timestep="0.002" integrator="implicitfast">
      <flag contact="disable"/></option><worldbody><body pos="0 0 1">
      <joint name="lift" axis="0 1 0" damping="1" armature=".1" frictionloss=".5"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04" mass="2"/><body pos=".3 0 0">
      <joint name="bend" axis="0 1 0" damping=".5" armature=".05" frictionloss=".3"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04" mass="{mass}"/>
      </body></body></worldbody>
      <actuator><position name="lift" joint="lift" kp="300" kv="10" {own}/>
      <position name="bend" joint="bend" kp="200" kv="5" {own}/></actuator></mujoco>"""


def recorded(folder: Path, true: str, model: str, plan: RecordingPlan = PLAN) -> Experiment:
    (folder / "robot.xml").write_text(model)
    generate(mujoco.MjSpec.from_string(true), plan, folder / "bag")
    return parse_experiment(
        """model: robot.xml
sequences: [bag]
validation: {fraction: 0.2}
signals:
  - {qpos: lift, topic: /joint_states, field: "position[lift]"}
  - {qpos: bend, topic: /joint_states, field: "position[bend]"}
  - {actuator: lift, topic: /position_controller/commands, field: "data[0]"}
  - {actuator: bend, topic: /position_controller/commands, field: "data[1]"}
parameters:
  - {joint: "*", damping: , frictionloss: , armature: }
  - {signal: "[lb]*", delay: {min: 0.0, max: 0.1, shared: true}}
""",
        path=folder / "experiment.yaml",
    )


def light_arm(constant: float = 0.0) -> str:
    """The same joints on servos whose lag, 33 ms, is most of what they do."""
    own = f'timeconst="{constant}"' if constant else ""
    joint = 'axis="0 1 0" damping=".001" armature=".005" frictionloss=".006"'
    geom = '<geom type="capsule" fromto="0 0 0 .15 0 0" size=".02" mass=".018"/>'
    return f"""<mujoco><option timestep="0.002" integrator="Euler">
      <flag contact="disable"/></option><worldbody><body pos="0 0 1">
      <joint name="lift" {joint}/>{geom}<body pos=".15 0 0"><joint name="bend" {joint}/>{geom}
      </body></body></worldbody>
      <actuator><position name="lift" joint="lift" kp="30" kv="1" {own}/>
      <position name="bend" joint="bend" kp="30" kv="1" {own}/></actuator></mujoco>"""


class _Steps:
    """Two commands that leap to another value every quarter of a second."""

    def controls(self, time: float, data: mujoco.MjData) -> FloatArray:
        del data
        return np.random.default_rng(int(time / 0.275)).uniform(-0.42, 0.42, 2)


@pytest.mark.parametrize("constant", [0.0, 0.03])
def test_a_servo_s_own_lag_is_no_low_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, constant: float
) -> None:
    """Told square waves, a step of a light servo looks like a low-pass in place of its damping."""
    generating = importlib.import_module("sysid_ros.rehearsal.generate")
    monkeypatch.setattr(generating, "drive_for", lambda *_, **__: _Steps())
    plan = replace(PLAN, controllers=(Controller(),), duration=20.0, timestep=2e-3)
    experiment = recorded(tmp_path, light_arm(constant), light_arm(), plan)
    found = drive_parts(experiment, load_dataset(experiment, None))
    told = [one.evidence["time_constant"] for one in found]
    assert told == pytest.approx([constant] if constant else [], rel=0.15)


@pytest.mark.parametrize(
    ("true", "model", "constant", "asked"),
    [
        (arm(0.04), arm(), 0.04, 2),
        (arm(0.05), arm(mass=1.4), 0.05, 2),
        (arm(), arm(), 0.0, 1),  # the other alone would be no driver's
        (arm(), arm(mass=1.4), 0.0, 1),
        (arm(0.04), arm(0.03), 0.0, 0),  # the model has one, whose constant a parameter finds
    ],
)
def test_a_low_pass_is_told_with_its_time_constant(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    true: str,
    model: str,
    constant: float,
    asked: int,
) -> None:
    servos, right = list[int](), low_passes._constant

    def counted(recorded: Recorded, test: Tracking, servo: int) -> float:
        servos.append(servo)
        return right(recorded, test, servo)

    monkeypatch.setattr(low_passes, "_constant", counted)
    experiment = recorded(tmp_path, true, model)
    found = drive_parts(experiment, load_dataset(experiment, None))
    told = [(FindingKind.SMOOTHED, ("lift", "bend"))] if constant else []
    assert [(one.kind, one.signals) for one in found] == told
    assert len(servos) == asked
    assert not found or found[0].evidence["time_constant"] == pytest.approx(constant, rel=0.15)


def test_the_verdict_names_it(tmp_path: Path) -> None:
    """It was "Improved", with dampings of many times the truth."""
    experiment = recorded(tmp_path, arm(0.04), arm())
    alone = ["fit.landscapes=0", "fit.model_error=false"]
    outcome = run_experiment(
        with_overrides(experiment, alone), output_dir=tmp_path / "results"
    ).outcome
    assert outcome.judgement is Judgement.SUSPECT_DATA
    assert "as if a low-pass of first order, of 0.0" in outcome.verdict
