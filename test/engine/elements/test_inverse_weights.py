# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the inverse inertia that MuJoCo compiles into a model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import ReferencePosture, inertial_parameters
from sysid_ros.engine.mechanics import local_twists

ARM = """<mujoco><worldbody><body pos="0.1 0 0.2" euler="10 20 30">
  <joint axis="0 1 0.2" armature="0.05"/><inertial pos="0.02 0.01 0.1" mass="1.5" euler="20 5 9"
    diaginertia="0.02 0.03 0.015"/>
  <body pos="0 0.05 0.3" euler="40 0 10"><joint type="slide" axis="1 0 1" armature="0.2"/>
    <joint axis="1 0 0" armature="0.01"/><inertial pos="-0.03 0.04 0.1" mass="0.7"
    diaginertia="0.004 0.006 0.003"/>{}</body></body></worldbody></mujoco>"""
STEP = 1e-6


def weights_of(model: mujoco.MjModel) -> FloatArray:
    """What MuJoCo's compiler would write."""
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return np.array(model.dof_invweight0)


def test_inverse_inertia_follows_armature_and_bodies() -> None:
    model = mujoco.MjModel.from_xml_string(ARM.format(""))
    parameters = inertial_parameters(model)
    found = ReferencePosture(model).inverse_weights(model, parameters)
    assert found is not None
    weights = weights_of(model)
    for dof in range(model.nv):
        model.dof_armature[dof] += STEP
        change = (weights_of(model) - weights) / STEP
        np.testing.assert_allclose(found.by_armature[:, dof], change, rtol=1e-3, atol=1e-3)
        model.dof_armature[dof] -= STEP
    for name in ("body_mass", "body_ipos", "body_iquat", "body_inertia"):
        before = getattr(model, name).copy()
        getattr(model, name)[1:] *= 1.0 + 1e-6 * np.arange(1, 1 + before[1:].size).reshape(
            before[1:].shape
        )
        if name == "body_iquat":
            model.body_iquat /= np.linalg.norm(model.body_iquat, axis=1, keepdims=True)
        moved = np.tensordot(found.by_inertia, inertial_parameters(model) - parameters, 2)
        np.testing.assert_allclose(weights_of(model) - weights, moved, rtol=1e-3, atol=1e-8)
        getattr(model, name)[:] = before


def test_inverse_inertia_follows_the_places_of_bodies_and_joints() -> None:
    text = ARM.format(
        """<body pos="0.1 0.2 0" euler="5 50 9"><joint axis="0 1 0" pos="0.05 0 0.02"/>
        <inertial mass="0.3" pos="0.1 0 0" diaginertia="0.002 0.002 0.001"/></body>"""
    )
    model = mujoco.MjModel.from_xml_string(text)
    found = ReferencePosture(model).inverse_weights(model, inertial_parameters(model))
    assert found is not None
    before, random = weights_of(model), np.random.default_rng(0)
    for name in ("body_pos", "body_quat", "jnt_pos", "jnt_axis"):
        old = getattr(model, name).copy()
        change = STEP * random.normal(size=old.shape)
        if name.startswith("body"):
            change[0] = 0.0
        new = old + change
        if name in ("body_quat", "jnt_axis"):
            new /= np.linalg.norm(new, axis=1, keepdims=True)
        getattr(model, name)[:] = new
        moved = [np.zeros((count, n, 1)) for count, n in ((model.nbody, 7), (model.njnt, 6))]
        kind, first = divmod(("body_pos", "body_quat", "jnt_pos", "jnt_axis").index(name), 2)
        moved[kind][:, 3 * first : 3 * first + old.shape[1], 0] = new - old
        twists = local_twists(model, *moved)
        expected = np.tensordot(found.by_displacement, twists, 2)[:, 0]
        difference = weights_of(model) - before
        assert np.abs(difference).max() > 1e-8
        np.testing.assert_allclose(difference, expected, rtol=1e-3, atol=1e-3 * STEP)
        getattr(model, name)[:] = old


def test_a_posture_is_that_of_all_models_that_weigh_otherwise() -> None:
    model, other = (mujoco.MjModel.from_xml_string(ARM.format("")) for _ in range(2))
    posture = ReferencePosture(model)
    other.body_mass[1] = 9.0
    assert posture.is_of(other)
    other.body_pos[2, 0] += 0.1
    assert not posture.is_of(other)


@pytest.mark.parametrize("joint", ['<joint type="ball"/>', "<freejoint/>"])
def test_balls_have_one_weight_for_three_axes(joint: str) -> None:
    ball = f'<body>{joint}<geom size="0.1" mass="1"/></body>'
    text = ARM.format(ball if "ball" in joint else "")
    text = text if "ball" in joint else text.replace("</worldbody>", ball + "</worldbody>")
    model = mujoco.MjModel.from_xml_string(text)
    posture = ReferencePosture(model)
    assert posture.inverse_weights(model, inertial_parameters(model)) is None
