# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The residual: what the recordings say minus what the simulations predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import ParameterDict, apply_param_modifiers
from sysid_ros.engine.problem.residual_function import ResidualFunction, Residuals
from sysid_ros.engine.residuals import (
    BuildModelFn,
    CustomRolloutFn,
    ModifyResidualFn,
    ResidualOptions,
)
from sysid_ros.engine.signals import ModelSequences, SignalType, SystemTrajectory, TimeSeries
from sysid_ros.engine.simulation import CandidateBuilder, ModelGroup, recorded_runs

__all__ = [
    "BuildModelFn",
    "CustomRolloutFn",
    "ModifyResidualFn",
    "ResidualFunction",
    "build_residual_fn",
    "model_residual",
    "residual",
]


def build_residual_fn(**captured_kwargs: Any) -> ResidualFunction:
    """A residual function with settings, to be called as ``fn(x, params, **overrides)``.

    Example::

        residual_fn = build_residual_fn(models_sequences=[ms], stamping="true")
        opt_params, result = optimize(params, residual_fn)

    Args:
      **captured_kwargs: Keyword arguments of :func:`residual`.

    Raises:
      TypeError: :func:`residual` has no such argument.
      SignalError: An argument is not valid.
    """
    return ResidualFunction(ResidualOptions(**captured_kwargs))


def residual(
    x: FloatArray,
    params: ParameterDict,
    models_sequences: Sequence[ModelSequences],
    build_model: BuildModelFn = apply_param_modifiers,
    modify_residual: ModifyResidualFn | None = None,
    custom_rollout: CustomRolloutFn | None = None,
    n_threads: int | None = None,
    return_pred_all: bool = False,
    resample_true: bool = True,
    sensor_weights: Mapping[str, float] | FloatArray | None = None,
    enabled_observations: Sequence[tuple[str, SignalType]] = (),
    **options: Any,
) -> Residuals:
    """Residuals of all recordings of all models, simulated in one batch.

    Args:
      x: Values of the free parameters, (p,), or several sets of them as columns, (p, k).
      params: The parameters; neither they nor the specs are changed.
      models_sequences: The models with their recordings.
      build_model: Makes an MjModel from parameters and a copy of the spec.
      modify_residual: Replaces the comparison; called once per recording and column.
      custom_rollout: Replaces the simulation; called once per recording with all columns.
      n_threads: Threads to simulate with; ``None``: one per available core.
      return_pred_all: Whether predictions of signals that are not enabled are returned too.
      resample_true: Whether commands are resampled to the time step and predictions to the
        measurements' instants; otherwise both must already be at the time step.
      sensor_weights: Factors of the differences, by signal or per column.
      enabled_observations: ``(name, type)`` of the signals to compare; empty: all measured.
      **options: signal_transform (delays, gains, biases, weights and choice of signals);
        stamping, "notebook" (a simulated sensor belongs to the time after its step, as in
        ``mujoco.sysid``) or "true" (to the time before it, as in a recording);
        normalization, "reference" | "std" | "noise" | "none"; noise (standard deviation by
        signal); wrapped_signals (angles measured modulo one turn); engine, "auto" (optimize uses
        exact derivatives where they are known) or "reference" (finite differences).

    Returns:
      Residuals, one array per recording, (n,) or (n, k), and one more for the parameters' priors
      where there are any; predictions and measurements, one list of k series per recording.

    Raises:
      SignalError: The recordings do not fit the models.
      ModelError: A model does not compile with these parameters.
    """
    settings = ResidualOptions(
        models_sequences,
        build_model,
        modify_residual,
        custom_rollout,
        n_threads,
        return_pred_all,
        resample_true,
        sensor_weights,
        enabled_observations,
        **options,
    )
    return ResidualFunction(settings)(x, params)


def model_residual(
    x: FloatArray,
    params: ParameterDict,
    build_model: Callable[[ParameterDict], Any],
    traj_measured: Sequence[SystemTrajectory] | SystemTrajectory,
    modify_residual: ModifyResidualFn | None = None,
    custom_rollout: CustomRolloutFn | None = None,
    n_threads: int | None = None,
    return_pred_all: bool = False,
    resample_true: bool = True,
    sensor_weights: Mapping[str, float] | FloatArray | None = None,
    enabled_observations: Sequence[tuple[str, SignalType]] = (),
    **options: Any,
) -> tuple[FloatArray, list[TimeSeries], list[TimeSeries]]:
    """Residuals of recordings of one model, as one array.

    Takes what :func:`residual` takes, but ``build_model`` makes an MjModel from parameters alone,
    and ``traj_measured`` is one or several recordings of it.

    Returns:
      Residuals of all recordings, (n,) or (n, k); predictions and measurements, one series per
      column and recording, the recordings of a column together.
    """
    settings = ResidualOptions(
        (),
        lambda params, spec: build_model(params),
        modify_residual,
        custom_rollout,
        n_threads,
        return_pred_all,
        resample_true,
        sensor_weights,
        enabled_observations,
        **options,
    )
    if isinstance(traj_measured, SystemTrajectory):
        traj_measured = [traj_measured]
    runs = recorded_runs(traj_measured, settings)
    parts, predictions, records = ResidualFunction(settings).evaluate(
        x, params, lambda own: [ModelGroup(CandidateBuilder(None, own, build_model), runs)]
    )
    return (
        np.concatenate(parts),
        [series for column in zip(*predictions, strict=True) for series in column],
        [series for column in zip(*records, strict=True) for series in column],
    )
