# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Integral parts of drives are told from loads, whatever the model's masses are."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, drive_parts
from sysid_ros.diagnosis.fits import ServoEquation
from sysid_ros.diagnosis.integral_parts import drift_columns
from sysid_ros.diagnosis.tracking import Tracking
from sysid_ros.experiment import parse_experiment, with_overrides
from sysid_ros.judgement.outcome import Judgement
from sysid_ros.pipeline import run_experiment
from sysid_ros.proposal import propose
from sysid_ros.rehearsal import Controller, JointStates, Motion, Reading, RecordingPlan, generate

pytestmark = pytest.mark.skipif(
    not hasattr(mujoco.mjtGain, "mjGAIN_PID"), reason="MuJoCo 4 brought pids, which make the data"
)
PLAN = RecordingPlan(
    controllers=(Controller(delay=0.008),),
    sensors=(JointStates(position=Reading(noise=5e-5, quantum=1e-4)),),
    duration=12.0,
    timestep=1e-3,
    motion=Motion(reach=0.6),
)

SIGNALS = """model: robot.xml
sequences: [bag]
signals:
  - {qpos: lift, topic: /joint_states, field: "position[lift]"}
  - {qpos: bend, topic: /joint_states, field: "position[bend]"}
  - {actuator: lift, topic: /position_controller/commands, field: "data[0]"}
  - {actuator: bend, topic: /position_controller/commands, field: "data[1]"}
"""


def arm(kind: str, mass: float = 1.0, **gains: float) -> str:
    """Two joints behind each other that turn against gravity."""
    own = " ".join(f'{name}="{value}"' for name, value in gains.items())
    return f"""<mujoco><option timestep="0.002" integrator="implicitfast">
      <flag contact="disable"/></option><worldbody><body pos="0 0 1">
      <joint name="lift" axis="0 1 0" damping="1" armature=".1" frictionloss=".5"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04" mass="2"/><body pos=".3 0 0">
      <joint name="bend" axis="0 1 0" damping=".5" armature=".05" frictionloss=".3"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04" mass="{mass}"/>
      </body></body></worldbody>
      <actuator><{kind} name="lift" joint="lift" kp="300" kv="10" {own}/>
      <{kind} name="bend" joint="bend" kp="200" kv="5"/></actuator></mujoco>"""


def recorded(folder: Path, true: str, model: str) -> Path:
    """A folder with a recording of a true robot beside the model of another."""
    (folder / "robot.xml").write_text(model)
    generate(mujoco.MjSpec.from_string(true), PLAN, folder / "bag")
    return folder


@pytest.mark.parametrize(
    ("true", "model", "rate"),
    [
        (arm("pid", ki=600.0), arm("position"), 2.0),
        (arm("pid", ki=150.0), arm("position", mass=1.4), 0.5),
        (arm("position"), arm("position"), 0.0),
        (arm("position"), arm("position", mass=1.4), 0.0),
        (arm("pid", ki=600.0), arm("pid", ki=600.0), 0.0),  # the model has it
    ],
)
def test_an_integral_part_is_told_with_its_gain(
    tmp_path: Path, true: str, model: str, rate: float
) -> None:
    recorded(tmp_path, true, model)
    experiment = parse_experiment(SIGNALS, path=tmp_path / "experiment.yaml")
    found = drive_parts(experiment, load_dataset(experiment, None))
    assert [(one.kind, one.signals) for one in found] == [(FindingKind.INTEGRAL, ("lift",))] * bool(
        rate
    )
    assert not found or found[0].evidence["rate"] == pytest.approx(rate, rel=0.15)


def test_an_equation_of_a_servo_is_made_once_for_all_lags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servos, right = [], Tracking.equation

    def counted(test: Tracking, servo: int) -> ServoEquation:
        servos.append(servo)
        return right(test, servo)

    monkeypatch.setattr(Tracking, "equation", counted)
    recorded(tmp_path, arm("pid", ki=600.0), arm("position"))
    experiment = parse_experiment(SIGNALS, path=tmp_path / "experiment.yaml")
    assert drive_parts(experiment, load_dataset(experiment, None))
    assert servos == [0, 1]


def test_nothing_is_freed_in_its_place_and_the_verdict_names_it(tmp_path: Path) -> None:
    """A zero of 14 mrad and six times the armature were, under "At a bound"."""
    recorded(tmp_path, arm("pid", ki=600.0), arm("position"))
    proposal = propose(tmp_path / "robot.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    assert [one.kind for one in proposal.findings] == [FindingKind.INTEGRAL]
    freed = {one.attribute for one in proposal.experiment.parameters}
    assert freed == {"frictionloss", "damping", "armature", "delay"}
    alone = ["fit.landscapes=0", "fit.model_error=false"]
    experiment = with_overrides(proposal.experiment, alone)
    outcome = run_experiment(experiment, output_dir=tmp_path / "results").outcome
    assert outcome.judgement is Judgement.SUSPECT_DATA
    assert outcome.verdict.startswith("Suspect data: An integral part of the drive")


def test_recordings_of_which_hardly_anything_is_used_have_no_drift_of_their_own() -> None:
    columns = drift_columns([np.arange(5), np.arange(0), np.array([7])])
    assert columns.shape == (6, 3)  # a constant and a ramp, and a constant
    assert np.linalg.matrix_rank(columns) == 3
