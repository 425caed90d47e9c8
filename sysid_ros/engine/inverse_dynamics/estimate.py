# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The estimate that given normal equations lead to: weights, prior, program, intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.elements import INERTIAL
from sysid_ros.engine.inverse_dynamics.consistency import DIRECTIONS, reach
from sysid_ros.engine.inverse_dynamics.delay_uncertainty import doubts_of_delays
from sysid_ros.engine.inverse_dynamics.evidence import (
    Equations,
    acting_squares,
    equations,
    vanishing,
)
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.normal_equations import least_squares
from sysid_ros.engine.inverse_dynamics.prior import Prior, PriorKind, prior_of_model
from sysid_ros.engine.inverse_dynamics.program import Constraints, Solution, solve
from sysid_ros.engine.inverse_dynamics.reversal_bias import allowing_for_reversals, sure_equations
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty, jackknife, residual_weights
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.regressor import Grams, row_counts
from sysid_ros.errors import ExperimentError

_CONSISTENT = 2  # solutions of the program: one for the weights of the other
_WIDE, _WRONG, _WIDER = 10.0, 1.5, 3  # times the spread: at first, more wrong; rounds for that
_FEW = 0.02  # of the rows: so many more or fewer say little else about uncertainty
_ROUNDS = 4  # of weights from residuals
_SAME = 1e-2  # relative change of weights and gains below which they are settled


@dataclass(frozen=True)
class Estimate:
    """Estimated parameters and what they rest on."""

    x: FloatArray  # parameters, (k,)
    gains: FloatArray  # of each degree of freedom: measured torque = gain times torque, (nv,)
    weights: FloatArray  # inverse variances of residuals, (kinds of rows,)
    solution: Solution  # of the program, with gains behind the parameters
    prior: Prior  # of parameters and gains
    limits: Constraints  # of parameters and gains
    equations: Equations  # of parameters and gains, at the last weights, by block
    uncertainty: Uncertainty  # of parameters and gains
    inflation: float = 1.0  # of residuals' variances, by what ties neighbouring rows together
    # whether the uncertainty is this estimate's own, not that of the one before
    judged: bool = True
    rows: int = 0  # how many there were when it was judged


def estimate(
    model: mujoco.MjModel,
    free: FreeParameters,
    grams: Mapping[str, Grams],
    settings: Settings,
    *,
    before: Estimate | None = None,
) -> Estimate:
    """Estimate parameters from sums of all rows.

    Weights follow from residuals and are divided by how much more the jackknife finds than white
    residuals explain, so that the prior meets the data's evidence, and is widened where bodies show
    that the model is more wrong than it says.

    Args:
      model: The robot's model, the prior's centre.
      free: The estimated parameters.
      grams: Sums by condition.
      settings: Prior, unknown factors of torque.
      before: The estimate from nearly the same sums, of which one round makes this one. Where rows
        are the same but for a few, every second one keeps the uncertainty of the one before.
    """
    gain_dofs, gain_spread = estimated_gains(model, settings)
    prior = prior_of_model(model, free, grams, settings, gain_spread)
    if before is not None:
        prior = replace(prior, spread=_kept_spread(prior, before))
    limits = _constraints(model, free, prior, settings, len(gain_dofs))
    k = len(free.names)
    rows = sum(int(one.counts.sum()) for one in grams.values())
    if before is not None and before.judged and abs(rows - before.rows) <= _FEW * before.rows:
        return _moved(before, free, grams, gain_dofs, prior, limits)
    if before is None:
        wide = replace(prior, spread=_WIDE * prior.spread)  # what it keeps away is no noise
        x, gains, weights = _first(model, free, grams, gain_dofs, wide)
        start, inflation, rounds = None, 1.0, _CONSISTENT + len(gain_dofs)
    else:
        x, gains, weights = before.x, before.gains, _weights(grams, free, before.x, before.gains)
        start, inflation, rounds = before.solution.x, before.inflation, 1
    wider = 0
    while (rounds := rounds - 1) >= 0:
        system = equations(grams, free, weights / inflation, gains, gain_dofs, x)
        hessian, gradient = system.hessians.sum(axis=0), system.gradients.sum(axis=0)
        solution = solve(hessian, gradient, prior, limits, start)
        x, gains = solution.x[:k], _with(gains, gain_dofs, solution.x[k:])
        _, curvature = prior.derivatives(solution.x)
        uncertainty = jackknife(
            solution.x, system.hessians, system.gradients, curvature, solution.at_bound
        )
        used, weights = weights / inflation, _weights(grams, free, x, gains)
        inflation = max(1.0, inflation * uncertainty.inflation)
        if not rounds and wider < _WIDER:
            spread = prior.needed_spread(solution.x, hessian)
            if spread > _WRONG * prior.spread:
                prior, rounds, wider = replace(prior, spread=spread), 1, wider + 1
    sure = sure_equations(free, grams, used, gains, gain_dofs, x)
    if sure is not None:
        slopes = prior.derivatives(solution.x)
        uncertainty = allowing_for_reversals(
            uncertainty, sure, solution.x, *slopes, solution.at_bound
        )
    return Estimate(
        x, gains, used, solution, prior, limits, system, uncertainty, inflation, rows=rows
    )


