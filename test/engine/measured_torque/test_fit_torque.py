# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits of sequences to measured torque, with the parameters of the forward fit."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from simulated_arms import DAMPING, FRICTION
from torque_arm import (
    BODIES,
    JOINTS,
    OFFSETS,
    moved,
    noisy,
    nominal_xml,
    torque_sequences,
    true_spec,
)

from sysid_ros import sysid
from sysid_ros.choices import FIT_METHODS
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.elements import read_inertia
from sysid_ros.engine.estimation import FitSettings, TorqueSettings
from sysid_ros.engine.measured_torque import METHODS, fit_by_method, torque_problem
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict, SignalModifier
from sysid_ros.errors import DataError, ExperimentError, ParameterError, StopRequestedError

pytest.importorskip("clarabel", reason="the convex solver is not installed")

INVERSE = FitSettings(method="inverse_dynamics")


def scalar(
    spec: mujoco.MjSpec, element: str, name: str, attribute: str, *,
    bounds: tuple[float, float] | None = None, **more: object,
) -> Parameter:  # fmt: skip
    row = lookup(element, attribute)
    nominal = row.read(spec, name)
    low, high = bounds or (0.0, np.inf)
    if attribute in ("torque_offset", "springref", "inertia") and bounds is None:
        low, high = -np.inf, np.inf
    return Parameter(
        f"{name}_{attribute}", nominal, np.full(row.size, low), np.full(row.size, high),
        modifier=AttributeModifier(element, name, attribute), unit=row.unit, **more,
    )  # fmt: skip


def of_joints(spec: mujoco.MjSpec, *, sprung: str = "") -> ParameterDict:
    params = ParameterDict()
    for name in JOINTS:
        kinds = ("stiffness", "springref") if name == sprung else ("torque_offset",)
        for attribute in ("armature", "damping", "frictionloss", *kinds):
            params.add(scalar(spec, "joint", name, attribute))
    return params


def recorded(spec: mujoco.MjSpec, **how: object):
    times, motion, torque = moved(true_spec().compile(), **how)
    return torque_sequences(spec, times, *noisy(motion.qpos, torque))


def value(result: sysid.FitResult, name: str) -> float:
    return result[name].value


def test_a_spring_is_found_that_rests_elsewhere_than_the_models() -> None:
    truth, spec = true_spec(), mujoco.MjSpec.from_string(nominal_xml())
    for one, stiffness, rest in ((truth, 6.0, 0.9), (spec, 4.0, 0.5)):
        for attribute, known in (("stiffness", stiffness), ("springref", rest)):
            lookup("joint", attribute).write(one, "b", np.array([known]))
    times, motion, torque = moved(truth.compile())
    params = of_joints(spec, sprung="b")
    for body in BODIES:
        params.add(scalar(spec, "body", body, "inertia"))
    sequences = torque_sequences(spec, times, *noisy(motion.qpos, torque))
    result = sysid.fit([sequences], params, INVERSE)
    assert value(result, "b_stiffness") == pytest.approx(6.0, rel=0.02)
    rest = 0.9 - OFFSETS[1] / 6.0  # the constant torque besides is the spring's here
    assert value(result, "b_springref") == pytest.approx(rest, abs=0.02)


@pytest.fixture(scope="module")
def whole() -> sysid.FitResult:
    spec = mujoco.MjSpec.from_string(nominal_xml())
    params = of_joints(spec)
    for body in BODIES:
        params.add(scalar(spec, "body", body, "inertia"))
    return sysid.fit([recorded(spec)], params, INVERSE)


def test_friction_armature_and_offsets_are_those_of_the_truth(whole):
    for i, name in enumerate(JOINTS):
        for attribute, truth in (
            ("damping", DAMPING), ("frictionloss", FRICTION), ("torque_offset", OFFSETS[i]),
        ):  # fmt: skip
            estimate = whole[f"{name}_{attribute}"]
            assert estimate.value == pytest.approx(truth, abs=0.05)
            assert abs(estimate.value - truth) < 4.0 * estimate.standard_error
    assert value(whole, "c_armature") == pytest.approx(0.05, abs=0.02)


def test_what_inertia_leaves_open_is_said_and_base_parameters_are_named(whole):
    assert any("kept near the model" in p.flags for p in whole.parameters)
    assert not any("unidentifiable" in p.flags for p in whole.parameters)
    names = [one.name for one in whole.torque.base]
    assert any("upper.Iyy" in name and "b.armature" in name for name in names)
    assert sum(one.essential for one in whole.torque.base) >= 12
    for body in whole.torque.bodies:
        assert body.eigenvalues[0] > 0.0
        assert body.moments[2] < body.moments[0] + body.moments[1]


