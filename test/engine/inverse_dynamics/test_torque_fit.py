# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits of simulated arms with a known truth."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from simulated_arms import FRICTION, coloured, measured, simulate, three_joint_xml
from written_model import written_spec

from sysid_ros.engine.elements import pseudo_inertia
from sysid_ros.engine.inverse_dynamics import (
    Motion,
    Recording,
    Regressor,
    Settings,
    columns_of,
    fit_inverse_dynamics,
    mujoco_torque,
    torque_rmse,
    with_payload,
)
from sysid_ros.engine.inverse_dynamics.base_parameters import BaseSystem, estimate_base
from sysid_ros.engine.inverse_dynamics.evidence import Equations
from sysid_ros.engine.inverse_dynamics.prediction import torque_parts
from sysid_ros.errors import DataError, ExperimentError, ModelError

pytest.importorskip("clarabel", reason="the convex solver is not installed")

RATE = 500.0  # Hz
OFFSETS = np.array([0.3, -0.2, 0.1])  # N m


@pytest.fixture(scope="module")
def truth():
    return simulate(mujoco.MjModel.from_xml_string(three_joint_xml()), 20.0)


@pytest.fixture(scope="module")
def recording(truth):
    times, qpos, torque = measured(truth, RATE, np.random.default_rng(1))
    return Recording(times, qpos, torque + OFFSETS)


def wrong_spec(seed: int = 0) -> mujoco.MjSpec:
    """The arm with masses, inertias and frictions that are wrong by a fifth."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec.from_string(three_joint_xml(0.002))
    for body in spec.bodies[1:]:
        share = rng.uniform(0.8, 1.2)
        body.mass, body.fullinertia = body.mass * share, np.array(body.fullinertia) * share
    for joint in spec.joints:
        joint.armature, joint.frictionloss = joint.armature * 1.3, 0.0
    return spec


@pytest.fixture(scope="module")
def fit(recording):
    return fit_inverse_dynamics(wrong_spec().compile(), [recording])


def true_values(fit):
    values = columns_of(mujoco.MjModel.from_xml_string(three_joint_xml())).nominal.copy()
    values[fit.free.columns.indices(["a.offset", "b.offset", "c.offset"])] = OFFSETS
    return values[fit.free.columns.indices(fit.free.names)]


def test_base_parameters_are_found_within_their_intervals(fit):
    target = fit.base.combination @ true_values(fit)
    half = fit.base.uncertainty.half_widths(0.999)
    assert np.all(np.abs(fit.base.values - target) < half + 1e-9)
    inside = np.abs(fit.base.values - target) < fit.base.uncertainty.half_widths()
    assert inside.mean() > 0.8
    friction = [fit.values[f"{name}.frictionloss"] for name in "abc"]
    assert np.allclose(friction, FRICTION, atol=0.05)


def test_a_model_thirty_times_too_light_is_no_noise(recording):
    spec = wrong_spec()
    for body in spec.bodies[1:]:
        body.mass, body.fullinertia = body.mass / 30.0, np.array(body.fullinertia) / 30.0
        body.ipos = -np.array(body.ipos)
    noise = np.random.default_rng(3).standard_normal(recording.torque.shape)  # 1 N m
    found = fit_inverse_dynamics(
        spec.compile(), [replace(recording, torque=recording.torque + noise)]
    )
    assert np.all(found.residual_std < 0.15)  # 0.6 to 1.4 where its prior held it
    assert found.values["fore.m"] > 1.0


def test_base_parameters_are_named_as_combinations(fit):
    assert fit.base.names[0] == "base.Izz + upper.Izz + 0.1225*fore.m + fore.Izz + a.armature"
    assert 0 < fit.base.essential.sum() < len(fit.base.names)
    assert fit.base.essential[list(fit.base.names).index("a.damping")]
    relative = fit.base.relative_errors
    assert relative[fit.base.essential].max() < np.median(relative[~fit.base.essential])


def test_joints_that_follow_others_have_no_base_parameters_of_their_own() -> None:
    xml = """<mujoco><worldbody>
    <body><joint name="a" axis="0 1 0" armature="0.2" damping="0.5"/>
    <inertial mass="2" pos="0.1 0 0.1" diaginertia="0.02 0.02 0.02"/>
    <body pos="0.4 0 0"><joint name="b" axis="0 1 0" armature="0.1" damping="0.3"/>
    <inertial mass="1" pos="0.1 0 0.05" diaginertia="0.01 0.01 0.01"/></body></body></worldbody>
    <equality><joint joint1="b" joint2="a" polycoef="0.2 -1 0 0 0"/></equality></mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    times, regressor = np.arange(0.0, 8.0, 0.02), Regressor(model, sharp_friction=True)
    slow, fast = 1.2 * times, 2.9 * times + 0.4
    motion = regressor.coupled(
        Motion(
            *(
                np.column_stack([one, np.zeros_like(one)])
                for one in (
                    0.5 * np.sin(slow) + 0.3 * np.sin(fast),
                    0.6 * np.cos(slow) + 0.87 * np.cos(fast),
                    -0.72 * np.sin(slow) - 2.523 * np.sin(fast),
                )
            )
        )
    )
    torque = regressor.rows(motion) @ regressor.columns.nominal
    torque += coloured(np.random.default_rng(0), torque.shape, 50.0, 0.02, 0.02)
    found = fit_inverse_dynamics(model, [Recording(times, motion.qpos, torque)])
    (one,) = [name for name in found.base.names if "armature" in name]
    assert "a.armature" in one
    assert "b.armature" in one
    (damping,) = [name for name in found.base.names if "damping" in name]
    place = found.base.names.index(damping)
    error = found.base.uncertainty.standard_errors[place]
    assert found.base.values[place] == pytest.approx(0.8, abs=4.0 * error)


