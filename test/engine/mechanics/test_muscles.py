# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Forces and activations of muscles against MuJoCo's, and their slopes against differences."""

from __future__ import annotations

import mujoco
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.mechanics.model_tables import Tables, tables_of, unsupported
from sysid_ros.engine.mechanics.muscles import muscle_bias, muscle_gain, muscle_rate

TEXT = """<mujoco><worldbody><body><joint name="elbow" axis="0 1 0"/><site name="tip"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body></worldbody>
<actuator><muscle joint="elbow" gear="1.3" lengthrange="-1 2" range=".8 1.1" force="FORCE"
scale="150" lmin=".4" lmax="1.7" vmax="1.4" fpmax="1.2" fvmax="1.3" timeconst=".02 .06"
tausmooth="WIDTH"/></actuator></mujoco>"""
STEP = 1e-6


@numba.njit
def _all(curve: FloatArray, times: FloatArray, x: FloatArray, out: FloatArray) -> None:
    out[:5] = muscle_gain(curve, x[0], x[1])
    out[5:7] = muscle_bias(curve, x[0])
    out[7:] = muscle_rate(times, x[4], x[2], x[3])


def model_of(force: float, width: float) -> mujoco.MjModel:
    text = TEXT.replace("FORCE", str(force)).replace("WIDTH", str(width))
    return mujoco.MjModel.from_xml_string(text)


def evaluated(tables: Tables, x: FloatArray) -> FloatArray:
    """Gain, bias and rate with their slopes, (11,).

    Args:
      tables: The muscle's.
      x: Length, velocity, control, activation and time of activation, (5,).
    """
    out = np.zeros(11)
    _all(tables.actuator_curve[0, 0], tables.actuator_times[0], x, out)
    return out


STATES = st.tuples(
    st.floats(-1.5, 3.0), st.floats(-5.0, 5.0), st.floats(-0.2, 1.2), st.floats(0.0, 1.0),
    st.just(0.02),
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(STATES, st.sampled_from([-1.0, 30.0]), st.sampled_from([0.0, 0.3]))
def test_muscles_pull_as_in_mujoco(state: tuple[float, ...], force: float, width: float) -> None:
    model = model_of(force, width)
    data = mujoco.MjData(model)
    x = np.array(state)
    data.qpos[0], data.qvel[0], data.ctrl[0], data.act[0] = x[0] / 1.3, x[1] / 1.3, x[2], x[3]
    mujoco.mj_forward(model, data)
    tables = tables_of(model)
    values, strength = evaluated(tables, x), tables.actuator_fields[[0, 3], 0]
    pull = strength[0] * values[0] * x[3] + strength[1] * values[5]
    np.testing.assert_allclose(pull, data.actuator_force[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(values[7], data.act_dot[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("width", [0.0, 0.3])
def test_slopes_are_those_of_differences(width: float) -> None:
    tables, random, checked = tables_of(model_of(30.0, width)), np.random.default_rng(0), 0
    for _ in range(200):
        x = random.uniform([-1.5, -5.0, 0.01, 0.01, 0.01], [3.0, 5.0, 0.99, 0.99, 0.1])
        found, slopes, bends = evaluated(tables, x), np.zeros((11, 5)), np.zeros((11, 5))
        for k, axis in enumerate(STEP * np.eye(5)):
            ahead, behind = evaluated(tables, x + axis), evaluated(tables, x - axis)
            slopes[:, k] = (ahead - behind) / (2 * STEP)
            bends[:, k] = (ahead - 2 * found + behind) / STEP
        if np.abs(bends[[0, 2, 5, 7]]).max() > 1e-2:
            continue  # a corner of a curve is within a step
        checked += 1
        for row, column, told in (
            (0, 0, found[1]), (0, 1, found[2]), (2, 0, found[3]), (2, 1, found[4]),
            (5, 0, found[6]), (7, 3, found[8]), (7, 2, found[9]), (7, 4, found[10]),
        ):  # fmt: skip
            assert abs(slopes[row, column] - told) < 1e-4 * (1.0 + abs(told))
    assert checked > 150


def test_a_muscle_at_a_site_is_told() -> None:
    spec = mujoco.MjSpec.from_string(TEXT.replace("FORCE", "30").replace("WIDTH", "0"))
    spec.actuators[0].trntype, spec.actuators[0].target = mujoco.mjtTrn.mjTRN_SITE, "tip"
    assert unsupported(spec.compile()) == "a muscle acts at a site"