def test_torque_is_split_and_friction_follows_its_law(whole):
    for joint, finding in zip(JOINTS, whole.torque.joints, strict=True):
        assert finding.joint == joint
        measured, gravity, inertia, friction, _ = finding.shares
        assert finding.residual < 0.1 < measured
        assert max(gravity, inertia, friction) > 0.2
        fast = np.abs(finding.velocity) > 0.1
        assert np.abs(finding.friction - finding.law)[fast].max() < 0.15


def test_masses_alone_and_centres_of_mass_are_found_about_where_the_estimate_stands():
    spec = true_spec()
    wrong = spec.copy()
    wrong.body("fore").mass = 2.0
    wrong.body("fore").ipos = np.array([0.08, -0.01, 0.02])
    params = ParameterDict()
    params.add(scalar(wrong, "body", "fore", "mass", bounds=(0.5, 5.0)))
    params.add(scalar(wrong, "body", "fore", "com_x", bounds=(-0.3, 0.3)))
    for name in JOINTS:
        params.add(scalar(wrong, "joint", name, "torque_offset"))
    result = sysid.fit([recorded(wrong)], params, INVERSE)
    assert result.status is sysid.FitStatus.CONVERGED
    assert value(result, "fore_mass") == pytest.approx(1.5, abs=0.03)
    assert value(result, "fore_com_x") == pytest.approx(0.12, abs=0.004)


def test_frozen_shared_and_bounded_parameters_mean_the_same():
    spec = true_spec()
    params = ParameterDict()
    params.add(
        Parameter(
            "all_damping", 0.1, 0.0, 10.0, modifier=AttributeModifier("joint", JOINTS, "damping")
        )
    )
    spec.joint("a").frictionloss = 0.1
    params.add(scalar(spec, "joint", "a", "frictionloss", bounds=(0.0, 0.2)))
    params.add(
        Parameter(
            "c_armature", 0.05, 0.0, 1.0, frozen=True,
            modifier=AttributeModifier("joint", "c", "armature"),
        )
    )  # fmt: skip
    for name in JOINTS:
        params.add(scalar(spec, "joint", name, "torque_offset"))
    result = sysid.fit([recorded(spec)], params, INVERSE)
    assert value(result, "all_damping") == pytest.approx(DAMPING, abs=0.1)
    assert value(result, "a_frictionloss") == pytest.approx(0.2, abs=1e-4)
    assert "at upper bound" in result["a_frictionloss"].flags
    assert all(p.name != "c_armature" for p in result.parameters)


def test_a_prior_holds_what_it_is_sure_of():
    spec = true_spec()
    params = of_joints(spec)
    params["b_damping"] = scalar(spec, "joint", "b", "damping", prior=(0.8, 1e-5))
    result = sysid.fit([recorded(spec)], params, INVERSE)
    assert value(result, "b_damping") == pytest.approx(0.8, abs=1e-3)


def test_the_gain_of_a_torque_is_found_where_inertia_is_known():
    spec = true_spec()
    params = ParameterDict()
    for name in JOINTS:
        params.add(scalar(spec, "joint", name, "torque_offset"))
    params.add(Parameter("gain", 1.0, 0.5, 2.0, modifier=SignalModifier("b_effort", "gain")))
    times, motion, torque = moved(spec.compile())
    torque[:, 1] /= 0.8  # the sensor shows too much
    sequences = torque_sequences(spec, times, *noisy(motion.qpos, torque))
    result = sysid.fit([sequences], params, INVERSE)
    assert value(result, "gain") == pytest.approx(0.8, rel=0.01)


def test_a_late_torque_has_its_delay_found_with_the_sign_of_an_input() -> None:
    spec = mujoco.MjSpec.from_string(nominal_xml())
    params = of_joints(spec)
    names = tuple(f"{name}_effort" for name in JOINTS)
    params.add(Parameter("torque_delay", 0.0, -0.05, 0.05,
                         modifier=SignalModifier(names, "delay"), unit="s"))  # fmt: skip
    params.add(scalar(spec, "body", "fore", "mass"))
    times, motion, torque = moved(true_spec().compile())
    late = np.column_stack([np.interp(times - 0.006, times, one) for one in torque.T])
    sequences = torque_sequences(true_spec(), times, *noisy(motion.qpos, late))
    result = sysid.fit([sequences], params, INVERSE)
    low, high = result["torque_delay"].interval()
    assert low <= -0.006 <= high
    assert high - low < 0.004
    assert value(result, "a_damping") == pytest.approx(DAMPING, rel=0.05)


