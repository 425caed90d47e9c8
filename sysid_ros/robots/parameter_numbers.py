# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numbers of parameters that no fit can compute with, refused before it begins."""

from __future__ import annotations

import math

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import Parameter, ParameterDict
from sysid_ros.errors import ExperimentError

_FARTHEST = 1e30  # of a finite number: squares of what is larger are not finite
_NO_ROOM = 1e-12  # of the larger bound, between two that no solver can tell apart


def check_numbers(parameters: ParameterDict) -> None:
    """Refuse values, bounds and priors that leave no room, or that are larger than any quantity.

    Raises:
      ExperimentError: There is one; the message names it.
    """
    for parameter in parameters.values():
        _check_size(parameter, "starts at", parameter.nominal)
    for parameter in parameters.free():
        _check_bounds(parameter)
        if parameter.prior is not None:
            _check_prior(parameter, *parameter.prior)


def _check_size(parameter: Parameter, what: str, values: FloatArray) -> None:
    far = [value for value in np.ravel(values) if _FARTHEST < abs(value) < math.inf]
    if far:
        raise ExperimentError(
            f"parameter {parameter.name!r} {what} {far[0]:g}; a finite one is {_FARTHEST:g} at "
            "most, as no quantity of a robot is larger"
        )


def _check_bounds(parameter: Parameter) -> None:
    bounds = np.ravel(parameter.min_value), np.ravel(parameter.max_value)
    _check_size(parameter, "has a bound of", np.concatenate(bounds))
    for low, high in zip(*bounds, strict=True):
        if high <= low or high - low <= _NO_ROOM * min(_FARTHEST, max(abs(low), abs(high))):
            raise ExperimentError(
                f"parameter {parameter.name!r} has the bounds [{low:g}, {high:g}], between "
                "which there is no room; widen them, or keep its value with 'frozen: true'"
            )


def _check_prior(parameter: Parameter, mean: FloatArray, std: FloatArray) -> None:
    _check_size(parameter, "has a prior with a mean of", mean)
    _check_size(parameter, "has a prior with a std of", std)
    width = np.ravel(parameter.max_value - parameter.min_value)
    sizes = np.maximum(np.where(np.isfinite(width), width, 0.0), np.abs(np.ravel(mean)))
    for deviation, size in zip(np.ravel(std), sizes, strict=True):
        if deviation <= _NO_ROOM * size:
            raise ExperimentError(
                f"parameter {parameter.name!r} has a prior with a std of {deviation:g}, which "
                "leaves no room; widen it, or keep its value with 'frozen: true'"
            )
