# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction beyond viscous and dry, fitted to measured torque."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from friction_reference import budget
from torque_arm import (
    BODIES,
    JOINTS,
    OFFSETS,
    friction_and_more,
    moved,
    noisy,
    torque_sequences,
    true_spec,
)

from sysid_ros import sysid
from sysid_ros.engine.attributes import lookup
from sysid_ros.engine.estimation import FitSettings
from sysid_ros.engine.friction import (
    SHAPE,
    FrictionParameters,
    apply_friction_to_spec,
    parameters_of,
)
from sysid_ros.engine.measured_torque import settled_laws
from sysid_ros.engine.measured_torque.rows.torque_problem import regression_settings, torque_problem
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict, SignalModifier
from sysid_ros.engine.regressor import FrictionLaws, Motion, Regressor, mujoco_torque
from sysid_ros.errors import StopRequestedError

pytest.importorskip("clarabel", reason="the convex solver is not installed")

INVERSE = FitSettings(method="inverse_dynamics")
TRUE = {
    "m2": FrictionParameters(0.4, 0.3, friction_stribeck=0.5, dtheta_stribeck=0.4, alpha=1.0),
    "m5": FrictionParameters(0.4, 0.3, load_friction_motor=0.15, load_friction_external=0.05),
}


def with_friction(motion: Motion, law: FrictionParameters, model: str) -> np.ndarray:
    """Torque of the arm without friction of its own, and one law on every joint."""
    plain = true_spec()
    for joint in plain.joints:
        joint.frictionloss, joint.damping = 0.0, np.zeros_like(joint.damping)
    bare = plain.compile()
    slow = motion._replace(qacc=np.zeros_like(motion.qacc))
    without = mujoco_torque(bare, motion) + OFFSETS
    te = -mujoco_torque(bare, slow) - OFFSETS
    tm = without
    for _ in range(20):  # friction carries itself
        tm = without + np.sign(motion.qvel) * budget(model, motion.qvel, tm, te, law)
    return tm


@functools.cache
def fitted(model: str) -> sysid.FitResult:
    times, motion, _ = moved(true_spec().compile(), 20.0)
    spec, params = true_spec(), ParameterDict()
    for name in JOINTS:
        for attribute in ("armature", "torque_offset", *parameters_of(model)):
            row = lookup("joint", attribute)
            start, low, high = row.read(spec, name), 0.0, np.inf
            if attribute == "torque_offset":
                low = -np.inf
            if attribute in ("dtheta_stribeck", "alpha"):
                low, high = row.bounds(start)
            params.add(Parameter(
                f"{name}_{attribute}", start, low, high, unit=row.unit,
                modifier=AttributeModifier("joint", name, attribute),
                frozen=attribute == "alpha",
            ))  # fmt: skip
    for p in params.values():
        if p.name.endswith("alpha"):
            p.value = np.array([TRUE[model].alpha])
    for body in BODIES:
        row = lookup("body", "inertia")
        params.add(Parameter(
            f"{body}_inertia", row.read(spec, body), -np.inf, np.inf, unit=row.unit,
            modifier=AttributeModifier("body", body, "inertia"),
        ))  # fmt: skip
    torque = with_friction(motion, TRUE[model], model)
    return sysid.fit([torque_sequences(spec, times, *noisy(motion.qpos, torque))], params, INVERSE)


def test_a_round_that_explains_torque_worse_is_gone_back_on(monkeypatch):
    times, motion, _ = moved(true_spec().compile(), 5.0)
    torque = with_friction(motion, TRUE["m5"], "m5")
    params = ParameterDict()
    for attribute in parameters_of("m5"):
        start, low, high = 0.1, 0.0, np.inf
        modifier = AttributeModifier("joint", "b", attribute)
        params.add(Parameter(f"b_{attribute}", start, low, high, modifier=modifier))
    group = torque_sequences(true_spec(), times, *noisy(motion.qpos, torque))
    problem = torque_problem([group], params)
    right, rounds = settled_laws.values_at, []

    def strays(*given):
        found, slope = right(*given)
        rounds.append(found)
        return (found if len(rounds) == 1 else 5.0 * found + 1.0), slope

    monkeypatch.setattr(settled_laws, "values_at", strays)
    monkeypatch.setattr(settled_laws, "_ROUNDS", 4)
    monkeypatch.setattr(settled_laws, "_chain", lambda _: [set(parameters_of("m5"))])
    own = regression_settings(problem.declared, INVERSE.torque)
    _, values = settled_laws.with_settled_laws(problem, own)
    np.testing.assert_allclose(values, rounds[0], rtol=0.5, atol=0.1)
    asked = iter([False, True])
    with pytest.raises(StopRequestedError):
        settled_laws.with_settled_laws(problem, own, lambda: next(asked))
    assert next(asked, None) is None  # in the second of many rounds


