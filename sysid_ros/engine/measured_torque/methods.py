# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The methods of a fit by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sysid_ros.engine.estimation import (
    DEFAULT_SETTINGS,
    NOTHING_KNOWN,
    BiasCheck,
    FitResult,
    FitSettings,
    SignalNoise,
    WindowCheck,
    bias_check,
    fit,
    window_check,
)
from sysid_ros.engine.measured_torque.combined_fit import (
    torque_beside_simulation,
    without_torque,
)
from sysid_ros.engine.measured_torque.fit_torque import fit_torque
from sysid_ros.engine.measured_torque.rows import TorqueRows
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences
from sysid_ros.errors import ExperimentError, unknown_name

# What a rollout has and a regression lacks: a state to carry on from, iterations to watch.
_OF_ROLLOUTS = ("on_state", "resume", "start", "judged")


def _inverse_dynamics(*given: Any, **options: Any) -> FitResult:
    return fit_torque(*given, **{k: v for k, v in options.items() if k not in _OF_ROLLOUTS})


def _forward(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings,
    *,
    known: SignalNoise = NOTHING_KNOWN,
    **options: Any,
) -> FitResult:
    groups, own, rows = _beside(models_sequences, params, settings, known)
    return fit(groups, params, settings, known=own, added=rows, **options)


def _beside(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings,
    known: SignalNoise,
) -> tuple[Sequence[ModelSequences], SignalNoise, TorqueRows | None]:
    """Return sequences to simulate, with their noise, and the rows of torque beside them."""
    rows = None
    if settings.torque.beside_simulation:
        rows = torque_beside_simulation(models_sequences, params, settings, known)
    if rows is None:
        return models_sequences, known, None
    groups = [without_torque(group, rows.signals) for group in models_sequences]
    levels = {name: one for name, one in known.levels.items() if name not in rows.signals}
    return groups, replace(known, levels=levels), rows  # filtered torque has less noise


METHODS: Mapping[str, Callable[..., FitResult]] = {
    "forward": _forward,
    "inverse_dynamics": _inverse_dynamics,
}


def fit_by_method(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings = DEFAULT_SETTINGS,
    **options: Any,
) -> FitResult:
    """Fit parameters to measured sequences by the method that the settings name.

    Takes what :func:`~sysid_ros.engine.estimation.fit.fit` takes; what belongs to simulation is not
    used by inverse dynamics.

    Raises:
      ExperimentError: There is no such method.
      SysidError: As of the method.
    """
    if settings.method not in METHODS:
        raise ExperimentError(unknown_name("method", settings.method, METHODS))
    return METHODS[settings.method](models_sequences, params, settings, **options)


def bias_check_by_method(*given: Any, **options: Any) -> BiasCheck:
    """Refit with other choices by the method that found the result, rows of torque included.

    Takes what :func:`~sysid_ros.engine.estimation.bias_check.bias_check` takes.
    """
    return bias_check(*given, refit=fit_by_method, **options)


def window_check_by_method(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    result: FitResult,
    settings: FitSettings,
    *,
    known: SignalNoise,
    should_stop: Callable[[], bool] | None = None,
) -> WindowCheck:
    """Estimate anew from other windows of what the result was found from, rows of torque included.

    Takes what :func:`~sysid_ros.engine.estimation.window_check.window_check` takes.
    """
    groups, own, rows = _beside(models_sequences, params, settings, known)
    return window_check(
        groups, params, result, settings, known=own, should_stop=should_stop, added=rows
    )
