# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fit parameters to measured joint torque: the same question and answer as of the forward fit."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

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
    gather,
    one_thread,
    with_settled_delays,
)
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.engine.measured_torque.declared_columns import Declared
from sysid_ros.engine.measured_torque.found_torque import torque_findings
from sysid_ros.engine.measured_torque.own_friction import is_same_law, own_law_model
from sysid_ros.engine.measured_torque.settled_laws import with_settled_laws
from sysid_ros.engine.measured_torque.torque_estimates import (
    open_sentences,
    torque_estimates,
    value_covariance,
)
from sysid_ros.engine.measured_torque.torque_problem import (
    TorqueProblem,
    about,
    gains_at,
    regression_settings,
    torque_problem,
    with_own_law,
)
from sysid_ros.engine.measured_torque.torque_sums import linearised, still_joints, values_at
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.engine.uncertainty import Directions, directions_of_gram
from sysid_ros.errors import DataError, StopRequestedError

_ROUNDS = 8  # at most, of fits with MuJoCo's own law of friction about the one before


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
      should_stop: Asked between rounds; true ends the fit before it has begun to estimate.

    Raises:
      SysidError: Torque or positions are missing, or a parameter cannot be fitted in this way.
      StopRequestedError: ``should_stop`` asked for it.
    """
    began = time.monotonic()
    with one_thread():
        problem = torque_problem(models_sequences, params, known.gaps)
        own = regression_settings(problem.declared, settings.torque)
        problem, values = with_settled_laws(problem, own)
        found = _fitted(problem, own, values, should_stop)
        values, _ = _values(problem.declared, found.fit)
        law = own_law_model(problem.declared, found.evidence, found.fit, values)
        own = replace(own, reversals_count=law is None)
        for _ in range(_ROUNDS if law is not None else 0):
            problem = about(with_own_law(problem, law), values)
            found = _fitted(problem, own, values, should_stop)
            values, _ = _values(problem.declared, found.fit)
            law, before = problem.declared.compiled(values, problem.declared.robots[0]), law
            if is_same_law(before, law):
                break
    return _result(problem, found, on_iteration, began)


@dataclass(frozen=True)
class _Fitted:
    """A regression with the evidence that it rests on, and the joints that do not move."""

    evidence: Evidence
    fit: InverseDynamicsFit
    status: FitStatus
    still: Collection[int]


def _fitted(
    problem: TorqueProblem,
    own: Settings,
    values: FloatArray,
    should_stop: Callable[[], bool] | None,
) -> _Fitted:
    robot, recordings, declared = problem.regressor, problem.recordings, problem.declared
    evidence = gather(robot, recordings, own)
    if not any(one.counts.any() for one in evidence.grams.values()):
        raise DataError("no torque was measured, or none outside contacts and gaps")
    if should_stop is not None and should_stop():
        raise StopRequestedError("the fit was stopped before anything was estimated")
    still = still_joints(declared, evidence.filters)
    free = declared.free(values, still)
    evidence = with_settled_delays(robot, recordings, free, own, evidence)
    values, status = linearised(declared, evidence.grams, own, still, values)
    if declared.curved:
        free = declared.free(values, still)
        evidence = with_settled_delays(robot, recordings, free, own, evidence)
    return _Fitted(evidence, fit_evidence(robot, recordings, free, own, evidence), status, still)


def _values(declared: Declared, fit: InverseDynamicsFit) -> tuple[FloatArray, FloatArray]:
    """Values of the declared parameters, and their slope, at what was estimated."""
    gains = np.ones(declared.model.nv)
    for _, dof, _ in declared.gains.values():
        joint = declared.model.joint(int(declared.model.dof_jntid[dof])).name
        gains[dof] = fit.gains[joint][0]
    return values_at(declared, fit.x, gains)


def _result(
    problem: TorqueProblem,
    found: _Fitted,
    on_iteration: Callable[[Iteration], None] | None,
    began: float,
) -> FitResult:
    declared, evidence, fit, still = problem.declared, found.evidence, found.fit, found.still
    values, slope = _values(declared, fit)
    errors = [error for _, error in fit.gains.values()]
    covariance = value_covariance(fit, np.array(errors), slope)
    first = declared.params.as_vector()
    costs = [_cost(problem, evidence, fit, at) for at in (first, values)]
    names = tuple(declared.params.scalar_names())
    trace = tuple(
        Iteration(i, cost, 0.0, names, at, time.monotonic() - began)
        for i, (cost, at) in enumerate(zip(costs, (first, values), strict=True))
    )
    for step in trace:
        if on_iteration is not None:
            on_iteration(step)
    estimates = without_meaningless(
        torque_estimates(declared, fit, values, covariance, slope, still), declared.params
    )
    width = np.array([p.standard_error or np.nan for p in estimates])
    known = np.where(np.isfinite(width), 1.0, np.nan)
    return FitResult(
        status=found.status,
        message=_MESSAGES[found.status],
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
        torque=torque_findings(problem, evidence, fit, values, still),
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