def test_every_body_is_possible_and_open_directions_stay_near_the_model(fit):
    for body in fit.free.columns.bodies:
        parameters = fit.theta()[fit.free.columns.of_body(body)]
        assert np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0
    # nothing shows the mass of a body that only turns about a vertical axis
    mass = fit.free.names.index("base.m")
    assert fit.x[mass] == pytest.approx(fit.free.nominal[mass], rel=1e-3)
    assert "open" in fit.flags(mass)
    assert "open" not in fit.flags(fit.free.names.index("c.damping"))


def test_the_torque_is_predicted_as_well_as_its_noise_allows(fit, truth):
    assert np.allclose(fit.torque_rmse, fit.residual_std, rtol=1e-3)
    (one,) = fit.predictions
    parts = one.gravity + one.inertia + one.friction + one.other
    assert np.allclose(parts, one.total)
    assert np.abs(one.friction[:, 1]).max() == pytest.approx(FRICTION + 0.5 * 2.0, abs=1.2)
    fresh = measured(truth, RATE, np.random.default_rng(7))
    regressor = Regressor(wrong_spec().compile(), sharp_friction=True)
    other = Recording(fresh[0], fresh[1], fresh[2] + OFFSETS)
    theirs = torque_rmse(regressor, [other], fit.filters, fit.theta())
    models = torque_rmse(regressor, [other], fit.filters, regressor.columns.nominal)
    assert np.all(theirs < 1.4 * fit.residual_std)
    assert np.all(models > 3.0 * theirs)


def test_mj_inverse_of_the_written_model_gives_the_predicted_torque(fit):
    spec = wrong_spec()
    before = spec.to_xml()
    written = written_spec(spec, fit.free.columns, fit.theta(), offsets=True).compile()
    assert spec.to_xml() == before
    rng = np.random.default_rng(0)
    motion = Motion(*(rng.normal(size=(50, 3)) for _ in range(3)))
    predicted = torque_parts(Regressor(written, sharp_friction=True), motion, fit.theta())
    assert np.allclose(mujoco_torque(written, motion), predicted.sum(axis=1), atol=1e-4)
    bare = written_spec(spec, fit.free.columns, fit.theta()).compile()
    offsets = [fit.values[f"{name}.offset"] for name in "abc"]
    assert np.allclose(mujoco_torque(bare, motion) + offsets, predicted.sum(axis=1), atol=1e-9)


