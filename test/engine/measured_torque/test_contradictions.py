# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An effort that is no torque is told from those that are."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import mujoco
import numpy as np
import pytest
from torque_arm import (
    BODIES,
    JOINTS,
    experiment_text,
    inertia_and_friction,
    moved,
    noisy,
    nominal_xml,
    torque_sequences,
    true_spec,
    write_torque_bag,
)

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, check_experiment, checks
from sysid_ros.diagnosis.effort_mistakes import settled, with_contradictions
from sysid_ros.diagnosis.evidence.finding import Finding
from sysid_ros.diagnosis.evidence.recorded import recorded as joints_of
from sysid_ros.diagnosis.torque import Dynamics
from sysid_ros.diagnosis.torque_checks import torque_unit
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.measured_torque import found_contradictions, torque_problem
from sysid_ros.engine.parameters import Parameter, SignalModifier
from sysid_ros.experiment import load_experiment
from sysid_ros.pipeline import run_experiment

contradicting = import_module("sysid_ros.engine.inverse_dynamics.contradicting_joint")
pytest.importorskip("clarabel", reason="the convex solver is not installed")

INERTIAS = "".join(f"  - {{body: {body}, inertia: pseudo}}\n" for body in BODIES)


def once(function):
    """A function whose first result is every later one's."""
    known = []

    def given(*arguments, **options):
        if not known:
            known.append(tuple(function(*arguments, **options)))
        return list(known[0])

    return given


@pytest.fixture(scope="module")
def recorded() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    times, motion, torque = moved(true_spec().compile(), 15.0, 100.0)
    return times, *noisy(motion.qpos, torque, 100.0)


def in_volts(torque: np.ndarray, joint: int, law) -> np.ndarray:
    changed = torque.copy()
    changed[:, joint] = law(torque[:, joint])
    return changed


LAWS = {
    "a share that saturates": lambda torque: np.clip(0.02 * torque, -0.05, 0.05),
    "compressed": lambda torque: 0.05 * np.arcsinh(torque) + 0.3,
}


@pytest.mark.parametrize("law", LAWS)
def test_an_effort_in_no_unit_is_named(recorded, law) -> None:
    times, qpos, torque = recorded
    found = odd_of(times, qpos, in_volts(torque, 1, LAWS[law]))
    assert found is not None
    assert found.signal == "b_effort"
    assert found.left < 0.8


def test_a_free_gain_leaves_the_efforts_of_others_to_be_doubted(recorded) -> None:
    times, qpos, torque = recorded
    scaled = in_volts(torque, JOINTS.index("c"), lambda one: 0.3 * one)
    for gained in (("c",), JOINTS):
        assert odd_of(times, qpos, scaled, gained=gained) is None
    found = odd_of(times, qpos, in_volts(scaled, 1, LAWS["compressed"]), gained=("c",))
    assert found is not None
    assert found.signal == "b_effort"


def odd_of(times, qpos, torque, spec=None, joints=JOINTS, bodies=BODIES, gained=()):
    spec = spec or mujoco.MjSpec.from_string(nominal_xml())
    params = inertia_and_friction(spec, joints, bodies)
    for name in gained:
        modifier = SignalModifier(f"{name}_effort", "gain")
        params.add(Parameter(f"{name}_gain", 1.0, 0.001, 100.0, modifier=modifier))
    groups = [torque_sequences(spec, times, qpos, torque)]
    return found_contradictions(torque_problem(groups, params), TorqueSettings()).odd


def test_a_compressed_effort_is_no_wrong_sign_though_another_sign_and_scale_explain_much(
    recorded, tmp_path
) -> None:
    times, qpos, torque = recorded
    (tmp_path / "arm.xml").write_text(nominal_xml())
    write_torque_bag(tmp_path / "bag", times, qpos, in_volts(torque, 1, LAWS["compressed"]))
    (tmp_path / "experiment.yaml").write_text(experiment_text(INERTIAS))
    experiment = load_experiment(tmp_path / "experiment.yaml")
    explained = {"unexplained_before": 0.73, "unexplained_after": 0.175}  # as check finds in 15 s
    wrong = Finding(FindingKind.SIGN, ("b_effort",), explained, "", "", ())
    dataset = load_dataset(experiment, None)
    (first,) = with_contradictions(experiment, dataset, [wrong])
    assert first.kind is FindingKind.ODD_EFFORT
    decisive = {"unexplained_before": 7.3, "unexplained_after": 0.175}
    right = replace(wrong, evidence=decisive)
    assert with_contradictions(experiment, dataset, [right]) == (right,)


