# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fit a robot's parameters to its measured motion and torque."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.inverse_dynamics.base_parameters import (
    BaseParameters,
    BaseSystem,
    base_combination,
    estimate_base,
    grouping_order,
)
from sysid_ros.engine.inverse_dynamics.delay_uncertainty import (
    allowing_for_doubt,
    allowing_for_pull,
    delays_among,
    doubted,
)
from sysid_ros.engine.inverse_dynamics.estimate import (
    Estimate,
    estimate,
    estimated_gains,
    residual_spread,
    without_gains,
)
from sysid_ros.engine.inverse_dynamics.evidence import Evidence, equations, gather
from sysid_ros.engine.inverse_dynamics.free import FreeParameters, free_parameters, without_effect
from sysid_ros.engine.inverse_dynamics.noise_bias import (
    base_without_noise,
    noise_bias,
    noise_effect,
    without_noise,
)
from sysid_ros.engine.inverse_dynamics.normal_equations import one_thread
from sysid_ros.engine.inverse_dynamics.prediction import TorquePrediction, predict
from sysid_ros.engine.inverse_dynamics.reversal_bias import sure_equations
from sysid_ros.engine.inverse_dynamics.settled_delays import with_settled_delays
from sysid_ros.engine.inverse_dynamics.torque_fit_result import InverseDynamicsFit
from sysid_ros.engine.inverse_dynamics.torque_fit_settings import Settings
from sysid_ros.engine.regressor import (
    DELAY,
    Motion,
    Recording,
    Regressor,
    given_set_points,
    held_set_points,
)
from sysid_ros.errors import DataError

_RANDOM_POSES = 200


def fit_inverse_dynamics(
    model: mujoco.MjModel,
    recordings: Sequence[Recording],
    settings: Settings | None = None,
    frozen: Collection[str] | None = None,
) -> InverseDynamicsFit:
    """Estimate physically consistent parameters from measured motion and torque.

    Args:
      model: The robot as it is known so far; its values are the prior's centre.
      recordings: Motion and torque.
      settings: Filters, prior, margins; by default chosen from the data.
      frozen: Names of what keeps the model's value; by default springs that it lacks, and frames.

    Returns:
      Values, uncertainty, base parameters and predicted torque.

    Raises:
      DataError: The recordings do not fit the model, or hold no torque.
      ExperimentError: A joint with a gain, or with a drive's, is not known.
      ModelError: Inverse dynamics by regression does not apply to the model.
    """
    settings = settings or Settings()
    regressor = Regressor(
        model,
        kinds=settings.kinds,
        friction_velocity=settings.friction_velocity,
        sharp_friction=True,
        delays={"torque_delay": range(model.nv)} if settings.torque_delay else None,
    )
    conditions = tuple(dict.fromkeys(one.condition for one in recordings))
    kept = without_effect(regressor.columns) if frozen is None else frozen
    free = free_parameters(regressor.columns, frozen=kept, conditions=conditions)
    with one_thread():
        evidence = gather(regressor, recordings, settings)
        if not any(one.counts.any() for one in evidence.grams.values()):
            raise DataError("no torque was measured, or none outside contacts and gaps")
        evidence = with_settled_delays(regressor, recordings, free, settings, evidence)
        return fit_evidence(regressor, recordings, free, settings, evidence)


def fit_evidence(
    regressor: Regressor,
    recordings: Sequence[Recording],
    free: FreeParameters,
    settings: Settings,
    evidence: Evidence,
    final: Estimate | None = None,
) -> InverseDynamicsFit:
    """Estimate parameters from recordings that were summed already.

    Args:
      regressor: The robot's.
      recordings: Motion and torque.
      free: What is estimated.
      settings: Prior, margins.
      evidence: The recordings' sums, linearised about the delays.
      final: What :func:`doubtful_estimate` makes of them, where it was asked before.
    """
    model, k = regressor.model, len(free.names)
    gain_dofs, _ = estimated_gains(model, settings)
    final = final or doubtful_estimate(model, free, settings, evidence)
    _, of_prior = final.prior.derivatives(final.solution.x)
    curvature = final.equations.hessians.sum(axis=0) + of_prior
    uncertainty = allowing_for_doubt(final.uncertainty, curvature, free.precision, evidence.doubts)
    held = held_set_points(model, evidence.stretches, evidence.filters) or given_set_points(
        model, evidence.stretches, settings.drive_stiffness, settings.drive_damping
    )
    pull = np.zeros(len(curvature))
    if held is not None:
        held = held.of_torque(final.gains)
        change = held.looks_like(model, free.columns)
        pull = _pull_of(evidence, free, final, gain_dofs, change)
        uncertainty = allowing_for_pull(uncertainty, curvature, pull)
    final = replace(final, uncertainty=uncertainty)
    noise = noise_effect(regressor, recordings, evidence, settings, free, final, gain_dofs)
    bias = noise_bias(final, noise)[:k]
    base = _base(regressor, free, evidence, final, gain_dofs, pull)
    if noise.loud:
        base = base_without_noise(base, final, noise)
        final = without_noise(final, noise, gain_dofs)
    gains = {
        model.joint(int(model.dof_jntid[dof])).name: (float(final.gains[dof]), float(error))
        for dof, error in zip(gain_dofs, final.uncertainty.standard_errors[k:], strict=True)
    }
    edge = [final.prior.bodies[i].body for i in final.solution.on_edge]
    return InverseDynamicsFit(
        free=free,
        x=final.x,
        uncertainty=without_gains(final, k),
        weights=final.weights,
        noise_bias=bias,
        at_bound=final.solution.at_bound[:k],
        on_edge=tuple(model.body(body).name for body in edge),
        gains=gains,
        residual_std=residual_spread(final, free, evidence.grams),
        filters=evidence.filters,
        base=base,
        predictions=_predictions(regressor, recordings, free, evidence, final),
        status=final.solution.status,
        held=held,
    )


