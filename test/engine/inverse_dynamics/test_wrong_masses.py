# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A mass of the model that is wrong is named by torque, whatever friction there is; no other is."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from torque_arm import (
    BODIES,
    JOINT_EXPERIMENT,
    experiment_text,
    moved,
    noisy,
    torque_sequences,
    true_spec,
    write_torque_bag,
)

from sysid_ros.dataset import load_dataset
from sysid_ros.diagnosis import FindingKind, check_experiment
from sysid_ros.engine.estimation import TorqueSettings
from sysid_ros.engine.inverse_dynamics import (
    Motion,
    WrongMass,
    are_factors,
    clauses_of,
    mujoco_torque,
)
from sysid_ros.engine.inverse_dynamics.wrong_masses import _Judged
from sysid_ros.engine.measured_torque import fit_torque, found_contradictions, torque_problem
from sysid_ros.experiment import (
    Experiment,
    load_experiment,
    parse_experiment,
    with_overrides,
)
from sysid_ros.robots import build_parameters

FACTOR = 1.4
SHORT = 3000  # samples, 12 s


@pytest.fixture(scope="module")
def recorded() -> tuple[np.ndarray, Motion, np.ndarray]:
    """Instants, motion and torque of the arm, with friction that no law of the fit has."""
    times, motion, torque = moved(true_spec().compile(), 30.0)
    slow = np.exp(-np.abs(motion.qvel) / 0.1)
    return times, motion, torque + 0.2 * np.sign(motion.qvel) * (1.0 + slow)


def wrong_spec(body: str) -> mujoco.MjSpec:
    """The model of the arm with another mass of a body."""
    spec = true_spec()
    if body:
        wrong = spec.body(body)
        wrong.mass *= FACTOR
        wrong.fullinertia = FACTOR * np.array(wrong.fullinertia)
    return spec


def named(
    recorded: tuple[np.ndarray, Motion, np.ndarray],
    body: str = "",
    more: np.ndarray | float = 0.0,
    gain: np.ndarray | float = 1.0,
    *,
    nameless: bool = False,
) -> tuple[WrongMass, ...]:
    """What is found where the model has another mass of a body, or torque something more."""
    times, motion, torque = recorded
    spec = wrong_spec(body)
    if nameless:
        spec.body(body).name = ""
    positions, torque = noisy(motion.qpos, gain * (torque + more))
    params = build_parameters(parse_experiment(JOINT_EXPERIMENT), spec)
    groups = [torque_sequences(spec, times, positions, torque)]
    return found_contradictions(torque_problem(groups, params), TorqueSettings()).masses


def written(
    folder: Path,
    recorded: tuple[np.ndarray, Motion, np.ndarray],
    body: str = "",
    gain: np.ndarray | float = 1.0,
) -> Experiment:
    """An experiment with a part of the recording."""
    times, motion, torque = recorded[0][:SHORT], recorded[1].qpos[:SHORT], recorded[2][:SHORT]
    (folder / "arm.xml").write_text(wrong_spec(body).to_xml())
    write_torque_bag(folder / "bag", times, *noisy(motion, gain * torque))
    (folder / "experiment.yaml").write_text(experiment_text())
    return load_experiment(folder / "experiment.yaml")


def test_check_names_it_and_how_to_repair_it_and_a_fit_says_so(recorded, tmp_path):
    experiment = written(tmp_path, recorded, "upper")
    (found,) = check_experiment(experiment, None)
    assert (found.kind, found.body) == (FindingKind.GRAVITY, "upper")
    assert found.repair == "- {body: upper, mass: null}"
    assert found.evidence["low"] < 1.0 / FACTOR < found.evidence["high"]
    groups = load_dataset(experiment, None).training
    fit = fit_torque(groups, build_parameters(experiment, groups[0].spec))
    (clause,) = fit.torque.doubts
    assert "a mass of 'upper' 0.7" in clause