@pytest.mark.parametrize("label", ["a_qpos", "a_effort"])
def test_half_a_position_is_no_torque_of_twice_the_size(recorded, tmp_path, label) -> None:
    """No repair is decisive, and masses contradict both: robots of any masses say which it is."""
    times, qpos, torque = (one.copy() for one in recorded)
    wrong, factor = (qpos, 0.5) if label == "a_qpos" else (torque, 2.0)
    wrong[:, 0] *= factor
    (tmp_path / "arm.xml").write_text(true_spec().to_xml())
    write_torque_bag(tmp_path / "bag", times, qpos, torque)
    (tmp_path / "experiment.yaml").write_text(experiment_text())
    (finding,) = check_experiment(load_experiment(tmp_path / "experiment.yaml"), None)
    assert (finding.kind, finding.signals) == (FindingKind.SCALE, (label,))
    low, high = ("size_low", "size_high") if label == "a_qpos" else ("low", "high")
    told = 1.0 / factor if label == "a_qpos" else factor
    assert finding.evidence[low] < told < finding.evidence[high]


def test_right_torques_are_not_doubted(recorded) -> None:
    assert odd_of(*recorded) is None


def test_limbs_that_share_nothing_are_doubted_by_themselves(recorded, monkeypatch) -> None:
    """What is solved for is as large as a limb, however many there are."""
    times, qpos, torque = recorded
    spec = mujoco.MjSpec.from_string(nominal_xml())
    frame = spec.worldbody.add_frame(pos=[0.0, 2.0, 0.0])
    frame.attach_body(mujoco.MjSpec.from_string(nominal_xml()).worldbody.first_body(), "", "_2")
    sizes, solve = [], contradicting.least_squares

    def sized(hessian, gradient):
        sizes.append(len(hessian))
        return solve(hessian, gradient)

    monkeypatch.setattr(contradicting, "least_squares", sized)
    twice = [*JOINTS, *(f"{name}_2" for name in JOINTS)], [*BODIES, *(f"{b}_2" for b in BODIES)]
    second = in_volts(torque, 1, LAWS["compressed"])
    found = odd_of(times, np.tile(qpos, 2), np.hstack([torque, second]), spec, *twice)
    assert found.signal == "b_2_effort"
    assert max(sizes) <= 13 * len(JOINTS)


def test_one_effort_in_no_unit_does_not_make_that_of_all_another(recorded) -> None:
    times, qpos, torque = recorded
    assert unit_of(times, qpos, in_volts(torque, 1, LAWS["a share that saturates"])) is None
    assert unit_of(times, qpos, 0.001 * torque).size == 1000.0


def test_motor_currents_are_named_with_what_each_motor_gives(recorded) -> None:
    times, qpos, torque = recorded
    gains = np.array([9.0, 15.0, 11.0])[: torque.shape[1]]
    change = unit_of(times, qpos, torque / gains, true_spec()).change  # masses that are right
    np.testing.assert_allclose([*change.scale.values()], gains, rtol=0.3)  # the last is light
    assert settled([Finding(change.kind, change.signals, {}, "", "", ())])


def unit_of(times, qpos, torque, spec=None):
    spec = spec or mujoco.MjSpec.from_string(nominal_xml())
    sorted_ = joints_of([torque_sequences(spec, times, qpos, torque)])
    return torque_unit(sorted_, Dynamics.of(sorted_))


def test_check_and_verdict_name_the_effort_first_and_ask_for_no_command(
    recorded, tmp_path, monkeypatch
) -> None:
    times, qpos, torque = recorded
    spec = mujoco.MjSpec.from_string(nominal_xml())
    for name in JOINTS:  # servos that a fit to torque does not need
        spec.add_actuator(name=f"{name}_servo", trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
    (tmp_path / "arm.xml").write_text(spec.to_xml())
    law = LAWS["a share that saturates"]
    write_torque_bag(tmp_path / "bag", times, qpos, in_volts(torque, 1, law))
    text = experiment_text(INERTIAS)
    for name in JOINTS:
        sensor = f"{{sensor: {name}_torque, type: jointactuatorfrc, at: {name},"
        text = text.replace(f"{{effort: {name},", sensor)
    (tmp_path / "experiment.yaml").write_text(text)
    experiment = load_experiment(tmp_path / "experiment.yaml")
    # the verdict asks for what check has searched for seconds
    monkeypatch.setattr(checks, "_of_values", once(checks._of_values))
    first, *others = check_experiment(experiment, None)
    assert first.kind is FindingKind.ODD_EFFORT
    assert first.signals == ("b_torque",)
    assert first.repair.startswith("# - {sensor: b_torque,")
    assert not any("unexplained_before" in one.evidence for one in others)
    assert FindingKind.NO_CONTROL not in [one.kind for one in others]
    verdict = run_experiment(experiment).outcome.verdict
    assert verdict.startswith("Suspect data: no robot has the torque of 'b_torque'")