def _kept_spread(prior: Prior, before: Estimate) -> float:
    """The spread of the estimate before, unless what widened it is gone, as a load put down.

    Args:
      prior: As wide as it is without any data.
      before: The estimate.
    """
    hessian = before.equations.hessians.sum(axis=0)
    needed = prior.needed_spread(before.solution.x, hessian)
    return needed if _WRONG * needed < before.prior.spread else before.prior.spread


def _moved(
    before: Estimate,
    free: FreeParameters,
    grams: Mapping[str, Grams],
    gain_dofs: IndexArray,
    prior: Prior,
    limits: Constraints,
) -> Estimate:
    """The estimate from nearly the same sums, with the uncertainty that it had."""
    k = len(free.names)
    weights = _weights(grams, free, before.x, before.gains) / before.inflation
    system = equations(grams, free, weights, before.gains, gain_dofs, before.x, together=True)
    found = solve(system.hessians[0], system.gradients[0], prior, limits, before.solution.x)
    gains = _with(before.gains, gain_dofs, found.x[k:])
    return replace(
        before, x=found.x[:k], gains=gains, weights=weights, solution=found, prior=prior,
        judged=False,
    )  # fmt: skip


def first_estimate(
    model: mujoco.MjModel, free: FreeParameters, grams: Mapping[str, Grams], settings: Settings
) -> FloatArray:
    """Parameters (k,) by least squares with weights from residuals, which may be inconsistent.

    Takes what :func:`estimate` takes.
    """
    gain_dofs, gain_spread = estimated_gains(model, settings)
    prior = prior_of_model(model, free, grams, settings, gain_spread)
    return _first(model, free, grams, gain_dofs, prior)[0]


def first_doubts(
    model: mujoco.MjModel, free: FreeParameters, grams: Mapping[str, Grams], settings: Settings
) -> dict[int, float]:
    """The excess of delays' variances over those of :func:`first_estimate`, by their number.

    Takes what :func:`estimate` takes.
    """
    gain_dofs, gain_spread = estimated_gains(model, settings)
    prior = prior_of_model(model, free, grams, settings, gain_spread)
    gaussian = replace(prior, kind=PriorKind.GAUSSIAN)
    x, gains, weights = _first(model, free, grams, gain_dofs, prior)
    return doubts_of_delays(free, grams, gaussian, x, weights, gains, gain_dofs)


