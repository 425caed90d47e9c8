# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits of either method, of which nothing is loaded before one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sysid_ros.engine.estimation import DEFAULT_SETTINGS, BiasCheck, FitResult, FitSettings
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.signals import ModelSequences


def fit(
    models_sequences: Sequence[ModelSequences],
    params: ParameterDict,
    settings: FitSettings = DEFAULT_SETTINGS,
    **options: Any,
) -> FitResult:
    """Fit parameters to measured sequences by the method that the settings name.

    Args:
      models_sequences: Models with their sequences.
      params: Start, bounds, priors and modifiers; not changed.
      settings: How to fit.
      **options: As of :func:`sysid_ros.engine.estimation.fit.fit`; what belongs to simulation is
        not used by inverse dynamics.

    Raises:
      ExperimentError: There is no such method.
      SysidError: As of the method.
    """
    from sysid_ros.engine.measured_torque import fit_by_method  # loads numba, which takes long

    return fit_by_method(models_sequences, params, settings, **options)


def bias_check(*given: Any, **options: Any) -> BiasCheck:
    """Refit with half the time step, half the windows' length and another filter.

    Takes what :func:`sysid_ros.engine.estimation.bias_check.bias_check` takes. Rows of measured
    torque that were beside the simulation are beside that of every refit.

    Raises:
      SysidError: As of that.
    """
    from sysid_ros.engine.measured_torque import bias_check_by_method

    return bias_check_by_method(*given, **options)