def test_many_bodies_of_which_nothing_is_estimated_are_no_columns(monkeypatch) -> None:
    """Fingers are known torque then, in the model's total mass too; the result is the same."""
    spec = mujoco.MjSpec.from_string(nominal_xml())
    for finger in range(12):
        small = spec.body("fore").add_body(name=f"finger_{finger}", pos=[0.0, 0.01 * finger, 0.3])
        small.add_geom(size=[0.01, 0.01, 0.01], mass=0.01)
    params, group = of_joints(spec), recorded(spec, duration=6.0)
    params.add(scalar(spec, "body", "fore", "inertia"))
    params.add(scalar(spec, "body", "upper", "inertia"))
    heavy = FitSettings(method="inverse_dynamics", torque=TorqueSettings(total_mass=8.0))
    columns = len(torque_problem([group], params).regressor.columns)
    few = sysid.fit([group], params, heavy)
    module = importlib.import_module("sysid_ros.engine.measured_torque.rows.torque_problem")
    monkeypatch.setattr(module, "_MANY", 1000)
    assert len(torque_problem([group], params).regressor.columns) == columns + 130
    all_ = sysid.fit([group], params, heavy)
    for one, other in zip(few.parameters, all_.parameters, strict=True):
        error = other.standard_error or 1e-6  # the prior knows the size of torque
        assert abs(one.value - other.value) < 0.05 * error
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.02)


def test_a_symmetric_body_stays_its_own_mirror_image() -> None:
    truth, spec = true_spec(), true_spec()
    row = lookup("body", "inertia", "symmetric_y")
    row.write(truth, "fore", row.read(truth, "fore"))
    spec.body("fore").mass *= 1.3
    times, motion, torque = moved(truth.compile(), 8.0)
    sequences = torque_sequences(spec, times, *noisy(motion.qpos, torque))
    params = ParameterDict()
    for name in JOINTS:
        params.add(scalar(spec, "joint", name, "torque_offset"))
    nominal = row.read(spec, "fore")
    params.add(
        Parameter(
            "fore_inertia", nominal, np.full(7, -np.inf), np.full(7, np.inf),
            modifier=AttributeModifier("body", "fore", row.name),
        )
    )  # fmt: skip
    result = sysid.fit([sequences], params, INVERSE)
    assert result.status is sysid.FitStatus.CONVERGED
    found = {body.body: body for body in result.torque.bodies}["fore"]
    assert found.centre[1] == pytest.approx(0.0, abs=1e-9)
    true = read_inertia(truth, "fore")
    assert found.mass * found.centre[0] == pytest.approx(true.mass * true.ipos[0], rel=0.02)
    assert max(joint.residual for joint in result.torque.joints) < 0.06


def test_a_simulated_robot_keeps_its_own_law_of_friction(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"gather": 0, "fit_evidence": 0}
    for module, name in (("settled_sums", "gather"), ("fit_torque", "fit_evidence")):
        place = importlib.import_module(f"sysid_ros.engine.measured_torque.{module}")
        monkeypatch.setattr(place, name, counted(calls, name, getattr(place, name)))

    def soft(spec: mujoco.MjSpec) -> mujoco.MjSpec:
        for joint in spec.joints:
            joint.solref_friction = np.array([0.08, 1.0])  # its sign changes 40 ms too soon
        return spec

    truth = soft(true_spec())
    times, motion, torque = moved(truth.compile())
    spec = soft(mujoco.MjSpec.from_string(nominal_xml()))
    sequences = torque_sequences(spec, times, *noisy(motion.qpos, torque))
    params = of_joints(spec)
    for body in BODIES:
        params.add(scalar(spec, "body", body, "inertia"))
    result = sysid.fit([sequences], params, INVERSE)
    assert result.torque is not None
    assert not result.torque.sharp_friction
    for name in JOINTS:
        assert value(result, f"{name}_frictionloss") == pytest.approx(FRICTION, rel=0.1)
    assert calls == {"gather": 1, "fit_evidence": 1}  # however many laws were tried
    asked = iter([False, True])  # between the sharp law and the own
    with pytest.raises(StopRequestedError):
        fit_by_method([sequences], params, INVERSE, should_stop=lambda: next(asked))
    assert calls == {"gather": 2, "fit_evidence": 1}


def counted(calls: dict[str, int], name: str, call: Callable[..., object]) -> Callable[..., object]:
    def wrapped(*args: object, **kwargs: object) -> object:
        calls[name] += 1
        return call(*args, **kwargs)

    return wrapped


def test_a_joint_that_does_not_move_keeps_the_models_friction():
    spec = true_spec()
    wrong = spec.copy()
    for joint in wrong.joints:
        joint.armature, joint.frictionloss = 0.02, 0.1
    result = sysid.fit([recorded(wrong, still=(2,))], of_joints(wrong), INVERSE)
    for attribute, nominal in (("armature", 0.02), ("frictionloss", 0.1)):
        assert value(result, f"c_{attribute}") == nominal
        assert "unidentifiable" in result[f"c_{attribute}"].flags
    assert value(result, "a_frictionloss") == pytest.approx(FRICTION, abs=0.05)
    assert any("c did not move" in note for note in result.torque.notes)


