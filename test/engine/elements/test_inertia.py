# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The ten inertial parameters: physical for every value, and the same there and back."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from sysid_ros.engine.elements.inertia import (
    BodyInertia,
    full_inertia,
    inertia_from_theta,
    theta_from_inertia,
)

thetas = npst.arrays(np.float64, 10, elements=st.floats(-3.0, 3.0))


def pseudo_inertia(body: BodyInertia) -> np.ndarray:
    """The 4x4 matrix of Wensing et al. from what MuJoCo stores."""
    about_com = full_inertia(body)
    c = body.ipos
    about_origin = about_com + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    sigma = 0.5 * np.trace(about_origin) * np.eye(3) - about_origin
    pseudo = np.empty((4, 4))
    pseudo[:3, :3] = sigma
    pseudo[:3, 3] = pseudo[3, :3] = body.mass * c
    pseudo[3, 3] = body.mass
    return pseudo


@given(thetas)
def test_every_theta_is_the_inertia_of_a_body(theta):
    body = inertia_from_theta(theta)
    assert body.mass > 0.0
    assert np.all(body.inertia > 0.0)
    a, b, c = np.sort(body.inertia)
    assert a + b >= c
    assert np.linalg.norm(body.iquat) == pytest.approx(1.0)


@given(thetas)
def test_theta_stands_for_the_matrix_of_the_paper(theta):
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    upper = np.exp(alpha) * np.array(
        [
            [np.exp(d1), s12, s13, t1],
            [0.0, np.exp(d2), s23, t2],
            [0.0, 0.0, np.exp(d3), t3],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    expected = upper @ upper.T
    np.testing.assert_allclose(
        pseudo_inertia(inertia_from_theta(theta)), expected, atol=1e-10 * np.abs(expected).max()
    )


@given(npst.arrays(np.float64, 10, elements=st.floats(-1.0, 1.0)))
def test_theta_comes_back(theta):
    np.testing.assert_allclose(theta_from_inertia(inertia_from_theta(theta)), theta, atol=1e-9)


@given(thetas)
def test_mujoco_accepts_every_theta(theta):
    body = inertia_from_theta(theta)
    spec = mujoco.MjSpec()
    added = spec.worldbody.add_body(name="b", explicitinertial=True)
    added.mass, added.ipos, added.iquat = body.mass, body.ipos, body.iquat
    added.inertia = body.inertia
    added.add_freejoint()
    model = spec.compile()
    assert model.body_mass[1] == pytest.approx(body.mass)
    np.testing.assert_allclose(model.body_inertia[1], body.inertia)


def test_a_box_has_the_textbook_inertia():
    mass, (x, y, z) = 3.0, (0.2, 0.4, 0.6)
    moments = mass / 12.0 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    body = BodyInertia(mass, np.array([0.1, 0.0, -0.2]), np.array([1.0, 0, 0, 0]), moments)
    back = inertia_from_theta(theta_from_inertia(body))
    assert back.mass == pytest.approx(mass)
    np.testing.assert_allclose(back.ipos, body.ipos)
    np.testing.assert_allclose(full_inertia(back), np.diag(moments), atol=1e-12)


def test_a_body_without_volume_is_refused():
    flat = BodyInertia(1.0, np.zeros(3), np.array([1.0, 0, 0, 0]), np.array([1.0, 1.0, 2.0]))
    with pytest.raises(ValueError, match="is not the inertia of a body with volume"):
        theta_from_inertia(flat)


def test_theta_has_ten_elements():
    with pytest.raises(ValueError, match="10-element array, got 9"):
        inertia_from_theta(np.zeros(9))