def test_check_tells_a_factor_of_a_torque_as_its_scale(recorded, tmp_path):
    experiment = written(tmp_path, recorded, gain=np.array([1.0, 1.6, 1.0]))
    (found,) = check_experiment(experiment, None)
    assert (found.kind, found.signals) == (FindingKind.SCALE, ("b_effort",))
    assert found.evidence["low"] < 1.6 < found.evidence["high"]
    assert check_experiment(with_overrides(experiment, found.overrides), None) == ()


def test_a_reversed_torque_is_one_mistake(recorded, tmp_path):
    notes = []
    experiment = written(tmp_path, recorded, gain=np.array([1.0, -1.0, 1.0]))
    (found,) = check_experiment(experiment, None, on_note=notes.append)
    assert found.kind is FindingKind.SIGN and "b_effort" in found.signals
    assert any("masses are not tested" in note for note in notes)


@pytest.mark.parametrize("body", BODIES[1:])
def test_a_wrong_mass_is_named_with_its_factor(recorded, body: str):
    found = named(recorded, body)
    assert [one.body for one in found] == [body]
    assert found[0].factor == pytest.approx(1.0 / FACTOR, rel=0.1)
    assert found[0].interval[0] < found[0].factor < found[0].interval[1] < 0.9
    assert f"a mass of {body!r}" in found[0].clause
    assert found[0].joints


def test_a_torque_with_a_factor_is_named_and_no_mass(recorded):
    (found,) = named(recorded, gain=np.array([1.0, 1.0, 1.3]))
    assert (found.body, found.joint) in {("", "c"), ("fore", "")}
    assert found.factor == pytest.approx(1.3, rel=0.1)
    assert "a torque of 'c' 1.3" in found.clause


def test_a_body_without_a_name_is_told_from_a_torque(recorded):
    (found,) = named(recorded, "fore", nameless=True)
    assert found.clause.count("a mass of 'body_") == 1 and "a torque of ''" not in found.clause


def test_factors_of_all_joints_are_told_together_and_no_mass(recorded):
    gains = np.array([1.14, 0.88, 1.12])
    found = named(recorded, gain=gains)
    assert are_factors(found)
    for one in found:
        assert one.factor == pytest.approx(gains["abc".index(one.joint)], abs=0.05)
    (clause,) = clauses_of(found)
    assert "the masses that are taken for known ask for another torque" in clause


def test_a_right_model_is_not_doubted(recorded):
    assert named(recorded) == ()


def test_a_load_of_which_nothing_is_said_is_called_one_too(recorded):
    _, motion, _ = recorded
    held = true_spec()
    held.body(BODIES[-1]).mass *= 1.4
    loaded = mujoco_torque(held.compile(), motion) - mujoco_torque(true_spec().compile(), motion)
    (found,) = named(recorded, more=loaded)
    assert found.body == BODIES[-1]
    assert "what it holds included" in found.clause


def test_a_push_and_a_load_for_a_while_are_no_mass(recorded):
    times, motion, _ = recorded
    held = true_spec()
    held.body(BODIES[-1]).mass *= 1.4
    loaded = mujoco_torque(held.compile(), motion) - mujoco_torque(true_spec().compile(), motion)
    some = np.where((times > 9.0) & (times < 13.0), 1.0, 0.0)[:, None]
    swell = np.clip(np.sin(np.pi * (times - 20.0) / 3.0), 0.0, None) * (abs(times - 21.5) < 1.5)
    assert named(recorded, more=some * loaded + swell[:, None] * np.array([3.0, 2.0, 1.0])) == ()


@pytest.mark.parametrize(("error", "named"), [(0.2, None), (0.01, 0)])
def test_what_is_surer_does_not_stand_in_for_what_explains_more(error: float, named: int | None):
    """As where a load that comes in the middle makes every mass uncertain, and one joint's not."""
    known = np.zeros(2, dtype=np.bool_)
    left = np.array([0.85, 0.9])
    judged = _Judged(np.array([0.4, 0.5]), np.array([error, 0.01]), left, 1.0, known, 28)
    assert judged.best() == named
