# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The proposal fits as it is, whatever the model's format and the recording's names and units."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from arm_recording import arm_model, simulate, write_bag, wrong_model

from sysid_ros.diagnosis import Finding, FindingKind, check_experiment
from sysid_ros.errors import DataError
from sysid_ros.experiment import load_experiment, with_overrides
from sysid_ros.pipeline.experiment_run import run_experiment
from sysid_ros.proposal import propose, recordings, repairs
from sysid_ros.recording.mapping.mapping_settings import ClockCorrection, SignalKind
from sysid_ros.rehearsal import Motion, RecordingPlan, generate

ALONE = ["fit.landscapes=0", "fit.model_error=false"]  # without what adds to reports
URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 -0.15"/><mass value="1.0"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="fore">
    <inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
      <inertia ixx="0.004" iyy="0.004" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder_joint" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="elbow_joint" type="continuous"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/></joint>
</robot>
"""


DAMPINGS = {"shoulder": 2.0, "elbow": 0.9, "wrist": 0.15}
MIXED = """<mujoco><option timestep="0.001" integrator="implicitfast"/>
  <default><geom contype="0" conaffinity="0"/></default><worldbody>
  <body pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping="1" armature="0.05"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1"/>
  <body pos="0.3 0 0"><joint name="elbow" axis="0 1 0" damping="0.5" armature="0.02"/>
  <geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 0" mass="0.5"/>
  <body pos="0.2 0 0"><joint name="wrist" axis="1 0 0" damping="0.1" armature="0.01"/>
  <geom type="box" size="0.03 0.05 0.02" mass="0.2"/></body></body></body></worldbody>
  <actuator><pid name="upper" joint="shoulder" kp="60" kv="4"/>
  <pid name="fore" joint="elbow" kp="20" kv="1"/><motor name="last" joint="wrist"/></actuator>
