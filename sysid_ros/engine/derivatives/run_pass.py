# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The pass along one run: from its rollout to residual and Jacobian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.derivatives.compilation import compilable, entry_points
from sysid_ros.engine.derivatives.directions import (
    ModelDirections,
    RolloutDirections,
    deviation_slope,
    start_difference,
)
from sysid_ros.engine.derivatives.model_tables import Tables
from sysid_ros.engine.derivatives.rollout import new_buffers
from sysid_ros.engine.derivatives.sensors import Readings
from sysid_ros.engine.simulation import (
    Candidate,
    Perturbation,
    Perturbations,
    ResidualSlope,
    Rollout,
    RunJacobian,
    SimulatedRun,
    quotient,
)

# Of the largest force; above it the equation of motion does not hold along the rollout. MuJoCo's
# constraint solver stops early by up to a tenth of that.
MAX_VIOLATION = 1e-4


@dataclass(frozen=True)
class Pass:
    """The part of the pass that all runs of a model share at a point.

    Attributes:
      columns: All parameters, moved.
      followed: The columns whose effect on the rollout the pass finds, in its order.
      reading: The columns that change only how sensors are read.
      tables: The model.
      model: How the followed columns change the model.
      addresses: The columns of the sensor data that are differentiated, sorted.
      readings: What they read.
    """

    columns: Perturbations
    followed: tuple[int, ...]
    reading: tuple[int, ...]
    tables: Tables
    model: ModelDirections
    addresses: npt.NDArray[np.intp]
    readings: Readings


def differentiate_run(
    pass_: Pass, run: SimulatedRun, deviation: FloatArray, rollout: Rollout
) -> RunJacobian | None:
    """Residual and Jacobian of a run that was simulated at the point.

    Columns that the pass does not follow are left at zero.

    Returns:
      ``None`` where the rollout diverged or contains forces that the pass does not know.
    """
    if rollout.diverged:
        return None
    derivatives = _readings_derivatives(pass_, run, deviation, rollout)
    if derivatives is None:
        return None
    base, p = pass_.columns.base, len(pass_.columns.moved)
    residual, slope = run.linearized(base, rollout.sensordata)
    through_rollout = _through_readings(pass_, slope, derivatives)
    n_followed = len(pass_.followed)
    jacobian = np.zeros((residual.size, p + run.n_start))
    jacobian[:, list(pass_.followed)] = through_rollout[:, :n_followed]
    jacobian[:, p:] = through_rollout[:, n_followed:]
    for j in (*pass_.reading, *pass_.followed):
        column = pass_.columns.moved[j]
        if not run.reads_alike(column.candidate, base):
            jacobian[:, j] += quotient(run, column, rollout.sensordata, residual)
    return RunJacobian(residual, jacobian)


def _through_readings(pass_: Pass, slope: ResidualSlope, derivatives: FloatArray) -> FloatArray:
    """Derivatives of the residual through the sensor data, (m, n)."""
    result = np.empty((slope.columns.size, derivatives.shape[2]))
    interpolate = entry_points().interpolate
    slots = np.searchsorted(pass_.addresses, slope.columns)
    interpolate(derivatives, slope.rows, slope.weights, slots, result)
    if slope.turned is not None:
        chosen = slope.turned.samples
        result[chosen] = 0.0
        slots = np.searchsorted(pass_.addresses, slope.turned.columns)
        part = np.empty((chosen.size, derivatives.shape[2]))
        for k, factor in enumerate(slope.turned.by_quaternion.T):
            weights = slope.weights[chosen] * factor[:, np.newaxis]
            interpolate(derivatives, slope.rows[chosen], weights, slots + k, part)
            result[chosen] += part
    return result


def _readings_derivatives(
    pass_: Pass, run: SimulatedRun, deviation: FloatArray, rollout: Rollout
) -> FloatArray | None:
    """Derivatives of all readings before every step, (steps, n_reading, n)."""
    base = pass_.columns.base
    moved = [pass_.columns.moved[j] for j in pass_.followed]
    control = run.controls(base).values
    start = run.start(base, deviation)[1:]
    directions = RolloutDirections(
        _start_directions(run, deviation, start, moved, base),
        *_control_directions(run, control, moved, base),
    )
    n = directions.start.shape[1]
    out = np.empty((len(control), pass_.addresses.size, n))
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
    run: SimulatedRun,
    deviation: FloatArray,
    start: FloatArray,
    moved: list[Perturbation],
    base: Candidate,
) -> FloatArray:
    """Return the derivative of the start in every direction, (2 nv + na, n)."""
    size = 2 * base.model.nv + base.model.na
    directions = np.zeros((size, len(moved) + run.n_start))
    for k, column in enumerate(moved):
        if not column.candidate.same_inputs(base):
            change = start_difference(base.model, start, run.start(column.candidate, deviation)[1:])
            directions[:, k] = change / column.step
    if run.n_start:
        directions[:, len(moved) :] = deviation_slope(base.model, deviation)
    return directions


def _control_directions(
    run: SimulatedRun, control: FloatArray, moved: list[Perturbation], base: Candidate
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """The directions that change the controls, and how: (n_control,), (steps, n_control, nu)."""
    which, changes = [], []
    for k, column in enumerate(moved):
        if not column.candidate.same_inputs(base):
            change = (run.controls(column.candidate).values - control) / column.step
            if np.any(change):
                which.append(k)
                changes.append(change)
    stacked = (
        np.stack(changes, axis=1) if changes else np.zeros((len(control), 0, control.shape[1]))
    )
    return np.array(which, dtype=np.int64), np.ascontiguousarray(stacked)
