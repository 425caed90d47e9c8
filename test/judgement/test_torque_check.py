# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A wrong model that predicts positions well is found out by the torque that it asks for."""

from __future__ import annotations

from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from arm_recording import ArmRecording, arm_model, simulate, write_bag

from sysid_ros.dataset import FitInputs
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences, TimeSeries
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType
from sysid_ros.experiment import load_experiment
from sysid_ros.judgement.findings import torque_shares
from sysid_ros.judgement.outcome import JointTorque, Judgement
from sysid_ros.judgement.torque_check import torque_errors
from sysid_ros.pipeline import run_experiment

JOINTS = 3
WRONG = 10.0  # kg m^2, that no joint of these arms has


def spec_with(xml: str, *, friction: float, damping: float, armature: float | None) -> str:
    spec = mujoco.MjSpec.from_string(xml)
    for joint in spec.joints:
        joint.frictionloss = friction
        joint.damping = np.array([damping, 0.0, 0.0])
        if armature is not None:
            joint.armature = armature
    text: str = spec.to_xml()
    return text


def write(
    folder: Path,
    model: str,
    recordings: dict[str, ArmRecording],
    extra: str = "",
    scale: float = 1.0,
) -> Path:
    """An experiment that takes the torque measured at the joints as input."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "arm.xml").write_text(model)
    for name, recording in recordings.items():
        write_bag(folder / name, recording, measured_torque=True)
    signals = [
        f'  - {{actuator: m{i}, topic: /joint_states, field: "effort[j{i}]", scale: {scale}}}'
        for i in range(JOINTS)
    ]
    signals += [
        f'  - {{sensor: {name}{i}, topic: /joint_states, field: "{field}[j{i}]"}}'
        for name, field in (("p", "position"), ("v", "velocity"))
        for i in range(JOINTS)
    ]
    file = folder / "experiment.yaml"
    file.write_text(
        "model: arm.xml\nsequences: [fitted]\nsignals:\n"
        + "\n".join(signals)
        + '\nparameters:\n  - {joint: "*", armature: {min: 0.0, max: 50.0}}\n'
        + extra
    )
    return file


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> FitInputs:
    """An arm whose model is right."""
    xml = arm_model(3, JOINTS)
    recordings = {"fitted": simulate(xml, 1, duration=6.0)}
    file = write(tmp_path_factory.mktemp("good"), xml, recordings)
    return FitInputs.read(load_experiment(file), None)


def errors(inputs: FitInputs, values: np.ndarray) -> tuple[JointTorque, ...]:
    return torque_errors(inputs.dataset.training, inputs.params, values)


def test_the_true_model_asks_for_the_torque_that_was_measured(good: FitInputs) -> None:
    found = errors(good, np.full(JOINTS, WRONG))
    assert [one.joint for one in found] == ["j0", "j1", "j2"]
    for one in found:
        assert one.unit == "N m"
        assert one.rmse_initial < 0.1 * one.measured
        assert one.rmse > 5.0 * one.measured


def test_a_scale_of_the_torque_shows(tmp_path: Path) -> None:
    xml = arm_model(3, JOINTS)
    file = write(tmp_path, xml, {"fitted": simulate(xml, 1, duration=6.0)}, scale=2.0)
    inputs = FitInputs.read(load_experiment(file), None)
    before, after = torque_shares(errors(inputs, inputs.params.as_vector()))
    assert before == after == pytest.approx(0.5, abs=0.05)


def test_a_bias_of_a_motor_is_part_of_its_torque(tmp_path: Path) -> None:
    """As an amplifier that is off by 2 N m, whatever is asked of it."""
    xml = arm_model(3, JOINTS)
    off = mujoco.MjSpec.from_string(xml)
    off.actuators[1].biastype = mujoco.mjtBias.mjBIAS_AFFINE
    off.actuators[1].biasprm[0] = 2.0
    file = write(tmp_path, xml, {"fitted": simulate(off.to_xml(), 1, duration=6.0)})
    free = "  - {actuator: m1, bias: {min: -5.0, max: 5.0}}\n"
    file.write_text(file.read_text() + free)
    inputs = FitInputs.read(load_experiment(file), None)
    values = inputs.params.as_vector()
    values[-1] = 2.0
    one = errors(inputs, values)[1]
    assert one.rmse_initial == pytest.approx(2.0, abs=0.4)
    assert one.rmse < 0.2 * one.rmse_initial


WHEEL_ON_A_PENDULUM = """<mujoco><option timestep="0.002"/><worldbody><body pos="0 0 0.5">
  <joint name="pivot" axis="0 1 0" damping="0.002"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.01" mass="0.35"/>
  <body pos="0 0 -0.2"><joint name="wheel" axis="0 1 0" damping="1e-4"/>
    <geom type="cylinder" size="0.07 0.008" euler="90 0 0" mass="0.25" contype="0"/></body></body>
  </worldbody><actuator><motor name="motor" joint="wheel"/></actuator>
  <sensor><jointpos name="swing" joint="pivot"/><jointpos name="turn" joint="wheel"/></sensor>