def test_stretches_that_do_not_count_are_left_out():
    spec = true_spec()
    times, motion, torque = moved(spec.compile())
    qpos, torque = noisy(motion.qpos, torque)
    torque[(times > 5.0) & (times < 8.0)] += 50.0  # somebody leans on it
    params = of_joints(spec)
    sequences = torque_sequences(spec, times, qpos, torque).replaced(gaps=[((5.0, 8.0),)])
    result = sysid.fit([sequences], params, INVERSE)
    assert value(result, "a_torque_offset") == pytest.approx(OFFSETS[0], abs=0.05)


@pytest.mark.parametrize("push", [30.0, 0.0])
def test_contact_that_torque_shows_is_left_out_and_counted(push):
    spec = true_spec()
    spec.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    spec.worldbody.add_geom(
        name="wall", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.8, 0.8, 0.02], pos=[0.3, 0.0, 0.17]
    )
    spec.body("fore").add_geom(
        name="tip", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.03, 0, 0], pos=[0.25, 0, 0], mass=0.0
    )
    model = spec.copy().compile()
    times, motion, torque = moved(model)
    qpos, torque = noisy(motion.qpos, torque)
    data = mujoco.MjData(model)
    for row, q in zip(torque, qpos, strict=True):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        row += push * bool(np.any(data.contact.dist < 0.0))
    result = sysid.fit([torque_sequences(spec, times, qpos, torque)], of_joints(spec), INVERSE)
    assert 0.1 < result.torque.masked < 6.0 if push else result.torque.masked == 0.0
    assert any("larger than the robot" in note for note in result.torque.notes) == (not push)
    assert value(result, "b_torque_offset") == pytest.approx(OFFSETS[1], abs=0.1)


def test_a_motor_that_turns_with_two_joints_is_noticed():
    spec = true_spec()
    times, motion, torque = moved(spec.compile())
    both = motion.qvel[:, 1] + motion.qvel[:, 2]
    torque[:, 1:] += (2.0 * np.tanh(both / 0.01) + 1.0 * both)[:, None]
    result = sysid.fit(
        [torque_sequences(spec, times, *noisy(motion.qpos, torque))], of_joints(spec), INVERSE
    )
    (note,) = result.torque.notes
    assert "of b or c follows the velocity of the other" in note
    assert "couplings: {joint: c, other: b}" in note


def test_an_offset_is_a_soft_spring_whose_torque_mj_inverse_gives():
    spec = mujoco.MjSpec.from_string(nominal_xml())
    row = lookup("joint", "torque_offset")
    before = moved(spec.copy().compile(), 1.0)[2] - OFFSETS
    row.write(spec, "b", np.array([0.7]))
    assert row.read(spec, "b") == pytest.approx(0.7)
    after = moved(spec.copy().compile(), 1.0)[2] - OFFSETS
    assert np.allclose(after - before, [0.0, 0.7, 0.0], atol=5e-4)
    row.write(spec, "b", np.zeros(1))
    assert spec.copy().compile().joint("b").stiffness[0] == 0.0


def test_every_method_that_the_experiment_file_offers_fits():
    assert set(METHODS) == set(FIT_METHODS)


def test_an_unknown_method_lists_those_there_are():
    with pytest.raises(ExperimentError, match=r"unknown method 'inverse'.*valid: 'forward'"):
        fit_by_method([], ParameterDict(), FitSettings(method="inverse"))


def test_what_torque_says_nothing_about_is_refused_by_name():
    spec = true_spec()
    params = of_joints(spec)
    params.add(Parameter("late", 0.0, 0.0, 0.1, modifier=SignalModifier("a_pos", "delay")))
    with pytest.raises(ParameterError, match=r"late.*delay of 'a_pos'.*freeze it"):
        sysid.fit([recorded(spec)], params, INVERSE)


def test_recordings_without_torque_say_how_to_map_it():
    spec = true_spec()
    times, motion, torque = moved(spec.compile(), 2.0)
    own = torque_sequences(spec, times, motion.qpos, torque)
    own.spec.delete(own.spec.actuator("a_effort"))
    bare = own.spec.copy()
    for actuator in list(bare.actuators):
        bare.delete(actuator)
    without = sysid.ModelSequences(
        "arm", bare, "run", own.initial_state[0],
        sysid.TimeSeries(times, np.zeros((len(times), 0)), {}), own.sensordata[0],
    )  # fmt: skip
    with pytest.raises(DataError, match=r"measured joint torque; map it as the effort"):
        sysid.fit([without], of_joints(spec), INVERSE)
