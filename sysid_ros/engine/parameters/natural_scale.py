# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sizes that parameters are judged by, and held at where nothing else holds them.

What is known of a parameter before any data is its prior; without one, that it lies between its
bounds, which is as much as a normal distribution around the nominal value with the spread of a
uniform one says. Forward and inverse fits use it alike for what the data leaves open: of all
values that explain the data equally well, those nearest to the model's own are taken.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters.modifiers import SignalModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict

UNIFORM = 1.0 / np.sqrt(12.0)  # standard deviation of a uniform distribution, of its width
WITHOUT_BOUNDS = 10.0  # spread where bounds are infinite, of the nominal value
# A standard error above this share of the value leaves open whether there is any such effect.
VAGUE = 0.5
NEGLIGIBLE = (
    0.02  # of the bounds' width: a size that a parameter of this range may as well not have
)


def priors(params: ParameterDict) -> tuple[FloatArray, FloatArray]:
    """Return mean and inverse variance (0 without a prior) of every free scalar, (p,) each."""
    means, precisions = [np.zeros(0)], [np.zeros(0)]
    for parameter in params.free():
        mean, std = parameter.prior or (np.zeros(parameter.shape), np.full(parameter.shape, np.inf))
        means.append(np.ravel(mean))
        precisions.append(1.0 / np.ravel(std) ** 2)
    return np.concatenate(means), np.concatenate(precisions)


def minimum_change(
    nominal: FloatArray, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the weak pull that holds what the data leaves open near the model's own values.

    A parameter that the data determines to a hundredth of its bounds' width it moves by a
    thousandth of the distance to the nominal value.

    Args:
      nominal: The model's own values, (k,).
      lower: Lower bounds, (k,); may be infinite.
      upper: Upper bounds, (k,); may be infinite.

    Returns:
      Mean and inverse variance of every scalar, (k,) each; no pull on one whose nominal value is
      zero between infinite bounds, as nothing says how large it is.
    """
    width = upper - lower
    spread = np.where(np.isfinite(width), UNIFORM * width, WITHOUT_BOUNDS * np.abs(nominal))
    precision = np.zeros(len(nominal))
    np.divide(1.0, spread**2, out=precision, where=spread > 0.0)
    return np.array(nominal, dtype=np.float64), precision


def vague_error(parameter: Parameter, value: FloatArray) -> FloatArray:
    """Return the standard error from which on a parameter is poorly determined, (size,).

    A physical quantity that cannot change its sign is judged by its value or by the model's own,
    whichever is larger, but not by less than a negligible share of its range: a friction of
    nothing is well determined if it is surely small. What may have either sign, as a bias, or may
    as well be nothing, as a delay, is judged by its bounds. What has a prior is judged by that.

    Args:
      parameter: With its nominal value, bounds, prior and modifier.
      value: Its estimate, (size,).

    Returns:
      In the parameter's unit; infinite where bounds and prior alone are the measure.
    """
    lower, upper = parameter.get_bounds()
    width = upper - lower
    one_signed = (lower >= 0.0) | (upper <= 0.0)
    if parameter.prior is not None or isinstance(parameter.modifier, SignalModifier):
        return np.full(parameter.size, np.inf)
    size = np.maximum(np.abs(value), np.abs(parameter.as_nominal_vector()))
    size = np.maximum(size, np.where(np.isfinite(width), NEGLIGIBLE * width, 0.0))
    return np.asarray(np.where(one_signed, VAGUE * size, np.inf))
