# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How much recordings differ, where hardly anything tells some parameters."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import ReducedSystem
from sysid_ros.engine.uncertainty import recording_scatter

PLACES = np.repeat(np.arange(4), 5)


def scatter(columns: FloatArray) -> FloatArray:
    """The factors of a linear problem with these columns in all windows, (windows, rows, p)."""
    random = np.random.default_rng(2)
    residual = random.normal(size=columns.shape[:2])
    hessians = np.einsum("wmi,wmj->wij", columns, columns)
    gradients = np.einsum("wmi,wm->wi", columns, residual)
    system = ReducedSystem(hessians.sum(0), gradients.sum(0), hessians, gradients)
    count = columns.shape[2]
    errors = 1.0 / np.sqrt(np.diag(system.hessian))
    return recording_scatter(system, np.arange(count), errors, PLACES.tolist())


@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-8])
def test_what_only_a_sum_of_parameters_tells_is_no_error(apart: float) -> None:
    """As a servo's gain and all that it works against; the inverse has no root to rounding."""
    random = np.random.default_rng(1)
    columns = random.normal(size=(len(PLACES), 6, 4)) * [1.0, 1e3, 1e-3, 1.0]
    columns[..., 3] = columns[..., :3].sum(axis=-1) + apart * random.normal(size=(len(PLACES), 6))
    factors = scatter(columns)
    assert np.all(np.isfinite(factors)) and np.all(factors >= 1.0)


def test_units_of_parameters_do_not_matter() -> None:
    columns = np.random.default_rng(1).normal(size=(len(PLACES), 6, 3))
    scaled = columns * [1e-6, 1.0, 1e6]
    np.testing.assert_allclose(scatter(scaled), scatter(columns), rtol=1e-6)
