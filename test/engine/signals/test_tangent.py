# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Differences of orientations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.spatial.transform import Rotation

from sysid_ros.engine.signals.tangent import rotation_between

rotations = npst.arrays(np.float64, 3, elements=st.floats(-2.0, 2.0))


def quaternion(vector: np.ndarray) -> np.ndarray:
    x, y, z, w = Rotation.from_rotvec(vector).as_quat()
    return np.array([[w, x, y, z]])


@given(rotations, rotations, st.sampled_from([1.0, -1.0, 3.0, -0.2]))
def test_rotation_is_that_of_scipy_whatever_sign_and_length_the_quaternions_have(a, b, factor):
    expected = (Rotation.from_rotvec(a).inv() * Rotation.from_rotvec(b)).as_rotvec()
    if np.linalg.norm(expected) > 3.1:
        return  # half a turn either way is the same
    found = rotation_between(quaternion(a), factor * quaternion(b))[0]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_small_rotations_are_exact():
    tiny = np.array([1e-13, -2e-13, 0.0])
    found = rotation_between(quaternion(np.zeros(3)), np.array([[1.0, *(0.5 * tiny)]]))[0]
    assert found == pytest.approx(tiny, rel=1e-9)


def test_missing_orientations_stay_missing():
    missing = np.full((1, 4), np.nan)
    assert np.isnan(rotation_between(missing, quaternion(np.zeros(3)))).all()