</mujoco>"""


def without_sensors(xml: str) -> str:
    spec = mujoco.MjSpec.from_string(xml)
    for sensor in list(spec.sensors):
        spec.delete(sensor)
    text: str = spec.to_xml()
    return text


def held_out_gain(text: str, folder: Path) -> float:
    """Fit a proposal; the held-out error over that of the untuned model."""
    file = folder / "experiment.yaml"
    file.write_text(text)
    experiment = with_overrides(load_experiment(file), ALONE)
    outcome = run_experiment(experiment, output_dir=folder / "results").outcome
    assert outcome.validation is not None
    return outcome.validation.rmse_all / outcome.validation.rmse_all_initial


@pytest.mark.parametrize("behind", [-0.2, (1 << 30) * 1.0])
def test_clocks_that_differ_are_told_and_translated(tmp_path: Path, behind: float) -> None:
    truth = arm_model(1, 2)
    (tmp_path / "arm.xml").write_text(wrong_model(truth, 1))
    write_bag(tmp_path / "bag", simulate(truth, 1), behind=behind)
    proposal = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    assert proposal.experiment.clock_correction is ClockCorrection.DRIFT
    assert f"that are {abs(behind):.4g} s apart" in proposal.draft.clocks
    assert check_experiment(proposal.experiment, None) == ()
    if behind < 10.0:  # else nothing is left of the recording
        as_it_is = replace(proposal.experiment, clock_correction=ClockCorrection.NONE)
        told = check_experiment(as_it_is, None)
        assert [one.overrides for one in told if one.kind is FindingKind.CLOCKS] == [
            ("clock_correction=drift",)
        ]


def test_recordings_that_need_no_repair_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, read, right = arm_model(1, 2), [], recordings.load_dataset
    monkeypatch.setattr(
        recordings,
        "load_dataset",
        lambda *given, **reading: read.append(given) or right(*given, **reading),
    )
    (tmp_path / "arm.xml").write_text(wrong_model(truth, 1))
    write_bag(tmp_path / "bag", simulate(truth, 1))
    propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    assert len(read) == 1


def test_a_model_without_sensors_and_commands_in_order(tmp_path: Path) -> None:
    truth = arm_model(1, 2)
    (tmp_path / "arm.xml").write_text(without_sensors(wrong_model(truth, 1)))
    write_bag(tmp_path / "bag", simulate(truth, 1))
    proposal = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    signals = {(s.kind, s.name): s.field for s in proposal.experiment.signals}
    assert signals == {
        (SignalKind.QPOS, "j0"): "position[j0]",
        (SignalKind.QPOS, "j1"): "position[j1]",
        (SignalKind.ACTUATOR, "m0"): "data[0]",
        (SignalKind.ACTUATOR, "m1"): "data[1]",
    }
    assert proposal.findings == ()
    assert held_out_gain(proposal.text, tmp_path) < 0.3


def test_a_urdf_in_degrees_with_other_names(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    spec = mujoco.MjSpec.from_string(URDF)
    for name in ("shoulder_joint", "elbow_joint"):
        spec.joint(name).damping[0] = 0.05
        motor = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
        motor.gear = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    spec.body("fore").mass = 0.8
    spec.option.timestep = 0.001
    recording = simulate(spec.to_xml(), 3)
    in_degrees = replace(recording, position=np.rad2deg(recording.position))
    names = ["robot/shoulder", "robot/elbow"]
    write_bag(tmp_path / "bag", in_degrees, names=names, measured_torque=True)
    proposal = propose(tmp_path / "arm.urdf", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    scales = {s.label: s.factor for s in proposal.experiment.signals}
    assert scales == {
        "shoulder_joint_qpos": pytest.approx(np.pi / 180.0),
        "elbow_joint_qpos": pytest.approx(np.pi / 180.0),
        "shoulder_joint_effort": 1.0,
        "elbow_joint_effort": 1.0,
    }
    assert "'shoulder_joint_qpos' and 'elbow_joint_qpos' are in degrees" in proposal.text
    assert held_out_gain(proposal.text, tmp_path) < 0.3


def test_recordings_of_another_robot_are_refused(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(arm_model(0, 1))
    recording = simulate(arm_model(0, 1), 0, duration=2.0)
    still = replace(recording, position=np.zeros_like(recording.position))
    write_bag(tmp_path / "bag", still)
    with pytest.raises(DataError, match="no joint of the model"):
        propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")


def test_measured_torque_beside_servos_whose_reference_was_not_recorded(tmp_path: Path) -> None:
    truth = arm_model(3, 3)
    servos = without_sensors(wrong_model(arm_model(3, 3, servos=True), 3))
    (tmp_path / "arm.xml").write_text(servos)
    recording = simulate(truth, 3, noise=1e-5).changed("command", 1, lambda torque: -torque)
    write_bag(tmp_path / "bag", recording, measured_torque=True, commands=False)
    proposal = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    torques = [s for s in proposal.experiment.signals if s.type == "jointactuatorfrc"]
    assert [(s.at, s.field, s.scale) for s in torques] == [
        ("j0", "effort[j0]", 1.0),
        ("j1", "effort[j1]", -1.0),
        ("j2", "effort[j2]", 1.0),
    ]
    assert proposal.experiment.fit.method == "inverse_dynamics"
    assert held_out_gain(proposal.text, tmp_path) < 0.3


@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_an_offset_of_a_measured_torque_is_to_be_found_where_it_shows(
    tmp_path: Path, offset: float
) -> None:
    """As a motor's current has it, or a gear that is not symmetric, of a joint without weight."""
    xml = arm_model(3, 1).replace('axis="0 1 0"', 'axis="0 0 1"')
    truth = mujoco.MjSpec.from_string(xml)
    truth.joints[0].damping = [0.3, 0.0, 0.0]
    truth.actuators[0].biastype = mujoco.mjtBias.mjBIAS_AFFINE
    truth.actuators[0].biasprm[0] = offset
    (tmp_path / "arm.xml").write_text(xml)
    recording = simulate(truth.to_xml(), 1, duration=6.0, noise=5e-5)
    write_bag(tmp_path / "bag", recording, measured_torque=True)
    found = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    free = {one.attribute for one in found.draft.parameters}
    assert "damping" in free
    assert ("torque_offset" in free) == (offset > 0.0)


def test_only_what_measured_torque_moves_is_to_be_found(tmp_path: Path) -> None:
    truth = arm_model(4, 3).replace('name="j2"', 'name="j2" stiffness=".5"')
    (tmp_path / "arm.xml").write_text(without_sensors(truth))
    recording = simulate(truth, 4)
    torque = recording.command.copy()
    torque[:, 0] = 0.0
    write_bag(
        tmp_path / "bag", replace(recording, command=torque), measured_torque=True, commands=False
    )
    proposal = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    found = dict.fromkeys(p.pattern for p in proposal.experiment.parameters)
    assert list(found) == ["link1", "link2", "j1", "j2"]
    springs = [p.pattern for p in proposal.experiment.parameters if p.attribute == "stiffness"]
    assert springs == ["j2"]