</mujoco>"""


@pytest.mark.parametrize(("gravity", "contradicted"), [(9.81, False), (5.0, True)])
def test_a_joint_that_nothing_drives_is_held_against_what_accelerates_it(
    gravity: float, contradicted: bool
) -> None:
    model = mujoco.MjModel.from_xml_string(WHEEL_ON_A_PENDULUM)
    times = 0.002 * np.arange(6000)
    pushed = 0.08 * np.sin(8.0 * times) + 0.08 * np.sin(5.2 * times)
    start = create_initial_state(model, model.qpos0, np.zeros(model.nv))
    _, seen = mujoco.rollout.rollout(
        model, mujoco.MjData(model), start[None], pushed[None, :, None]
    )
    told = mujoco.MjSpec.from_string(WHEEL_ON_A_PENDULUM)
    told.option.gravity = [0.0, 0.0, -gravity]
    recorded = ModelSequences(
        "pendulum", told, "recording", start,
        TimeSeries(times, pushed[:, None], {"motor": (SignalType.MjCtrl, np.array([0]))}),
        TimeSeries(times + 0.002, seen[0], {
            name: (SignalType.MjSensor, np.array([k])) for k, name in enumerate(("swing", "turn"))
        }),
    )  # fmt: skip
    assert np.std(seen[0, :, 0]) > 0.3, "it swings far enough to pass through the low-pass bent"
    params = ParameterDict()
    found = torque_errors([recorded], params, params.as_vector())
    assert [one.joint for one in found] == ["pivot", "wheel"]
    assert (torque_shares(found)[1] > 0.3) == contradicted


def test_nothing_is_said_where_another_force_acts(good: FitInputs) -> None:
    """A limit that the arm rests against takes torque that nobody measures."""
    (group,) = good.dataset.training
    spec = group.spec.copy()
    for joint in spec.joints:
        joint.limited = True
        joint.range = np.array([3.0, 3.1])
    used = replace_spec(group, spec)
    assert torque_errors([used], good.params, good.params.as_vector()) == ()


def test_nothing_is_said_where_a_joint_is_not_measured(good: FitInputs) -> None:
    (group,) = good.dataset.training
    spec = group.spec.copy()
    spec.bodies[-1].add_body(name="more").add_joint(name="unknown")
    spec.bodies[-1].mass, spec.bodies[-1].inertia = 0.1, np.full(3, 1e-3)
    spec.bodies[-1].explicitinertial = True
    used = replace_spec(group, spec)
    assert torque_errors([used], good.params, good.params.as_vector()) == ()


def replace_spec(group, spec):  # type: ignore[no-untyped-def]
    from sysid_ros.engine.signals import ModelSequences

    return ModelSequences(
        group.name,
        spec,
        group.sequence_name,
        [np.zeros(1 + 2 * spec.copy().compile().nv)],
        group.control,
        group.sensordata,
        allow_missing_sensors=True,
    )


def test_a_model_that_coasts_is_not_called_an_improvement(tmp_path: Path) -> None:
    """Torque as input, short windows, measured starts: heavy joints coast and look right.

    The true arm has friction that the model lacks. Rotors that are much too heavy hide it: the
    position error falls by three quarters while the torque is several times as wrong.
    """
    xml = arm_model(3, JOINTS)
    truth = spec_with(xml, friction=1.0, damping=0.2, armature=None)
    recordings = {
        name: simulate(truth, seed, duration=6.0, noise=2e-3)
        for seed, name in ((1, "fitted"), (2, "held_out"))
    }
    file = write(
        tmp_path,
        spec_with(xml, friction=0.0, damping=0.0, armature=0.01),
        recordings,
        "validation: {bags: [held_out]}\nwindows: {length: 0.1}\n"
        "initial_state: {estimate: false}\n",
    )
    outcome = run_experiment(load_experiment(file), output_dir=tmp_path / "out").outcome
    score = outcome.validation
    assert score is not None
    assert score.rmse_all < 0.5 * score.rmse_all_initial
    assert score.rmse_all < min(score.rmse_still_all, score.rmse_mean_all)
    before, after = torque_shares(outcome.torques)
    assert after > 2.0 * before
    assert outcome.judgement is Judgement.CONTRADICTED
    assert outcome.verdict.startswith("Contradicted by the measured torque: ")
