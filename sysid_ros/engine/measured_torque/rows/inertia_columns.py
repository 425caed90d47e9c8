# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Ten inertial parameters of a body from the coordinates of a fit, and back."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import (
    inertia_from_theta,
    parameters_of,
    pseudo_inertia,
    pseudo_of,
    theta_from_pseudo,
)

_STEP = 1e-5  # of theta, whose coordinates are of the order of one


def ten_of_theta(theta: FloatArray) -> FloatArray:
    """Ten inertial parameters, (10,): kg, kg m, kg m^2, of coordinates theta."""
    return parameters_of(pseudo_of(inertia_from_theta(theta)))


def theta_slope(ten: FloatArray) -> FloatArray:
    """Derivative of the coordinates theta by ten parameters, (10, 10)."""
    lower = np.linalg.cholesky(pseudo_inertia(ten))
    size = float(np.linalg.eigvalsh(pseudo_inertia(ten))[0])
    slope = np.empty((10, 10))
    for i in range(10):
        step = 1e-4 * min(size, float(np.abs(lower).max()) ** 2)
        moved = [ten + sign * step * np.eye(10)[i] for sign in (-1.0, 1.0)]
        low, high = (theta_from_pseudo(pseudo_inertia(one)) for one in moved)
        slope[:, i] = (high - low) / (2.0 * step)
    return slope


def ten_slope(theta: FloatArray) -> FloatArray:
    """Derivative of ten parameters by the coordinates theta, (10, 10)."""
    shifts = _STEP * np.eye(10)
    rows = [(ten_of_theta(theta + one) - ten_of_theta(theta - one)) / _STEP for one in shifts]
    return 0.5 * np.column_stack(rows)
