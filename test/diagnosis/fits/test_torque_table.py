# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Many torques fitted with one motion's columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from sysid_ros.diagnosis.fits.torque_table import TorqueTable


@pytest.fixture
def columns() -> np.ndarray:
    """Two rows of 50 instants, (50, 2, 4): the second one bears half of the unknowns only."""
    made = np.random.default_rng(0).normal(size=(50, 2, 4))
    made[:, 1, :2] = 0.0
    made[:, :, 2] *= 1e4  # in a unit of its own
    return made


def left_by_nnls(columns: np.ndarray, torque: np.ndarray, weight: np.ndarray) -> np.ndarray:
    rows = (columns * weight[:, None]).reshape(-1, columns.shape[2])
    wanted = (torque * weight).ravel()
    return (wanted - rows @ nnls(rows, wanted)[0]).reshape(torque.shape)


def test_what_is_left_is_that_of_non_negative_least_squares(columns: np.ndarray) -> None:
    torque, weight = np.random.default_rng(1).normal(size=(50, 2)), np.array([2.0, 0.5])
    left = TorqueTable.of(columns).fit(torque, weight)
    np.testing.assert_allclose(left, left_by_nnls(columns, torque, weight), atol=1e-6)


def test_what_is_free_may_have_either_sign(columns: np.ndarray) -> None:
    generator = np.random.default_rng(2)
    free, weight = generator.normal(size=(50, 2, 2)), np.array([1.0, 3.0])
    torque = columns @ [0.5, 2.0, 1e-4, 1.0] + free @ [-3.0, 4.0]
    assert np.abs(TorqueTable.of(columns).fit(torque, weight)).max() > 1.0
    assert np.abs(TorqueTable.of(columns).fit(torque, weight, free)).max() < 1e-6


def test_beside_contacts_only_what_they_leave_counts(columns: np.ndarray) -> None:
    first = np.zeros((50, 2, 2))
    first[:, 0, 0] = 1.0  # contacts take all of the second row
    torque, weight = columns @ [0.5, 2.0, 1e-4, 1.0], np.ones(2)
    pushed = torque + np.array([0.0, 1e3])
    assert np.abs(TorqueTable.of(columns, first).fit(pushed, weight)).max() < 1e-6
    nothing = TorqueTable.of(columns, np.zeros((0, 2, 2)))
    assert nothing.is_blind
    assert (nothing.fit(torque, weight) == 1.0).all()