def misfit_with(model: str, torque: np.ndarray, times: np.ndarray, qpos: np.ndarray) -> float:
    """The badness of a law on two joints, of an arm whose inertias are to be found with it."""
    spec, params = true_spec(), ParameterDict()
    for joint in JOINTS[2:]:
        for attribute in ("torque_offset", *parameters_of(model)):
            row = lookup("joint", attribute)
            low = -np.inf if attribute == "torque_offset" else 0.0
            bounds = row.bounds(0.2) if attribute in SHAPE else (low, np.inf)
            modifier = AttributeModifier("joint", joint, attribute)
            name = f"{joint}_{attribute}"
            params.add(Parameter(name, row.read(spec, joint), *bounds, modifier=modifier))
    for body in BODIES:
        start = 1.3 * lookup("body", "inertia").read(spec, body)
        modifier = AttributeModifier("body", body, "inertia")
        params.add(Parameter(f"{body}_inertia", start, -np.inf, np.inf, modifier=modifier))
    problem = torque_problem([torque_sequences(spec, times, qpos, torque)], params)
    own = regression_settings(problem.declared, INVERSE.torque)
    problem, values = settled_laws.with_settled_laws(problem, own)
    sums = settled_laws.settled_sums(problem, own, values)
    return settled_laws._misfit(problem.declared, sums.evidence, values)


def test_a_law_is_no_worse_than_those_it_contains():
    times, motion, _ = moved(true_spec().compile(), 6.0, 100.0)
    qpos, torque = noisy(motion.qpos, with_friction(motion, TRUE["m2"], "m2"), 100.0)
    left = [misfit_with(model, torque, times, qpos) for model in ("m2", "m6")]
    assert left[1] <= left[0] + 1e-6


def test_load_has_its_columns_where_a_law_begins_without_it():
    spec = true_spec()
    apply_friction_to_spec(spec, "b", FrictionParameters(load_friction_base=0.1))
    model = spec.compile()
    _, motion, _ = moved(model, 1.0, 100.0)
    kinds = ("armature", "frictionloss", "load_friction_base")
    columns = Regressor(model, kinds=kinds).columns
    laws = FrictionLaws({1: FrictionParameters()}, columns.nominal)
    rows = Regressor(model, kinds=kinds, laws=laws).rows(motion)
    assert np.abs(rows[:, 1, columns.place[1, "load_friction_base"]]).max() > 1.0


def test_the_sign_of_a_law_is_that_of_the_velocity():
    """MuJoCo's own is that of the velocity a time step later."""
    model = true_spec().compile()
    _, motion, _ = moved(model, 4.0, 500.0)
    laws = FrictionLaws({1: FrictionParameters()}, np.zeros(0))
    regressor = Regressor(model, kinds=("frictionloss",), sharp_friction=True, laws=laws)
    rows = regressor.rows(motion)
    place, v = regressor.columns.place, motion.qvel
    fast = np.abs(v) > 0.003
    for dof in (1, 2):
        sign = rows[:, dof, place[dof, "frictionloss"]]
        wrong = np.sum(np.sign(v)[fast[:, dof], dof] != np.round(sign[fast[:, dof]], 2))
        assert (wrong == 0) == (dof == 1)


@pytest.mark.parametrize("model", list(TRUE))
def test_the_coefficients_of_a_law_are_found(model):
    result, law = fitted(model), TRUE[model]
    for joint in JOINTS:
        for name in set(parameters_of(model)) - {"alpha"}:
            found, truth = result[f"{joint}_{name}"], getattr(law, name)
            if found.standard_error is None:  # nothing of the kind is there
                assert truth == 0.0 or (name == "dtheta_stribeck" and found.flags)
                assert found.value == pytest.approx(0.0, abs=0.01) or name == "dtheta_stribeck"
            else:
                assert abs(found.value - truth) < 4.0 * found.standard_error


def test_model_files_have_the_closest_friction_that_they_can_have():
    result, law = fitted("m2"), TRUE["m2"]
    for viscous, dry in result.torque.plain_friction.values():
        assert 0.2 < viscous < law.friction_viscous  # the Stribeck effect falls with velocity
        assert law.friction_base < dry < law.friction_base + law.friction_stribeck
    assert any("model.xml" in note and "damping" in note for note in result.torque.notes)


def test_friction_that_lags_behind_velocity_is_not_taken_for_a_delay_of_torque():
    """Rows at reversals want one, all others do not; the prior of 10 ms then decides."""
    times, motion, _ = moved(true_spec().compile(), 20.0)
    spec = true_spec()
    lagging = [np.interp(times - 0.04, times, np.sign(one)) for one in motion.qvel.T]
    torque = with_friction(motion, FrictionParameters(0.4, 0.0), "m1")
    series = torque_sequences(spec, times, *noisy(motion.qpos, torque + 2.0 * np.array(lagging).T))
    params = friction_and_more(spec)
    efforts = tuple(f"{name}_effort" for name in JOINTS)
    params.add(Parameter(
        "late", 0.0, -0.05, 0.05, modifier=SignalModifier(efforts, "delay"), unit="s",
        prior=(0.0, 0.01),
    ))  # fmt: skip
    late = sysid.fit([series], params, INVERSE)["late"]
    assert abs(late.value) < 0.0023
    assert "unidentifiable" not in late.flags
