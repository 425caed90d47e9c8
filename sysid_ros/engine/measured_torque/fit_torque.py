# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fit parameters to measured joint torque: the same question and answer as of the forward fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import (
    DEFAULT_SETTINGS,
    NOTHING_KNOWN,
    FitResult,
    FitSettings,
    SignalNoise,
    without_meaningless,
)
from sysid_ros.engine.inverse_dynamics import (
    Evidence,
    InverseDynamicsFit,
    Settings,
    fit_evidence,
    one_thread,
)
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.engine.measured_torque.found_torque import torque_findings
from sysid_ros.engine.measured_torque.own_friction import end_if_asked, with_settled_friction
from sysid_ros.engine.measured_torque.rows import (
    Declared,
    Regression,
    TorqueProblem,
    gains_at,
    open_sentences,
    regression_settings,
    torque_estimates,
    torque_problem,
    value_covariance,
)
from sysid_ros.engine.measured_torque.settled_laws import with_settled_laws
from sysid_ros.engine.measured_torque.settled_sums import SettledSums
from sysid_ros.engine.measured_torque.torque_sums import values_at
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.uncertainty import Directions, directions_of_gram


def fit_torque(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings = DEFAULT_SETTINGS,
    *,
    known: SignalNoise = NOTHING_KNOWN,
    on_iteration: Callable[[Iteration], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> FitResult:
    """Fit parameters to measured joint torque by regression on inverse dynamics.

    Args:
      models_sequences: Recordings with positions of the joints and torque: sensors of joint force,
        inputs of motors, mapped efforts.
      params: Start, bounds, priors and modifiers; not changed.
      settings: Filters and prior; what concerns windows and simulation is not used.
      known: Stretches in which nothing counts.
      on_iteration: Told every round.
      should_stop: Asked before every round; true ends the fit without a result.

    Raises:
      SysidError: Torque or positions are missing, or a parameter cannot be fitted in this way.
      StopRequestedError: ``should_stop`` asked for it.
    """
    began = time.monotonic()
    with one_thread():
        problem = torque_problem(models_sequences, params)
        own = regression_settings(problem.declared, settings.torque)
        problem, values = with_settled_laws(problem, own, should_stop)
        settled = with_settled_friction(problem, own, values, should_stop)
        problem, sums = settled.problem, settled.sums
        end_if_asked(should_stop)
        fit = fit_evidence(
            problem.regressor, problem.recordings, sums.free, settled.settings, sums.evidence,
            settled.found,
        )  # fmt: skip
        return _result(problem, sums, fit, settled.settings, on_iteration, began)


def _values(declared: Declared, fit: InverseDynamicsFit) -> tuple[FloatArray, FloatArray]:
    """Values of the declared parameters, and their slope, at what was estimated."""
    gains = np.ones(declared.model.nv)
    for gain in declared.gains.values():
        joint = declared.model.joint(int(declared.model.dof_jntid[gain.dof])).name
        gains[gain.dof] = fit.gains[joint][0]
    return values_at(declared, fit.x, gains)


def _result(
    problem: TorqueProblem,
    sums: SettledSums,
    fit: InverseDynamicsFit,
    settings: Settings,
    on_iteration: Callable[[Iteration], None] | None,
    began: float,
) -> FitResult:
    declared, evidence, still = problem.declared, sums.evidence, sums.still
    values, slope = _values(declared, fit)
    errors = [error for _, error in fit.gains.values()]
    regression = Regression(fit.x, fit.uncertainty, fit.noise_bias)
    covariance = value_covariance(regression, np.array(errors), slope)
    first = declared.params.as_vector()
    costs = [_cost(problem, evidence, fit, at) for at in (first, values)]
    names, units = declared.params.scalar_names(), declared.params.scalar_units()
    trace = tuple(
        Iteration(i, cost, 0.0, tuple(names), at, time.monotonic() - began, tuple(units))
        for i, (cost, at) in enumerate(zip(costs, (first, values), strict=True))
    )
    for step in trace:
        if on_iteration is not None:
            on_iteration(step)
    estimates = without_meaningless(
        torque_estimates(declared, regression, values, covariance, slope, still), declared.params
    )
    width = np.array([p.standard_error or np.nan for p in estimates])
    known = np.where(np.isfinite(width), 1.0, np.nan)
    return FitResult(
        status=sums.status,
        message=_MESSAGES[sums.status],
        parameters=estimates,
        covariance=covariance * np.outer(known, known),
        cost_initial=costs[0],
        cost_final=costs[1],
        iterations=len(trace) - 1,
        evaluations=0,
        jacobians=1,
        elapsed=time.monotonic() - began,
        trace=trace,
        noise=_noise(problem, fit),
        interval_method="blocks of time",
        singular_values=_directions(evidence, fit).sizes,
        unidentifiable=open_sentences(estimates),
        optimizer="convex program",
        torque=torque_findings(problem, evidence, fit, values, still, settings),
    )


def _cost(
    problem: TorqueProblem, evidence: Evidence, fit: InverseDynamicsFit, values: FloatArray
) -> float:
    gains = gains_at(problem.declared, values)
    return 0.5 * sum(
        float((one.squares(problem.declared.theta(values, robot), gains) * fit.weights).sum())
        for robot, one in evidence.grams.items()
    )


def _noise(problem: TorqueProblem, fit: InverseDynamicsFit) -> dict[str, float]:
    """The size of residuals by signal, in its unit."""
    known = problem.sources.known
    return {
        name: float(fit.residual_std[dof])
        for dof, name in known.items()
        if np.isfinite(fit.residual_std[dof])
    }


def _directions(evidence: Evidence, fit: InverseDynamicsFit) -> Directions:
    """Of the estimated parameters, by columns of unit length."""
    gram = np.zeros((len(fit.x), len(fit.x)))
    for condition, one in evidence.grams.items():
        normal, _ = one.normal(fit.weights, np.ones(int(one.dofs[-1]) + 1))
        gram += fit.free.matrix[condition].T @ normal @ fit.free.matrix[condition]
    return directions_of_gram(gram, 1e-6)


_MESSAGES = {
    FitStatus.CONVERGED: "converged: the best parameters that a body can have were found",
    FitStatus.MAX_ITERATIONS: "what is not linear in torque (a centre of mass, a mass beside it) "
    "has not settled; give it bounds or a prior, or identify the body's inertia as a whole",
}