def _pull_of(
    evidence: Evidence,
    free: FreeParameters,
    final: Estimate,
    gain_dofs: IndexArray,
    change: FloatArray,
) -> FloatArray:
    """The gradient, (k,) with gains, of torque that looks like a change of parameters, (p,)."""
    found, k = np.zeros(len(free.names) + len(gain_dofs)), len(free.names)
    for condition, one in evidence.grams.items():
        found[:k] += free.matrix[condition].T @ (one.normal(final.weights, final.gains)[0] @ change)
        theta = free.theta(final.x, condition)
        for place, dof in enumerate(gain_dofs, k):
            own = np.where(np.arange(len(final.gains)) == dof, final.gains, 0.0)
            found[place] += theta @ one.normal(final.weights, own)[0] @ change / final.gains[dof]
    return found


def doubtful_estimate(
    model: mujoco.MjModel, free: FreeParameters, settings: Settings, evidence: Evidence
) -> Estimate:
    """The estimate that sums lead to, with delays as doubtful as they are.

    Takes what :func:`fit_evidence` takes, and the robot's model.
    """
    wary = doubted(free, evidence.doubts)
    return estimate(model, wary, evidence.grams, settings)


def _base(
    regressor: Regressor,
    free: FreeParameters,
    evidence: Evidence,
    final: Estimate,
    gain_dofs: IndexArray,
    pull: FloatArray,
) -> BaseParameters:
    condition, one = next(iter(evidence.grams.items()))
    matrix = free.matrix[condition]
    rows = regressor.rows(regressor.coupled(random_motion(regressor.model)))
    exact = np.zeros((len(free.names), len(free.names)))
    for j in np.unique(one.dofs[final.weights > 0.0]):
        part = rows[:, j] @ matrix
        exact += part.T @ part
    delays = np.any(matrix[[kind == DELAY for kind in free.columns.kinds]] != 0.0, axis=0)
    exact[delays, delays] = np.max(np.diag(exact), initial=1.0)  # of the measurement, not the robot
    by_column = grouping_order(regressor.model, regressor.columns)
    order = [x for column in by_column for x in np.flatnonzero(matrix[column])]
    kept, combination = base_combination(exact, np.array(list(dict.fromkeys(order)), dtype=np.intp))
    return estimate_base(
        free.names, kept, combination, _base_system(free, evidence, final, gain_dofs, kept, pull)
    )


def _base_system(
    free: FreeParameters,
    evidence: Evidence,
    final: Estimate,
    gain_dofs: IndexArray,
    kept: IndexArray,
    pull: FloatArray,
) -> BaseSystem:
    """The part of all equations that base parameters and gains have, with priors of delays."""
    k, grams = len(free.names), evidence.grams
    both = np.append(kept, np.arange(k, k + len(gain_dofs)))
    known = np.isin(both, [*delays_among(free), *range(k, k + len(gain_dofs))])
    precision = np.where(known, final.prior.precision[both], 0.0)
    data = equations(grams, free, final.weights, final.gains, gain_dofs, final.x)
    sure = sure_equations(free, grams, final.weights, final.gains, gain_dofs, final.x)
    return BaseSystem(
        data=data.of(both),
        sure=None if sure is None else sure.of(both),
        gains=final.gains[gain_dofs],
        mean=final.prior.mean[both],
        precision=precision,
        own=np.append(free.precision[kept], precision[len(kept) :]),
        doubts={
            place: evidence.doubts[int(i)] for place, i in enumerate(both) if i in evidence.doubts
        },
        pull=pull[both],
    )


def random_motion(model: mujoco.MjModel) -> Motion:
    """Motions that excite all that a structure can show, for the rank of its regressor."""
    rng = np.random.default_rng(0)
    qpos = np.tile(np.asarray(model.qpos0), (_RANDOM_POSES, 1))
    for row in qpos:
        mujoco.mj_integratePos(model, row, rng.uniform(-2.0, 2.0, model.nv), 1.0)
    shape = (_RANDOM_POSES, model.nv)
    return Motion(qpos, rng.standard_normal(shape) * 2.0, rng.standard_normal(shape) * 5.0)


def _predictions(
    regressor: Regressor,
    recordings: Sequence[Recording],
    free: FreeParameters,
    evidence: Evidence,
    final: Estimate,
) -> tuple[TorquePrediction, ...]:
    found: list[TorquePrediction] = []
    for stretch in evidence.smooth:
        theta = free.theta(final.x, recordings[stretch.recording].condition)
        found += predict(regressor, [stretch], evidence.filters, theta, final.gains)
    return tuple(found)