def test_frozen_parameters_keep_the_models_values(recording):
    model = wrong_spec().compile()
    columns = columns_of(model)
    frozen = ["upper.m", "fore.Ixx", "c.armature"]
    fit = fit_inverse_dynamics(model, [recording], frozen=frozen)
    assert not set(frozen) & set(fit.free.names)
    kept = columns.indices(frozen)
    assert np.array_equal(fit.theta()[kept], columns.nominal[kept])


def test_a_joints_unknown_torque_factor_is_found(recording):
    scaled = replace(recording, torque=recording.torque * [1.0, 1.0, 1.25])
    model = mujoco.MjModel.from_xml_string(three_joint_xml(0.002))
    known = [n for n in columns_of(model).names if n.startswith("fore.") or n.endswith("stiffness")]
    fit = fit_inverse_dynamics(model, [scaled], Settings(gains={"c": 0.5}), frozen=known)
    gain, error = fit.gains["c"]
    assert gain == pytest.approx(1.25, abs=4.0 * error + 0.01)
    assert error < 0.02


@pytest.mark.parametrize("body", ["world", "no such body"])
def test_a_payload_needs_a_body_that_moves(body: str) -> None:
    """What is fixed to the world is never felt."""
    with pytest.raises(ModelError, match=f"no body '{body}' that joints move can hold a payload"):
        with_payload(wrong_spec(), body)


def test_a_payload_is_found_beside_the_arm():
    rng = np.random.default_rng(3)
    bare = mujoco.MjSpec.from_string(three_joint_xml())
    loaded = with_payload(bare, "fore", mass=0.5)
    centre = np.array([0.35, 0.02, -0.03])
    loaded.body("payload").ipos = centre
    recordings = []
    for condition, spec in ((" without payload", bare), ("loaded", loaded)):
        motion = simulate(spec.compile(), 20.0, seed=4)
        recordings.append(Recording(*measured(motion, RATE, rng), condition=condition))
    guess = with_payload(wrong_spec(), "fore").compile()
    fit = fit_inverse_dynamics(guess, recordings)
    mass = fit.values["payload.m"]
    first = np.array([fit.values[f"payload.m{axis}"] for axis in "xz"])
    error = fit.uncertainty.standard_errors[fit.free.names.index("payload.m")]
    assert abs(mass - 0.5) < 3.0 * error < 0.1
    assert np.allclose(first / mass, centre[[0, 2]], atol=0.03)
    assert np.all(
        fit.theta(" without payload")[columns_of(guess).of_body(guess.body("payload").id)] == 0.0
    )


def test_total_mass_is_kept(recording):
    fit = fit_inverse_dynamics(
        wrong_spec().compile(), [recording], settings=Settings(total_mass=8.5)
    )
    assert sum(fit.values[f"{name}.m"] for name in ("base", "upper", "fore")) == pytest.approx(8.5)


def test_recordings_without_torque_are_refused(recording):
    silent = replace(recording, torque=np.full_like(recording.torque, np.nan))
    with pytest.raises(DataError, match="no torque"):
        fit_inverse_dynamics(wrong_spec().compile(), [silent])


def test_an_unknown_joint_with_a_gain_is_refused(recording):
    with pytest.raises(ExperimentError, match="gains name the joint 'd'"):
        fit_inverse_dynamics(
            wrong_spec().compile(), [recording], settings=Settings(gains={"d": 0.1})
        )


def coverage(truth, rate, noise, quantum, repeats):
    """Share of intervals that hold, and mean error over mean standard error, by base parameter."""
    model = mujoco.MjModel.from_xml_string(three_joint_xml(0.002))
    hits, errors, widths = [], [], []
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        times, qpos, torque = measured(truth, rate, rng, noise=noise, quantum=quantum)
        base = fit_inverse_dynamics(model, [Recording(times, qpos, torque)])
        found, target = base.base, base.base.combination @ base.free.nominal
        hits.append(np.abs(found.values - target) < found.uncertainty.half_widths())
        errors.append(found.values - target)
        widths.append(found.uncertainty.standard_errors)
    bias = np.mean(errors, axis=0) / np.mean(widths, axis=0)
    return float(np.mean(hits)), bias


