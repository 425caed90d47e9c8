# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From a solution to estimates: values with standard errors, bounds and flags."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares import ReducedSystem, Solution, eliminate_starts
from sysid_ros.engine.parameters import (
    AT_LOWER_BOUND,
    FROM_THE_PRIOR,
    MAY_BE_ZERO,
    POORLY_DETERMINED,
    UNIDENTIFIABLE,
    UNIFORM,
    ParameterDict,
    priors,
    vague_error,
)
from sysid_ros.engine.problem import WindowedProblem
from sysid_ros.engine.uncertainty.blocks import by_block, grams_of_blocks, needs_blocks
from sysid_ros.engine.uncertainty.covariance import (
    Covariance,
    covariance,
    involved_in,
    no_covariance,
)
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate, unfitted
from sysid_ros.errors import StopRequestedError

FROM_PRIOR = 0.75  # share of a variance above which the prior determines the value, not the data


def uncertainty_of(problem: WindowedProblem, solution: Solution, method: str) -> Covariance:
    """Covariance at a solution, of what data and priors say.

    Args:
      problem: The problem.
      solution: Where the solver stopped.
      method: ``"clustered"`` (by window, or by blocks where windows are few) or ``"white"``.

    Returns:
      The covariance; no claims where the solver never got to a Jacobian, or where the user stopped
      the fit before all was known that the intervals need.
    """
    if solution.linearization is None:
        return no_covariance(problem.scale.size)
    theta = solution.point.theta
    _, precision = priors(problem.params)
    system = eliminate_starts(solution.linearization)
    # Without the pull that holds what is open: it is not information.
    of_data_and_priors = system.window_hessians.sum(axis=0) + np.diag(precision)
    system = replace(system, hessian=of_data_and_priors)
    residual_square = 2.0 * solution.linearization.cost
    blocks = None
    try:
        if method == "clustered" and needs_blocks(problem):
            grams = grams_of_blocks(problem, problem.window_rows(solution.point))
            blocks = system = by_block(problem, solution.point, system, grams)
        if problem.loss.name != "linear":
            residual = _in_units_of_noise(problem, solution)
            system = _curved(system, problem.loss.curvature(residual))
            residual_square = problem.loss.white_square(residual)
    except StopRequestedError:
        return no_covariance(problem.scale.size)
    found = covariance(
        system,
        problem.bounds.width,
        problem.bounds.free(theta),
        method=method,
        n_samples=problem.n_samples + _added_samples(problem, theta) - sum(problem.start_sizes),
        residual_square=residual_square,
        prior=precision,
    )
    if blocks is not None and found.method == "clustered":
        found = replace(found, method="blocks")
    return replace(found, blocks=blocks)


def _added_samples(problem: WindowedProblem, theta: FloatArray) -> int:
    """Measured values beside those that are simulated."""
    if problem.added is None:
        return 0
    return sum(count for _, count in problem.added.squares(theta).values())


def _in_units_of_noise(problem: WindowedProblem, solution: Solution) -> FloatArray:
    """All residuals at the solution, (m,)."""
    parts = zip(problem.windows, problem.residuals(solution.point), strict=True)
    return np.concatenate([part / window.sigma(problem.noise) for window, part in parts])


def _curved(system: ReducedSystem, curvature: float) -> ReducedSystem:
    """The system with the data's part of the Hessian scaled to the cost's true curvature."""
    data = system.window_hessians.sum(axis=0)
    return replace(
        system,
        hessian=system.hessian + (curvature - 1.0) * data,
        window_hessians=curvature * system.window_hessians,
    )


def estimates(
    params: ParameterDict, theta: FloatArray, uncertainty: Covariance
) -> tuple[ParameterEstimate, ...]:
    """One estimate per free scalar parameter.

    Args:
      params: The parameters at their start, with names, units and bounds.
      theta: The fitted values, (p,).
      uncertainty: Their covariance.

    Returns:
      The estimates, flagged where a value is at a bound, not determined at all, determined by its
      prior, or determined no better than by its bounds or its natural scale; else where what cannot
      change its sign may as well be nothing. What ends at zero by chance is not at a bound.
    """
    bounds, errors = params.bounds, uncertainty.errors
    opened = involved_in(uncertainty.open_directions)
    natural = [vague_error(parameter, theta[own]) for parameter, own in params.places()]
    vague = np.minimum(UNIFORM * bounds.width, np.concatenate([np.zeros(0), *natural]))
    estimates = []
    at_bounds = bounds.flags(theta, errors)
    nothing_lost = uncertainty.by_chance & (bounds.lower == 0.0)
    for j, start in enumerate(unfitted(params)):
        flags = [flag for flag in at_bounds[j] if flag != AT_LOWER_BOUND or not nothing_lost[j]]
        if opened[j]:
            flags.append(UNIDENTIFIABLE)
        elif uncertainty.from_prior[j] > FROM_PRIOR:
            flags.append(FROM_THE_PRIOR)
        elif errors[j] > vague[j]:
            flags.append(POORLY_DETERMINED)
        found = replace(
            start,
            value=float(theta[j]),
            standard_error=float(errors[j]) if np.isfinite(errors[j]) else None,
            dof=float(uncertainty.dof[j]),
        )
        if not flags and found.may_be_zero:
            flags.append(MAY_BE_ZERO)
        estimates.append(replace(found, flags=tuple(flags)))
    return tuple(estimates)
