# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces of a medium on ellipsoids against MuJoCo's, and their slopes against differences."""

from __future__ import annotations

import mujoco
import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.compiled import OPTIONS_OF_WHOLES
from sysid_ros.engine.mechanics.ellipsoid_law import resist_ellipsoid
from sysid_ros.engine.mechanics.fluid import ellipsoids_of

TEXT = """<mujoco><option density="300" viscosity="0.7" gravity="0 0 0"/><worldbody><body>
<freejoint/><geom type="{shape}" size="{size}" mass="2" fluidshape="ellipsoid"
fluidcoef="0.6 0.3 1.2 0.9 0.8"/></body></worldbody></mujoco>"""
STEP = 1e-6


@numba.njit(error_model="numpy", **OPTIONS_OF_WHOLES)
def _all(
    c: FloatArray,
    u: FloatArray,
    w: FloatArray,
    both: bool,
    force: FloatArray,
    slope: FloatArray,
    bend: FloatArray,
    product: FloatArray,
) -> None:
    resist_ellipsoid(c, u, w, both, force, slope, bend, product)


def resisted(
    model: mujoco.MjModel, u: FloatArray, w: FloatArray, both: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Force (6,), slope and bend (6, 6) at a velocity, with a change of it."""
    force, slope, bend = np.zeros(6), np.zeros((6, 6)), np.zeros((6, 6))
    (c,) = ellipsoids_of(model).coefficients
    _all(c, u, w, both, force, slope, bend, np.zeros((6, 6)))
    return force, slope, bend


MODELS = [
    mujoco.MjModel.from_xml_string(TEXT.format(shape=shape, size=size))
    for shape, size in (
        ("ellipsoid", "0.1 0.25 0.16"), ("sphere", "0.2"), ("box", "0.3 0.1 0.15"),
        ("capsule", "0.1 0.2"), ("cylinder", "0.2 0.1"),
    )
]  # fmt: skip
VELOCITIES = st.tuples(*[st.floats(-3.0, 3.0)] * 6).map(np.array)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(MODELS), VELOCITIES)
def test_a_medium_pushes_as_in_mujoco(model: mujoco.MjModel, u: FloatArray) -> None:
    data = mujoco.MjData(model)
    data.qvel[:] = u
    mujoco.mj_forward(model, data)
    force = resisted(model, u, np.zeros(6))[0]
    np.testing.assert_allclose(-force, data.qfrc_passive, rtol=1e-9, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(MODELS), VELOCITIES, VELOCITIES, st.booleans())
def test_slopes_agree_with_differences(
    model: mujoco.MjModel, u: FloatArray, w: FloatArray, both: bool
) -> None:
    u = u + np.where(u < 0.0, -0.1, 0.1)  # from rest lift has no second derivative
    _, slope, bend = resisted(model, u, w, both)
    forces, pulls = [], []
    for k in range(6):
        ahead, behind = (resisted(model, u + s * STEP * np.eye(6)[k], w) for s in (1.0, -1.0))
        forces.append((ahead[0] - behind[0]) / (2.0 * STEP))
        held = [0.5 * (one + one.T) if both else one for one in (ahead[1], behind[1])]
        pulls.append((held[0] - held[1]) @ w / (2.0 * STEP))
    for found, told in ((slope, forces), (bend, pulls)):
        expected = np.stack(told, axis=1)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())