def test_intervals_hold_under_coloured_noise(truth):
    share, _ = coverage(truth, 500.0, 1e-5, 2.0 * np.pi / 2**16, 4)
    assert share > 0.85


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "noise", "quantum"),
    [
        (100.0, 1e-4, 0.0),
        (500.0, 0.0, 2.0 * np.pi / 2**16),
        (1000.0, 1e-4, 0.0),
        (5000.0, 2e-5, 2.0 * np.pi / 2**18),
    ],
)
def test_coverage_and_bias_from_100_hz_to_5_khz(truth, rate, noise, quantum):
    repeats = 40
    share, bias = coverage(truth, rate, noise, quantum, repeats)
    assert 0.92 <= share <= 0.985
    assert np.abs(bias).max() < 0.5 + 2.5 / np.sqrt(repeats)  # the mean's own chance


def test_coloured_noise_has_its_size_and_colour():
    noise = coloured(np.random.default_rng(0), (100_000, 1), 1000.0, 0.1, 0.02)
    assert noise.std() == pytest.approx(0.1, rel=0.05)
    lag = float(np.mean(noise[20:] * noise[:-20])) / float(noise.var())
    assert lag == pytest.approx(np.exp(-1.0), abs=0.05)


def test_an_offset_that_balances_gravity_leaves_masses_as_they_are() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="lift"><joint name="z" type="slide" axis="0 0 1"/>
        <inertial mass="10" pos="0 0 0" diaginertia="0.1 0.1 0.1"/><body name="link">
        <joint name="elbow" axis="0 1 0"/>
        <inertial mass="2" pos="0.2 0 0.01" diaginertia="0.004 0.01 0.01"/>
        </body></body></worldbody></mujoco>"""
    )
    rng, times = np.random.default_rng(0), np.arange(0.0, 20.0, 0.01)
    angle = 2.0 * np.pi * times[:, None] * (0.15, 0.4)
    omega, size = 2.0 * np.pi * np.array([0.15, 0.4]), np.array([0.05, 0.8])
    motion = Motion(
        size * np.sin(angle), size * omega * np.cos(angle), -size * omega**2 * np.sin(angle)
    )
    torque = mujoco_torque(model, motion) - [12.0 * 9.81, 0.0]  # a gas spring carries all of it
    torque += 0.05 * rng.standard_normal(torque.shape)
    fit = fit_inverse_dynamics(model, [Recording(times, motion.qpos, torque)])
    mass = fit.values["lift.m"] + fit.values["link.m"]
    assert mass + fit.values["z.armature"] == pytest.approx(12.0, rel=0.1)
    assert mass > 6.0  # what nothing tells apart is shared
    assert fit.values["z.offset"] == pytest.approx(-9.81 * mass, rel=0.05)


def test_base_parameters_allow_for_reversals_and_doubtful_delays() -> None:
    rng, truth, eye = np.random.default_rng(0), np.array([1.0, 2.0]), np.eye(2)
    data = Equations(np.tile(eye, (20, 1, 1)), truth + 0.01 * rng.standard_normal((20, 2)))
    system = BaseSystem(
        data, None, np.zeros(0), np.zeros(2), np.zeros(2), np.zeros(2), doubts={}, pull=np.zeros(2)
    )  # fmt: skip

    def errors(changed: BaseSystem) -> np.ndarray:
        base = estimate_base(("a", "b"), np.arange(2), eye, changed)
        return base.uncertainty.standard_errors

    plain = errors(system)
    away = Equations(0.5 * data.hessians, 0.5 * (data.gradients + np.array([0.1, 0.0])))
    turning = errors(system._replace(sure=away))
    assert turning[0] == pytest.approx(0.1, rel=0.2)  # by which rows around reversals pull
    assert turning[1] == plain[1] < 0.01
    doubtful = errors(system._replace(doubts={1: 900.0}))
    assert doubtful[1] == pytest.approx(np.sqrt(900.0 / 20.0))
    assert doubtful[0] == plain[0]
    pulled = errors(system._replace(pull=np.array([2.0, 0.0])))
    assert pulled[0] == pytest.approx(0.55 * 2.0 / 20.0, rel=0.01)  # a little beyond one end
    assert pulled[1] == plain[1]