@pytest.mark.parametrize("turned", [False, True])
def test_the_body_that_gravity_names_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, turned: bool
) -> None:
    """Also where an encoder counts the other way, which may hide masses until it is repaired."""
    right, seen = repairs.check_dataset, []

    def hiding_masses(*given: Any, **how: Any) -> tuple[Finding, ...]:
        found = right(*given, **how)
        signs = tuple(one for one in found if one.kind is FindingKind.SIGN)
        seen.append(bool(signs))
        return signs or found

    monkeypatch.setattr(repairs, "check_dataset", hiding_masses)
    truth = arm_model(1, 2)
    spec = mujoco.MjSpec.from_string(truth)
    body = spec.body("link1")
    body.mass, body.inertia = body.mass / 1.5, body.inertia / 1.5
    (tmp_path / "arm.xml").write_text(without_sensors(spec.to_xml()))
    recorded = simulate(truth, 1)
    for told in ("position", "velocity") if turned else ():
        recorded = recorded.changed(told, 1, np.negative)
    write_bag(tmp_path / "bag", recorded)
    proposal = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    masses = {one.pattern: one for one in proposal.experiment.parameters if one.attribute == "mass"}
    assert masses["link1"].prior is None  # what contradicts the model does not pull back to it
    assert "times the model's" in proposal.text
    assert ("scale: -1.0" in proposal.text) is turned
    assert seen == ([True, False] if turned else [False])
    assert proposal.findings == ()


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_beside_gains_that_nobody_knows_gravity_names_a_body_once_they_are_free(
    tmp_path: Path, factor: float
) -> None:
    """With guessed ones any body may be named; with free ones "upper" explains as much."""
    (tmp_path / "arm.urdf").write_text(URDF)
    spec = mujoco.MjSpec.from_string(URDF)
    for name, gain in (("shoulder_joint", 80.0), ("elbow_joint", 25.0)):
        spec.joint(name).damping[0], spec.joint(name).armature = 0.05, 0.02
        servo = spec.add_actuator(name=name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
        servo.set_to_position(kp=gain, kv=0.05 * gain)
    spec.body("fore").mass *= factor
    spec.body("fore").inertia = factor * spec.body("fore").inertia
    spec.option.timestep = 0.001
    generate(spec, RecordingPlan(duration=12.0, motion=Motion(reach=0.6)), tmp_path / "bag")
    proposal = propose(tmp_path / "arm.urdf", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    free = [one.pattern for one in proposal.experiment.parameters if one.attribute == "mass"]
    assert set(free) == ({"fore", "upper"} if factor > 1.0 else set())
    assert FindingKind.GRAVITY not in {one.kind for one in proposal.findings}


def test_an_arm_under_servos_that_leans_has_its_gravity_in_the_file(tmp_path: Path) -> None:
    model = arm_model(1, 2, servos=True)
    spec = mujoco.MjSpec.from_string(model)
    spec.option.gravity = 9.81 * np.array([np.sin(0.4), 0.0, -np.cos(0.4)])
    (tmp_path / "arm.xml").write_text(without_sensors(model))
    plan = RecordingPlan(duration=8.0, motion=Motion(reach=0.5), settle=0.5)
    generate(spec, plan, tmp_path / "bag")
    proposal = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    (gravity,) = [one for one in proposal.experiment.parameters if one.attribute == "gravity"]
    assert gravity.frozen
    assert np.array(gravity.initial) == pytest.approx(spec.option.gravity, abs=0.1)
    assert len(proposal.experiment.parameters) > 1
    assert proposal.findings == ()


@pytest.mark.skipif(not hasattr(mujoco.mjtGain, "mjGAIN_PID"), reason="MuJoCo 4 brought pids")
def test_actuators_of_several_inputs_beside_a_motor(tmp_path: Path) -> None:
    """``nu`` counts inputs; a pid's place is its first, and it is no motor's."""
    spec = mujoco.MjSpec.from_string(MIXED)
    (tmp_path / "arm.xml").write_text(MIXED)
    for joint, damping in DAMPINGS.items():
        spec.joint(joint).damping[0] = damping
    plan = RecordingPlan(duration=6.0, motion=Motion(reach=0.6), settle=0.5)
    generate(spec, plan, tmp_path / "bag")
    proposal = propose(tmp_path / "arm.xml", [tmp_path / "bag"], tmp_path / "experiment.yaml")
    inputs = [one for one in proposal.experiment.signals if one.kind is SignalKind.ACTUATOR]
    assert {one.name: one.field for one in inputs} == {
        "upper": "data[0]", "fore": "data[1]", "last": "data[2]",
    }  # fmt: skip
    assert proposal.findings == ()
    experiment = with_overrides(proposal.experiment, ALONE)
    outcome = run_experiment(experiment, output_dir=tmp_path / "results").outcome
    found = {one.name: one.value for one in outcome.fit.parameters}
    for joint, damping in DAMPINGS.items():
        assert found[f"{joint}_damping"] == pytest.approx(damping, rel=0.05)
