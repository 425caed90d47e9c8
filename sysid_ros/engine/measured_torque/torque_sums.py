# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimates from sums of rows, be they of a whole recording or of its latest part."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.elements import INERTIAL, central
from sysid_ros.engine.estimation import BodyFinding
from sysid_ros.engine.inverse_dynamics import (
    Estimate,
    FreeParameters,
    MergedColumns,
    Settings,
    estimate,
    residual_spread,
    without_gains,
)
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.engine.measured_torque.found_torque import body_findings
from sysid_ros.engine.measured_torque.rows import (
    Declared,
    Regression,
    torque_estimates,
    value_covariance,
)
from sysid_ros.engine.regressor import Filters, Grams
from sysid_ros.engine.uncertainty import ParameterEstimate

_ROUNDS = 12  # of linearisation
_SETTLED = 1e-6  # relative change of every value below which they have converged


@dataclass(frozen=True)
class TorqueEstimate:
    """Estimates from sums of rows."""

    values: FloatArray  # of the declared parameters, (n,)
    covariance: FloatArray  # theirs, (n, n)
    # the same with flags, then the mass of every body whose inertia is estimated
    parameters: tuple[ParameterEstimate, ...]
    bodies: tuple[BodyFinding, ...]  # these bodies
    # covariances of each one's mass, centre of mass and inertia about it, xx xy xz yy yz zz, (10,
    # 10)
    spreads: tuple[FloatArray, ...]
    theta: Mapping[str, FloatArray]  # all parameters of the regressor, by robot
    weights: FloatArray  # of kinds of rows, inverse variances of filtered torque, (kinds,)
    spread: FloatArray  # root mean square of residuals of each degree of freedom, (nv,)
    gains: FloatArray  # factors of measured torque, (nv,)
    regression: Estimate  # what it comes from, the start of the next one


def still_joints(declared: Declared, filters: Filters) -> list[int]:
    """Joints whose motion cannot be told from noise."""
    model = declared.model
    return [
        j
        for j in range(model.njnt)
        if (c := filters.choices.get(int(model.jnt_qposadr[j]))) is not None and c.motion_end == 0.0
    ]


def linearised(
    declared: Declared,
    grams: Mapping[str, Grams],
    settings: Settings,
    still: Collection[int],
    values: FloatArray,
) -> tuple[FloatArray, FitStatus]:
    """Linearise until the declared parameters settle; their values, (n,), and if they did.

    Begins at ``values``.
    """
    if not declared.curved:
        return values, FitStatus.CONVERGED
    for _ in range(_ROUNDS):
        free = declared.free(values, still)
        found = estimate(declared.model, free, grams, settings)
        before, values = values, values_at(declared, found.x, found.gains)[0]
        if np.allclose(before, values, rtol=_SETTLED, atol=_SETTLED):
            return values, FitStatus.CONVERGED
    return values, FitStatus.MAX_ITERATIONS


def values_at(
    declared: Declared, x: FloatArray, gains: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Values of the declared parameters, (n,), and their derivative by x and gains, (n, k + g)."""
    own = {name: float(gains[gain.dof]) for name, gain in declared.gains.items()}
    return declared.values(x, own)


def merged_columns(declared: Declared, still: Collection[int]) -> MergedColumns | None:
    """The columns that sums need, where they are the same whatever the estimate; else ``None``."""
    if declared.curved or len(declared.robots) > 1:
        return None
    return MergedColumns.of(declared.free(declared.params.as_vector(), still))


def estimate_from(
    declared: Declared,
    grams: Mapping[str, Grams],
    settings: Settings,
    still: Collection[int],
    merged: MergedColumns | None,
    before: TorqueEstimate | None,
) -> TorqueEstimate:
    """Estimate parameters from sums of rows.

    Args:
      declared: The parameters.
      grams: Sums by condition.
      settings: Of the regression.
      still: Joints that do not move.
      merged: The columns that the sums have, where not all of them.
      before: The estimate from nearly the same sums, which saves time.
    """
    if merged is None:
        values, _ = linearised(declared, grams, settings, still, declared.params.as_vector())
        free = used = declared.free(values, still)
    else:
        free, used = merged.whole, merged.free
    last = None if before is None else before.regression
    found = estimate(declared.model, used, grams, settings, before=last)
    k = len(free.names)
    regression = Regression(found.x, without_gains(found, k), np.zeros(k))
    values, slope = values_at(declared, found.x, found.gains)
    gain_errors = found.uncertainty.standard_errors[k:]
    covariance = value_covariance(regression, gain_errors, slope)
    edge = [declared.model.body(found.prior.bodies[i].body).name for i in found.solution.on_edge]
    masses = _masses(declared, free, found, regression)
    theta = {robot: free.theta(found.x, robot) for robot in free.conditions}
    return TorqueEstimate(
        values,
        covariance,
        (*torque_estimates(declared, regression, values, covariance, slope, still), *masses),
        body_findings(declared, free, edge, theta),
        _spreads(free, regression, theta),
        theta,
        found.weights,
        residual_spread(found, used, grams),
        found.gains,
        found,
    )


def _masses(
    declared: Declared, free: FreeParameters, found: Estimate, regression: Regression
) -> tuple[ParameterEstimate, ...]:
    """The masses of bodies whose inertia is estimated in the parameters of the regression."""
    masses = []
    for robot, body in free.bodies():
        place = free.columns.place[body, INERTIAL[0]]
        row = free.matrix[robot][place]
        variance = float(row @ regression.uncertainty.covariance @ row)
        masses.append(
            ParameterEstimate(
                name=f"{declared.model.body(body).name}_mass" + (f"_{robot}" if robot else ""),
                unit="kg",
                initial=float(declared.model.body(body).mass[0]),
                value=float(free.theta(found.x, robot)[place]),
                lower=0.0,
                upper=float("inf"),
                standard_error=math.sqrt(max(variance, 0.0)),
                # Neighbouring blocks are tied: half of them count, as of windows that grow.
                dof=max(0.5 * (found.uncertainty.blocks - 2), 1.0),
            )
        )
    return tuple(masses)


def _spreads(
    free: FreeParameters, regression: Regression, theta: Mapping[str, FloatArray]
) -> tuple[FloatArray, ...]:
    """Covariances of the central values of every body whose inertia is estimated, (10, 10)."""
    found = []
    for robot, body in free.bodies():
        columns = free.columns.of_body(body)
        slope = _central_slope(theta[robot][columns]) @ free.matrix[robot][columns]
        found.append(slope @ regression.uncertainty.covariance @ slope.T)
    return tuple(found)


def _central_slope(ten: FloatArray) -> FloatArray:
    """Derivative of mass, centre of mass and inertia about it by ten parameters, (10, 10)."""
    step = 1e-6 * max(abs(float(ten[0])), 1e-3)

    def at(shift: FloatArray) -> FloatArray:
        mass, centre, tensor = central(ten + shift)
        return np.array([mass, *centre, *tensor[np.triu_indices(3)]])

    shifts = step * np.eye(10)
    rows = [(at(one) - at(-one)) / (2.0 * step) for one in shifts]
    return np.column_stack(rows)
