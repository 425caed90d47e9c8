# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Comparing simulated sensors with measurements at the instants of the measurements.

Row i of a rollout's sensor data describes the state before step i. Positions and forces belong to
``t_i = t_0 + i h``; velocities of the semi-implicit integrators belong to ``t_i - h/2``, because
``v_{i+1} = v_i + h a_i`` followed by ``q_{i+1} = q_i + h v_{i+1}`` is a leapfrog scheme (Hairer,
Lubich & Wanner, Geometric Numerical Integration, I.1.4). Between rows the prediction is
interpolated by the cubic through the four nearest rows, whose error is of fourth order in h.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.signals.control import is_semi_implicit

ON_A_ROW = 1e-9  # of a row's distance, within which rounding put an instant beside its row

_S = mujoco.mjtSensor
VELOCITY_SENSORS = frozenset(
    int(kind)
    for kind in (
        _S.mjSENS_JOINTVEL, _S.mjSENS_TENDONVEL, _S.mjSENS_ACTUATORVEL, _S.mjSENS_BALLANGVEL,
        _S.mjSENS_VELOCIMETER, _S.mjSENS_GYRO, _S.mjSENS_FRAMELINVEL, _S.mjSENS_FRAMEANGVEL,
        _S.mjSENS_SUBTREELINVEL, _S.mjSENS_SUBTREEANGMOM, _S.mjSENS_JOINTLIMITVEL,
        _S.mjSENS_TENDONLIMITVEL,
    )
)  # fmt: skip


def row_offset(model: mujoco.MjModel, sensor: int) -> float:
    """Return the instant at which a sensor's rows were true, relative to that of the step.

    Returns:
      Seconds: ``-h/2`` for velocities under a semi-implicit integrator, otherwise 0.
    """
    if is_semi_implicit(model) and int(model.sensor_type[sensor]) in VELOCITY_SENSORS:
        return -0.5 * float(model.opt.timestep)
    return 0.0


@dataclass(frozen=True)
class RowWeights:
    """A sparse linear map from rollout rows to instants: up to four rows and their weights each."""

    rows: IndexArray  # (m, k)
    weights: FloatArray  # (m, k)

    def apply(self, data: FloatArray, columns: IndexArray) -> FloatArray:
        """Evaluate at the instants.

        Args:
          data: Sensor data of one or several rollouts, shape (..., nstep, nsensordata).
          columns: The column of each instant, shape (m,).

        Returns:
          Shape (..., m).
        """
        values: FloatArray = np.einsum(
            "...mk,mk->...m", data[..., self.rows, columns[:, None]], self.weights
        )
        return values


def cubic_weights(position: FloatArray, nstep: int | IndexArray) -> RowWeights:
    """Weights of the Lagrange cubic through the four rows around each position.

    Args:
      position: Instants in units of rows, shape (m,); values outside the rows extrapolate.
      nstep: Number of rows, at least four; of all positions, or of each, (m,).

    Returns:
      The map from rows to positions; a single row each where all positions are rows.
    """
    nearest = np.round(position)
    position = np.where(np.abs(position - nearest) < ON_A_ROW, nearest, position)
    first = np.clip(np.floor(position).astype(np.intp) - 1, 0, nstep - 4)
    x = position - first
    weights = np.stack(
        [
            -(x - 1) * (x - 2) * (x - 3) / 6,
            x * (x - 2) * (x - 3) / 2,
            -x * (x - 1) * (x - 3) / 2,
            x * (x - 1) * (x - 2) / 6,
        ],
        axis=-1,
    )
    used = np.flatnonzero(np.any(weights != 0.0, axis=0))
    if used.size == 0:
        used = np.arange(1)
    return RowWeights(first[:, None] + used, np.ascontiguousarray(weights[:, used]))
