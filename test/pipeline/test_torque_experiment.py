# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Experiments that are fitted to measured torque, from the file to the result folder."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import mujoco
import numpy as np
import pytest
from simulated_arms import DAMPING, FRICTION
from torque_arm import (
    BODIES,
    JOINTS,
    OFFSETS,
    experiment_text,
    moved,
    noisy,
    nominal_xml,
    true_spec,
    write_torque_bag,
)

from sysid_ros.comparison import evaluate_files
from sysid_ros.dataset import model_with_payload
from sysid_ros.engine.inverse_dynamics import (
    mujoco_torque,
    sharpen_friction,
    with_coupling,
    with_payload,
)
from sysid_ros.errors import ExperimentError
from sysid_ros.experiment import load_experiment, parse_experiment, with_overrides
from sysid_ros.judgement import evaluate, evaluate_model
from sysid_ros.pipeline import run_experiment
from sysid_ros.proposal import propose
from sysid_ros.results import read_results
from sysid_ros.robots import build_parameters

pytest.importorskip("clarabel", reason="the convex solver is not installed")

WHOLE = "\n".join(f"  - {{body: {body}, inertia: pseudo}}" for body in BODIES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A bag of the arm beside its model and experiment."""
    folder = tmp_path_factory.mktemp("torque")
    times, motion, torque = moved(true_spec().compile())
    write_torque_bag(folder / "bag", times, *noisy(motion.qpos, torque))
    (folder / "arm.xml").write_text(nominal_xml())
    (folder / "experiment.yaml").write_text(experiment_text(WHOLE))
    return folder


@pytest.fixture(scope="module")
def run(folder):
    return run_experiment(
        load_experiment(folder / "experiment.yaml"), output_dir=folder / "results"
    )


def test_a_pattern_of_bodies_leaves_frames_and_fixed_bodies_out(folder):
    spec = mujoco.MjSpec.from_string(nominal_xml())
    spec.body("fore").add_body(name="flange")
    pedestal = spec.worldbody.add_body(name="pedestal")
    pedestal.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0])
    (folder / "frames.xml").write_text(spec.to_xml())
    text = experiment_text('  - {body: "*", inertia: pseudo}').replace("arm.xml", "frames.xml")
    names = evaluate(parse_experiment(text, path=folder / "frames.yaml"), {}).parameters
    assert {n.partition("_inertia")[0] for n in names if "inertia" in n} == set(BODIES)


def test_the_verdict_is_about_torque_that_was_held_out(run):
    validation = run.outcome.validation
    assert validation.unit_all == "N m"
    assert set(validation.rmse) == {f"{name}_effort" for name in JOINTS}
    assert validation.rmse_all < 0.06 < 1.0 < validation.rmse_all_initial
    assert run.outcome.verdict.startswith("Improved: the held-out error falls")


def test_scores_have_the_law_of_friction_of_the_model_that_was_written(run, folder) -> None:
    experiment = load_experiment(folder / "experiment.yaml")
    spec = true_spec()
    (folder / "sharp.xml").write_text(spec.to_xml())
    for joint in spec.joints:
        joint.solref_friction = np.array([0.08, 1.0])  # its sign changes 40 ms too soon
    (folder / "soft.xml").write_text(spec.to_xml())
    softly = folder / "softly"
    softly.mkdir()
    document = json.loads((run.files.folder / "result.json").read_text())
    assert document["torque"]["sharp_friction"]
    document["torque"]["sharp_friction"] = False
    (softly / "result.json").write_text(json.dumps(document))
    shutil.copy(run.files.folder / "parameters.yaml", softly)
    files = [folder / "sharp.xml", folder / "soft.xml", run.files.folder, softly]
    found = evaluate_files(experiment, files)
    sharp, soft, fitted, otherwise = (one.validation.rmse_all for one in found.values())
    assert soft > 1.05 * sharp  # offsets are most of both
    assert fitted == pytest.approx(run.outcome.validation.rmse_all, rel=0.01)
    assert abs(otherwise - fitted) > 1e-3 * fitted


def test_offsets_of_torque_are_estimated_unasked_unless_told_otherwise(run, folder):
    for joint, truth in zip(JOINTS, OFFSETS, strict=True):
        assert run.outcome.fit[f"{joint}_torque_offset"].value == pytest.approx(truth, abs=0.05)
    without = with_overrides(
        load_experiment(folder / "experiment.yaml"), ["fit.inverse_dynamics.torque_offsets=false"]
    )
    names = evaluate(without, {}).parameters
    assert not any("torque_offset" in name for name in names)


def test_bounds_that_nobody_gave_do_not_bind(run):
    assert run.outcome.fit["a_damping"].upper == np.inf
    assert not any("at upper bound" in p.flags for p in run.outcome.fit.parameters)


def test_mj_inverse_of_the_written_model_alone_gives_the_fitted_torque(run):
    """Friction, offsets, armature and inertia are all in model.xml, in MuJoCo's terms."""
    model = mujoco.MjModel.from_xml_path(str(run.files.model))
    truth = true_spec().compile()
    _, motion, torque = moved(truth, 5.0)
    assert np.sqrt(np.mean((mujoco_torque(model, motion) - torque) ** 2)) < 0.04
    for name in JOINTS:
        assert model.joint(name).damping[0] == pytest.approx(DAMPING, abs=0.03)
        assert model.joint(name).frictionloss[0] == pytest.approx(FRICTION, abs=0.03)


def test_the_result_can_be_read_back_with_what_torque_told(run):
    written = json.loads((run.files.folder / "result.json").read_text())
    assert written["torque"]["base"][0].keys() >= {"name", "value", "relative_error", "essential"}
    again = read_results(run.files.folder)
    assert again.fit.torque.joints[0].joint == "a"
    assert np.allclose(again.fit.torque.bodies[0].moments, run.outcome.fit.torque.bodies[0].moments)


def test_the_report_shows_torque_by_its_parts(run):
    page = run.files.report.read_text()
    for words in (
        "Friction of b against its velocity", "Gravity, inertia and friction of a",
        "Ellipsoid of inertia of fore", "upper.Iyy + b.armature", "Relative error",
    ):  # fmt: skip
        assert words in page


def test_values_are_scored_by_torque_too(run, folder):
    values = {p.name: p.value for p in run.outcome.fit.parameters}
    found = evaluate(load_experiment(folder / "experiment.yaml"), values)
    assert found.validation.rmse_all == pytest.approx(run.outcome.validation.rmse_all, rel=0.2)


def test_the_forward_fit_starts_where_torque_says(folder):
    text = experiment_text(fit="{search: {method: inverse_dynamics}, max_iterations: 1}")
    text = text.replace("sequences: [bag]", "sequences: [{bag: bag, end: 6}]")
    text = text.replace("arm.xml", "truth.xml") + "windows: {length: 0.2}\n"
    truth = true_spec()
    for joint in truth.joints:
        joint.armature = joint.frictionloss = 0.01
        joint.damping = np.zeros_like(joint.damping)
    (folder / "truth.xml").write_text(truth.to_xml())
    experiment = parse_experiment(text, path=folder / "forward.yaml")
    outcome = run_experiment(experiment, output_dir=folder / "forward").outcome
    assert outcome.provenance["search"].startswith("inverse dynamics of 9 parameters")
    assert outcome.fit.trace[0].values == pytest.approx(
        [value for name in ("armature", "damping", "frictionloss") for value in TRUTH[name]],
        abs=0.06,
    )


TRUTH = {"armature": (0.1, 0.1, 0.05), "damping": (DAMPING,) * 3, "frictionloss": (FRICTION,) * 3}


def test_init_proposes_it_where_torque_is_measured_for_bodies_that_count(folder):
    spec = mujoco.MjSpec.from_string(nominal_xml())
    inertia = {"ipos": [0.0, 0.0, 0.02], "inertia": [4e-4] * 3, "explicitinertial": True}
    hand = spec.body("fore").add_body(name="hand", mass=0.6, **inertia)
    finger = hand.add_body(name="finger", mass=0.05, **inertia)
    finger.add_joint(name="grip", type=mujoco.mjtJoint.mjJNT_SLIDE)  # not measured
    (folder / "hand.xml").write_text(spec.to_xml())
    proposal = propose(folder / "hand.xml", [folder / "bag"], folder / "proposed.yaml")
    assert proposal.experiment.fit.method == "inverse_dynamics"
    bodies = {p.pattern for p in proposal.experiment.parameters if p.element == "body"}
    assert bodies == {*BODIES, "hand"}
    assert {p.attribute for p in proposal.experiment.parameters if p.element == "joint"} == {
        "armature", "damping", "frictionloss",
    }  # fmt: skip


def test_a_payload_is_one_more_body(folder):
    loaded, nominal = true_spec(), true_spec()
    body = loaded.body("fore").add_body(name="load")
    body.explicitinertial, body.mass = True, 0.5
    body.ipos, body.inertia = np.array([0.25, 0.01, -0.02]), np.full(3, 1e-3)
    times, motion, torque = moved(loaded.compile())
    write_torque_bag(folder / "loaded", times, *noisy(motion.qpos, torque))
    (folder / "bare.xml").write_text(nominal.to_xml())
    text = experiment_text().partition("parameters:")[0].replace("arm.xml", "bare.xml")
    text = text.replace("[bag]", "[loaded]") + "payload: {body: fore}\n"
    experiment = parse_experiment(text, path=folder / "payload.yaml")
    report = run_experiment(experiment, output_dir=folder / "payload")
    (found,) = report.outcome.fit.torque.bodies
    assert found.body == "payload"
    assert found.mass == pytest.approx(0.5, rel=0.03)
    assert found.centre == pytest.approx([0.25, 0.01, -0.02], abs=0.01)
    assert mujoco.MjModel.from_xml_path(str(report.files.model)).body("payload").mass[0] > 0.49


def test_a_run_without_its_payload_tells_the_gains_that_a_payload_needs(folder):
    loaded, bare = true_spec(), true_spec()
    inertia = {"ipos": [0.25, 0.01, -0.02], "inertia": [1e-3] * 3, "explicitinertial": True}
    loaded.body("fore").add_body(name="load", mass=0.5, **inertia)
    for name, spec, seed in (("held", loaded, 0), ("free", bare, 1)):
        times, motion, torque = moved(spec.compile(), rate=100.0, seed=seed)
        qpos, torque = noisy(motion.qpos, torque / [1.1, 0.9, 1.12], 100.0)
        write_torque_bag(folder / name, times, qpos, torque)
    (folder / "known.xml").write_text(bare.to_xml())
    text = experiment_text().partition("parameters:")[0].replace("arm.xml", "known.xml")
    text = text.replace("validation: {fraction: 0.3}\n", "") + "payload: {body: fore}\n"
    alone = parse_experiment(text.replace("[bag]", "[held]"), path=folder / "one.yaml")
    verdict = run_experiment(alone).outcome.verdict
    assert verdict.startswith("Suspect data: the masses that are taken for known ask for another")
    told = re.search(r"'c' [0-9.]+ \(([0-9.]+) to ([0-9.]+)\)", verdict)
    assert told is not None
    assert float(told[1]) < 1.0 / 1.12 < float(told[2]) < 1.0
    both = text.replace("[bag]", "[held, {bag: free, loaded: false}]")
    both += 'parameters: [{signal: "*_effort", gain: {prior: {std: 0.1}}}]\n'
    outcome = run_experiment(parse_experiment(both, path=folder / "both.yaml")).outcome
    gains = [outcome.fit[f"{name}_effort_gain"] for name in JOINTS]
    for gain, truth in zip(gains, (1.1, 0.9, 1.12), strict=True):
        assert abs(gain.value - truth) < 4.0 * gain.standard_error < 0.02
    (found,) = outcome.fit.torque.bodies
    assert found.mass == pytest.approx(0.5, rel=0.03)
    assert not outcome.verdict.startswith("Suspect")
    with pytest.raises(ExperimentError, match="'loaded: false', which needs the key 'payload'"):
        parse_experiment(both.replace("payload: {body: fore}", ""), path=folder / "no.yaml")


def test_a_motion_is_designed_with_the_payload_that_the_first_run_lacks(tmp_path):
    (tmp_path / "arm.xml").write_text(true_spec().to_xml())
    text = experiment_text().partition("parameters:")[0] + "payload: {body: fore}\n"
    text = text.replace("[bag]", "[{bag: bare, loaded: false}, held]")
    experiment = parse_experiment(text, path=tmp_path / "experiment.yaml")
    spec = model_with_payload(experiment, None).given.spec
    assert spec.body("payload").mass == 1.0
    assert "payload_inertia" in build_parameters(experiment, spec)


def test_a_model_file_that_has_payload_and_couplings_is_scored(tmp_path):
    times, motion, torque = moved(true_spec().compile(), duration=4.0)
    write_torque_bag(tmp_path / "bag", times, *noisy(motion.qpos, torque))
    (tmp_path / "arm.xml").write_text(nominal_xml())
    more = "payload: {body: fore}\ncouplings: [{joint: c, other: b, ratio: -1.0}]\n"
    experiment = parse_experiment(experiment_text() + more, path=tmp_path / "experiment.yaml")
    result = with_payload(mujoco.MjSpec.from_string(nominal_xml()), "fore", mass=0.5)
    (tmp_path / "model.xml").write_text(with_coupling(result, "c", "b", -1.0).to_xml())
    found = evaluate_model(experiment, tmp_path / "model.xml")
    assert found.training.rmse_all != found.training.rmse_all_initial  # of 0.5 kg and of 1 kg


def test_a_motor_that_turns_with_two_joints_is_proposed_and_found(folder):
    true = with_coupling(true_spec(), "c", "b", -1.0)
    motor = true.tendon("c_with_b")
    motor.armature, motor.frictionloss = 0.05, 0.8
    motor.damping = np.array([0.6, 0.0, 0.0])
    sharpen_friction(true)
    times, motion, torque = moved(true.compile())
    write_torque_bag(folder / "wrist", times, *noisy(motion.qpos, torque))
    proposal = propose(folder / "arm.xml", [folder / "wrist"], folder / "wrist.yaml")
    (coupling,) = proposal.experiment.couplings
    assert (coupling.joint, coupling.other, coupling.ratio) == ("c", "b", -1.0)
    report = run_experiment(proposal.experiment, output_dir=folder / "coupled")
    fit = report.outcome.fit
    assert fit["c_with_b_damping"].value == pytest.approx(0.6, abs=0.1)
    assert fit["c_with_b_frictionloss"].value == pytest.approx(0.8, abs=0.1)
    written = mujoco.MjModel.from_xml_path(str(report.files.model))
    loss = written.tendon_frictionloss[written.tendon("c_with_b").id]
    assert loss == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("fit.method=inverse", r"fit\.method.*forward.*inverse_dynamics"),
        ("fit.bias_check=true", r"bias_check belongs to method: forward"),
        ("fit.search={method: starts}", r"search belongs to method: forward"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(folder, override, message):
    with pytest.raises(ExperimentError, match=message):
        with_overrides(load_experiment(folder / "experiment.yaml"), [override])
