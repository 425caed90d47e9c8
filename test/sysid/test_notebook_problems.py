# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The problems of the notebook of mujoco.sysid, with the numbers it reaches."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from sysid_problems import ARM_ARMATURE, record_arm, record_cart, record_spring_mass

from sysid_ros import sysid
from sysid_ros.errors import ModelError


def mass_parameter(start: float) -> sysid.ParameterDict:
    def set_mass(spec, param):
        spec.body("ball").mass = param.value[0]

    params = sysid.ParameterDict()
    params.add(sysid.Parameter("mass", 1.0, 0.3, 3.0, modifier=set_mass))
    params["mass"].value[:] = start
    return params


def cart_parameters() -> sysid.ParameterDict:
    def set_mass(spec, param):
        spec.body("cart").mass = param.value[0]

    def set_gear(spec, param):
        spec.actuator("motor").gear[0] = param.value[0]

    params = sysid.ParameterDict()
    params.add(sysid.Parameter("mass", 2.0, 0.5, 5.0, modifier=set_mass))
    params.add(sysid.Parameter("gear", 3.0, 0.5, 8.0, modifier=set_gear))
    params["mass"].value[:] = 3.5
    params["gear"].value[:] = 5.25
    return params


@pytest.mark.parametrize("optimizer", ["mujoco", "scipy", "scipy_parallel_fd"])
def test_mass_is_recovered_and_the_users_objects_stay_as_they_are(optimizer):
    recording = record_spring_mass()
    before = recording.spec.to_xml()
    params = mass_parameter(2.0)
    residual_fn = sysid.build_residual_fn(models_sequences=[recording.sequences()])

    found, result = sysid.optimize(params, residual_fn, optimizer, verbose=False)

    assert found["mass"].value[0] == pytest.approx(1.0, abs=1e-4)
    assert result.status is sysid.FitStatus.CONVERGED
    assert result.success
    assert result.cost < 1e-12
    assert result.iterations > 1
    assert result.evaluations > result.iterations
    assert result.jac.shape == (2 * len(recording.times), 1)
    assert result.grad == pytest.approx(0.0, abs=1e-5)
    assert recording.spec.to_xml() == before
    assert params["mass"].value[0] == 2.0


def test_armatures_are_recovered_without_noise():
    recording = record_arm()
    params = sysid.ParameterDict()
    for name, true in ARM_ARMATURE.items():
        params.add(
            sysid.Parameter(
                f"{name}_armature",
                true,
                0.001,
                1.0,
                modifier=sysid.AttributeModifier("joint", name, "armature"),
            )
        )
        params[f"{name}_armature"].value[:] = 0.01
    residual_fn = sysid.build_residual_fn(models_sequences=[recording.sequences()])

    found, _ = sysid.optimize(params, residual_fn, verbose=False)

    np.testing.assert_allclose(found.as_vector(), list(ARM_ARMATURE.values()), atol=1e-4)


def test_noisy_arm_has_intervals_that_contain_the_truth():
    recording = record_arm()
    params = sysid.ParameterDict()
    for name, true in ARM_ARMATURE.items():
        modifier = sysid.AttributeModifier("joint", name, "armature")
        params.add(sysid.Parameter(name, true, 0.01, 0.6, modifier=modifier))
    residual_fn = sysid.build_residual_fn(
        models_sequences=[recording.sequences(data=recording.noisy(0.05))]
    )

    found, result = sysid.optimize(params, residual_fn, verbose=False)
    residuals, _, _ = residual_fn(found.as_vector(), found)
    covariance, half_widths = sysid.calculate_intervals(residuals, result.jac, alpha=0.001)

    error = np.abs(found.as_vector() - list(ARM_ARMATURE.values()))
    assert np.all(error < half_widths)
    assert np.all(half_widths < 0.2)
    assert np.all(np.linalg.eigvalsh(covariance) > 0.0)


def test_one_sequence_of_the_cart_determines_the_ratio_only():
    residual_fn = sysid.build_residual_fn(models_sequences=[record_cart().sequences("cart")])

    found, result = sysid.optimize(cart_parameters(), residual_fn, verbose=False)

    assert found["gear"].value[0] / found["mass"].value[0] == pytest.approx(1.5, rel=1e-6)
    assert found["mass"].value[0] == pytest.approx(3.5)
    singular = np.linalg.svd(result.jac, compute_uv=False)
    assert singular[1] < 1e-5 * singular[0]


def test_payload_separates_mass_and_gear_of_the_cart():
    residual_fn = sysid.build_residual_fn(
        models_sequences=[
            record_cart().sequences("cart"),
            record_cart(payload=1.0).sequences("cart_payload"),
        ]
    )

    found, _ = sysid.optimize(cart_parameters(), residual_fn, verbose=False)

    np.testing.assert_allclose(found.as_vector(), [2.0, 3.0], atol=1e-4)


def test_rendering_shows_several_runs_as_ghosts():
    recording = record_cart()
    data = mujoco.MjData(recording.model)
    states, _ = mujoco.rollout.rollout(
        recording.model, data, recording.initial_state, recording.control[:-1]
    )
    try:
        one = sysid.render_rollout(recording.model, data, states, 10, width=80, height=60)
    except ModelError as error:
        pytest.skip(f"nothing to draw with here: {error}")
    moved = states.copy()
    moved[..., 1] += 0.04
    both = sysid.render_rollout(
        [recording.model] * 2, data, np.concatenate([states, moved]), 10, width=80, height=60
    )
    assert len(one) == len(both) == 6
    assert one[0].shape == (60, 80, 3)
    assert np.any(one[0] != both[0])