def _first(
    model: mujoco.MjModel,
    free: FreeParameters,
    grams: Mapping[str, Grams],
    gain_dofs: IndexArray,
    prior: Prior,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Parameters, gains and weights."""
    k = len(free.names)
    x, gains, weights = free.nominal.copy(), np.ones(model.nv), _first_weights(grams, free)
    for _ in range(_ROUNDS + 3 * len(gain_dofs)):
        system = equations(grams, free, weights, gains, gain_dofs, x, together=True)
        z = _unconstrained(system, replace(prior, kind=PriorKind.GAUSSIAN))
        x, gains = z[:k], _with(gains, gain_dofs, z[k:])
        before, weights = weights, _weights(grams, free, x, gains)
        if np.allclose(before, weights, rtol=_SAME):
            break
    return x, gains, weights


def _first_weights(grams: Mapping[str, Grams], free: FreeParameters) -> FloatArray:
    rows = row_counts(grams)
    squares = sum(one.sum(axis=0) for one in acting_squares(grams, free).values())
    return np.where(rows > 0, rows / np.maximum(squares, 1e-18), 0.0)


def _with(gains: FloatArray, dofs: IndexArray, values: FloatArray) -> FloatArray:
    changed: FloatArray = gains.copy()
    changed[dofs] = values
    return changed


def _unconstrained(system: Equations, prior: Prior) -> FloatArray:
    """Least squares with a Gaussian prior, for weights alone."""
    slope, curvature = prior.derivatives(np.zeros_like(prior.mean))
    return least_squares(
        system.hessians.sum(axis=0) + curvature, system.gradients.sum(axis=0) - slope
    )


def _weights(
    grams: Mapping[str, Grams], free: FreeParameters, x: FloatArray, gains: FloatArray
) -> FloatArray:
    """Inverse variances of residuals by kind of rows, (kinds,).

    Rows that add up to nothing do so the better the lighter the robot is: theirs are those that a
    robot of the model's size would have.
    """
    none, acting, parts = vanishing(grams), acting_squares(grams, free), []
    for condition, one in grams.items():
        theta = free.theta(x, condition)
        squares = one.squares(theta, gains)
        if none.any():
            own = np.maximum(one.part_squares(theta).sum(axis=0), 1e-300)
            squares = np.where(none, squares * acting[condition].sum(axis=0) / own, squares)
        parts.append((squares, one.counts, acting[condition]))
    return residual_weights(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _constraints(
    model: mujoco.MjModel, free: FreeParameters, prior: Prior, settings: Settings, extra: int
) -> Constraints:
    hulls = {}
    for place, term in enumerate(prior.bodies):
        room = reach(model, term.body) if settings.hulls else None
        m, *h = free.columns.nominal[free.columns.of_body(term.body)][:4]
        if room is not None and np.all(DIRECTIONS @ np.array(h) <= m * room):
            hulls[place] = room  # a model that contradicts its own geometry says nothing about it
    lower, upper = np.append(free.lower, np.zeros(extra)), np.append(free.upper, [np.inf] * extra)
    if settings.total_mass is None:
        return Constraints(lower, upper, hulls)
    condition = free.conditions[0]
    masses = [free.columns.place[body, INERTIAL[0]] for body in free.columns.bodies]
    row = np.append(free.matrix[condition][masses].sum(axis=0), np.zeros(extra))
    fixed = float(free.fixed[condition][masses].sum())
    if not np.any(row) or settings.total_mass < fixed:
        raise ExperimentError(
            f"total_mass is {settings.total_mass:g} kg, but the bodies whose mass is no parameter "
            f"have {fixed:.6g} kg{'' if np.any(row) else ', and there are no others'}"
        )
    left = np.array([settings.total_mass - fixed])
    return Constraints(lower, upper, hulls, row[None], left)


def estimated_gains(model: mujoco.MjModel, settings: Settings) -> tuple[IndexArray, FloatArray]:
    """Degrees of freedom whose torque has an unknown factor, and the factors' prior spread.

    Raises:
      ExperimentError: The model lacks a joint.
    """
    joints = {model.joint(j).name: int(model.jnt_dofadr[j]) for j in range(model.njnt)}
    for name in settings.gains:
        if name not in joints:
            raise ExperimentError(
                f"gains name the joint {name!r}, which the model lacks; it has {', '.join(joints)}"
            )
    dofs = [joints[name] for name in settings.gains]
    return np.array(dofs, dtype=np.intp), np.array(list(settings.gains.values()), dtype=np.float64)


def without_gains(estimate_: Estimate, k: int) -> Uncertainty:
    """The uncertainty of the parameters alone, (k, k)."""
    full = estimate_.uncertainty
    return replace(full, covariance=full.covariance[:k, :k], information=full.information[:k])


def residual_spread(
    found: Estimate, free: FreeParameters, grams: Mapping[str, Grams]
) -> FloatArray:
    """Root mean square of residuals of each degree of freedom, (nv,); NaN without rows."""
    nv = len(found.gains)
    squares, counts = np.zeros(nv), np.zeros(nv)
    for condition, one in grams.items():
        left = one.squares(free.theta(found.x, condition), found.gains).sum(axis=0)
        squares += np.bincount(one.dofs, left, nv)
        counts += np.bincount(one.dofs, one.counts.sum(axis=0), nv)
    return np.where(counts > 0, np.sqrt(squares / np.maximum(counts, 1)), np.nan)
