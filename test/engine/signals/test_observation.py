# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Predictions at the instants of the measurements."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.engine.signals.observation import cubic_weights, row_offset


@given(
    coefficients=st.tuples(*[st.floats(-5, 5)] * 4),
    positions=st.lists(st.floats(0, 9), min_size=1, max_size=20),
)
def test_cubics_are_reproduced_exactly(
    coefficients: tuple[float, ...], positions: list[float]
) -> None:
    cubic = np.polynomial.Polynomial(coefficients)
    rows = cubic(np.arange(10.0))[:, None]
    at = np.array(positions)
    values = cubic_weights(at, 10).apply(rows, np.zeros(at.size, dtype=int))
    assert values == pytest.approx(cubic(at), abs=1e-8)


def test_a_row_is_its_own_value() -> None:
    weights = cubic_weights(np.array([0.0, 3.0, 9.0]), 10)
    rows = np.random.default_rng(0).normal(size=(10, 1))
    assert weights.apply(rows, np.zeros(3, dtype=int)) == pytest.approx(rows[[0, 3, 9], 0])


def test_only_velocities_are_shifted() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j"/><geom size="0.1"/>
        <site name="s"/></body></worldbody><sensor><jointpos joint="j"/><jointvel joint="j"/>
        <gyro site="s"/><accelerometer site="s"/></sensor></mujoco>"""
    )
    assert [row_offset(model, i) for i in range(4)] == [0.0, -0.001, -0.001, 0.0]
