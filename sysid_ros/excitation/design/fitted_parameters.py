# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The free parameters of a finished fit, as a design of the next motion sees them."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Parameters of a fit at its values, with what it knows about them."""

    model: mujoco.MjModel  # compiled with the values
    names: tuple[str, ...]  # of the p parameters
    values: FloatArray  # their estimates, (p,)
    # change of the s columns of the regressor with each parameter, (s, p); zero where it is nothing
    # that torque along a motion shows (a delay, a gain)
    columns: FloatArray
    standard_errors: FloatArray  # of the fit, (p,); infinite where it claims none
    information: FloatArray  # the inverse (p, p) of the fit's covariance, zero where it claims none


def fitted_parameters(
    spec: mujoco.MjSpec, params: ParameterDict, fit: FitResult
) -> FittedParameters:
    """Put together what a fit knows.

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
    sizes = [max(abs(p.value), abs(p.initial), p.standard_error or 0.0) for p in fit.parameters]
    model, columns = _columns(spec, params, fit.values, sizes)
    information = _information(fit.covariance)
    errors = [np.inf if p.standard_error is None else p.standard_error for p in fit.parameters]
    return FittedParameters(model, names, fit.values, columns, np.array(errors), information)


def declared_parameters(spec: mujoco.MjSpec, params: ParameterDict) -> FittedParameters:
    """The free parameters of an experiment as they were declared, of which nothing is known.

    Raises:
      ModelError: The model does not compile with the values.
    """
    values = params.as_vector()
    sizes = np.where(values != 0.0, np.abs(values), params.bounds.width)
    model, columns = _columns(spec, params, values, sizes.tolist())
    names, count = tuple(params.scalar_names()), len(values)
    unknown = np.full(count, np.inf)
    return FittedParameters(model, names, values, columns, unknown, np.zeros((count, count)))


def _information(covariance: FloatArray) -> FloatArray:
    """The inverse (p, p) of a covariance, zero where that is not known, whatever the units."""
    information = np.zeros_like(covariance)
    known = np.isfinite(np.diag(covariance)) & (np.diag(covariance) > 0.0)
    errors = np.sqrt(np.diag(covariance)[known])
    unit = np.outer(errors, errors)
    inside = np.ix_(known, known)
    information[inside] = np.linalg.pinv(covariance[inside] / unit, hermitian=True) / unit
    return information


def _columns(
    spec: mujoco.MjSpec, params: ParameterDict, values: FloatArray, sizes: Sequence[float]
) -> tuple[mujoco.MjModel, FloatArray]:
    """The model at some values, and the change (s, p) of the regressor's columns there."""
    builder = CandidateBuilder(spec, params)
    base = builder.build(values)
    bounds = params.bounds
    columns = []
    for index, size in enumerate(sizes):
        ends = values[index] + _STEP * size * np.array([-1.0, 1.0])
        ends = np.clip(ends, bounds.lower[index], bounds.upper[index])
        models = (builder.neighbour(base, index, end).model for end in ends)
        low, high = (Regressor(model, kinds=KINDS).columns.nominal for model in models)
        columns.append((high - low) / (ends[1] - ends[0]))
    return base.model, np.transpose(columns)
