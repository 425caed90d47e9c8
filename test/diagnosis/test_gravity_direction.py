# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Gravity from another direction is found however little a base leans."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from arm_recording import arm_model

from sysid_ros.diagnosis.fits import Misfit, other_gravity, turned_first_joint

OWN = np.array([0.0, 0.0, -9.81])


def leaning(degrees: float) -> np.ndarray:
    angle = np.deg2rad(degrees)
    return 9.81 * np.array([0.6 * np.sin(angle), -0.8 * np.sin(angle), -np.cos(angle)])


@pytest.mark.parametrize("degrees", [5.0, 10.0, 30.0, 60.0, 120.0])
def test_a_base_that_leans_is_found(degrees: float) -> None:
    found = other_gravity(seen(leaning(degrees)), seen(leaning(degrees)), OWN)
    assert found is not None
    assert np.linalg.norm(found[0] - leaning(degrees)) < 0.05 * 9.81


def test_an_upright_base_is_left_as_it_is() -> None:
    assert other_gravity(seen(OWN), seen(OWN), OWN) is None


def seen(truth: np.ndarray):
    """What a robot under some gravity leaves, beside two hundredths that noise does."""

    def left(gravity: np.ndarray) -> Misfit:
        share = float(np.hypot(0.02, np.linalg.norm(gravity - truth) / 9.81))
        return Misfit(share, np.full(20, share**2))

    return left


def test_the_zero_of_the_first_joint_looks_like_a_lean_about_its_axis() -> None:
    model = mujoco.MjModel.from_xml_string(arm_model(1, 2))
    found = turned_first_joint(model, OWN, 9.81 * np.array([-np.sin(0.3), 0.0, -np.cos(0.3)]))
    assert found == ("j0", pytest.approx(0.3))
    about_another = 9.81 * np.array([0.0, np.sin(0.3), -np.cos(0.3)])
    assert turned_first_joint(model, OWN, about_another) is None
