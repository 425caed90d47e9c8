# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pass along one window: from its rollout to residual and Jacobian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.sysid.columns import Column, ParameterColumns, WindowJacobian
from sysid_ros.sysid.finite_differences import quotient
from sysid_ros.sysid.rollout_pool import Rollout
from sysid_ros.sysid.sensitivity.compilation import compilable, entry_points
from sysid_ros.sysid.sensitivity.directions import ModelDirections, RolloutDirections
from sysid_ros.sysid.sensitivity.rollout import new_buffers
from sysid_ros.sysid.sensitivity.sensors import Readings
from sysid_ros.sysid.sensitivity.tables import Tables
from sysid_ros.sysid.window_simulation import WindowSimulation

FloatArray = npt.NDArray[np.float64]

# Of the largest force; above it the equation of motion does not hold along the rollout. MuJoCo's
# constraint solver stops early by up to a tenth of that.
MAX_VIOLATION = 1e-4


@dataclass(frozen=True)
class Pass:
    """What is the same for all windows of a model at a point.

    Attributes:
      columns: All parameters, moved.
      followed: The columns whose effect on the rollout the pass finds, in its order.
      reading: The columns that change only how sensors are read.
      tables: The model.
      model: How the followed columns change the model.
      addresses: The columns of the sensor data that are differentiated, sorted.
      readings: What they read.
    """

    columns: ParameterColumns
    followed: tuple[int, ...]
    reading: tuple[int, ...]
    tables: Tables
    model: ModelDirections
    addresses: npt.NDArray[np.intp]
    readings: Readings


def differentiate_window(
    pass_: Pass, window: WindowSimulation, deviation: FloatArray, rollout: Rollout
) -> WindowJacobian | None:
    """Residual and Jacobian of a window that was simulated at the point.

    Columns that the pass does not follow are left at zero.

    Returns:
      ``None`` where the rollout diverged or contains forces that the pass does not know.
    """
    if rollout.diverged:
        return None
    derivatives = _readings_derivatives(pass_, window, deviation, rollout)
    if derivatives is None:
        return None
    base, p = pass_.columns.base, len(pass_.columns.moved)
    residual = window.residual(base, rollout.sensordata)
    through_rollout = np.empty((residual.size, derivatives.shape[2]))
    how = window.interpolation(base, pass_.addresses)
    entry_points().interpolate(derivatives, how.rows, how.weights, how.slots, through_rollout)
    n_followed = len(pass_.followed)
    jacobian = np.zeros((residual.size, p + window.n_start))
    jacobian[:, list(pass_.followed)] = through_rollout[:, :n_followed]
    jacobian[:, p:] = through_rollout[:, n_followed:]
    for j in (*pass_.reading, *pass_.followed):
        column = pass_.columns.moved[j]
        if column.candidate.signals != base.signals:
            jacobian[:, j] += quotient(window, column, rollout.sensordata, residual)
    return WindowJacobian(residual, jacobian)


def _readings_derivatives(
    pass_: Pass, window: WindowSimulation, deviation: FloatArray, rollout: Rollout
) -> FloatArray | None:
    """Derivatives of all readings before every step, (steps, n_reading, n)."""
    base = pass_.columns.base
    moved = [pass_.columns.moved[j] for j in pass_.followed]
    control = window.control(base)
    start = window.start(base, deviation)[1:]
    directions = RolloutDirections(
        _start_directions(window, deviation, start, moved, base.signals),
        *_control_directions(window, control, moved, base.signals),
    )
    n = directions.start.shape[1]
    out = np.empty((len(control), pass_.readings.kind.size, n))
    violation = entry_points().differentiate_steps(
        pass_.tables,
        pass_.model,
        pass_.readings,
        directions,
        np.vstack([start, rollout.states[:, 1:]]),
        compilable(control),
        new_buffers(pass_.tables, n),
        out,
    )
    return out if violation <= MAX_VIOLATION else None


def _start_directions(
    window: WindowSimulation,
    deviation: FloatArray,
    start: FloatArray,
    moved: list[Column],
    signals: object,
) -> FloatArray:
    """How the start moves in every direction, (2 nv, n)."""
    directions = np.zeros((start.size, len(moved) + window.n_start))
    for k, column in enumerate(moved):
        if column.candidate.signals != signals:
            change = window.start(column.candidate, deviation)[1:] - start
            directions[:, k] = change / column.step
    directions[: window.n_start, len(moved) :] = np.eye(window.n_start)
    return directions


def _control_directions(
    window: WindowSimulation, control: FloatArray, moved: list[Column], signals: object
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """The directions that change the controls, and how: (n_control,), (steps, n_control, nu)."""
    which, changes = [], []
    for k, column in enumerate(moved):
        if column.candidate.signals != signals:
            change = (window.control(column.candidate) - control) / column.step
            if np.any(change):
                which.append(k)
                changes.append(change)
    stacked = (
        np.stack(changes, axis=1) if changes else np.zeros((len(control), 0, control.shape[1]))
    )
    return np.array(which, dtype=np.int64), np.ascontiguousarray(stacked)
