# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The free parameters of a finished fit, as a design of the next motion sees them."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.engine.regressor import Regressor
from sysid_ros.engine.simulation import CandidateBuilder
from sysid_ros.excitation import ExcitationError

KINDS = ("armature", "damping", "frictionloss", "offset")
_STEP = 1e-4  # of a parameter's size, for central differences


@dataclass(frozen=True)
class FittedParameters:
    """Parameters of a fit at its values, with what it knows about them.

    Attributes:
      model: Compiled with the values.
      names: Of the p parameters.
      values: Their estimates, (p,).
      columns: Change of the s columns of the regressor with each parameter, (s, p); zero where it
        is nothing that torque along a motion shows (a delay, a gain).
      standard_errors: Of the fit, (p,); infinite where it claims none.
      information: The inverse (p, p) of the fit's covariance, zero where it claims none.
    """

    model: mujoco.MjModel
    names: tuple[str, ...]
    values: FloatArray
    columns: FloatArray
    standard_errors: FloatArray
    information: FloatArray


def fitted_parameters(
    spec: mujoco.MjSpec, params: ParameterDict, fit: FitResult
) -> FittedParameters:
    """Put together what a fit knows.

    Args:
      spec: The model that was fitted.
      params: Its parameters, as they were declared.
      fit: The result.

    Raises:
      ExcitationError: The result is of other parameters.
      ModelError: The model does not compile with the values.
    """
    names = tuple(parameter.name for parameter in fit.parameters)
    free = tuple(params.scalar_names())
    if names != free:
        odd = sorted(set(names).symmetric_difference(free))
        raise ExcitationError(
            f"the result is of other parameters than the experiment's: {', '.join(odd[:8])}"
        )
    builder = CandidateBuilder(spec, params)
    values = fit.values
    base = builder.build(values)
    sizes = [max(abs(p.value), abs(p.initial), p.standard_error or 0.0) for p in fit.parameters]
    columns = []
    for index, size in enumerate(sizes):
        low, high = (
            _columns_of(builder.neighbour(base, index, values[index] + sign * _STEP * size).model)
            for sign in (-1.0, 1.0)
        )
        columns.append((high - low) / (2.0 * _STEP * size))
    known = np.isfinite(np.diag(fit.covariance))
    information = np.zeros_like(fit.covariance)
    information[np.ix_(known, known)] = np.linalg.pinv(fit.covariance[np.ix_(known, known)])
    errors = [np.inf if p.standard_error is None else p.standard_error for p in fit.parameters]
    return FittedParameters(
        base.model, names, values, np.transpose(columns), np.array(errors), information
    )


def _columns_of(model: mujoco.MjModel) -> FloatArray:
    return np.asarray(Regressor(model, kinds=KINDS).columns.nominal)
