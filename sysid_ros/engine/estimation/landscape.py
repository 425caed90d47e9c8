# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The cost around an optimum as a function of two parameters: bowls, valleys and other minima.

A narrow valley says that the data determines a combination of the two much better than each; a
second basin says that a search may end in the wrong place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import ParameterDict, parameter_scale
from sysid_ros.errors import ModelError, ParameterError, unknown_name

REACH = 0.5  # how far a grid reaches from the optimum, in the parameter's magnitude
COLUMNS_AT_ONCE = 64  # sets of parameters per call of a residual function


@dataclass(frozen=True)
class Landscape:
    """The cost over a grid of two parameters, the others held at the optimum."""

    x_name: str  # the parameter along the columns of ``cost``
    y_name: str  # the parameter along its rows
    x: FloatArray  # values of the first, increasing, (n,), in its unit
    y: FloatArray  # values of the second, increasing, (m,), in its unit
    # half the sum of squared (in fits robustly counted) residuals, (m, n); infinite where the
    # simulation diverges or the model does not compile
    cost: FloatArray
    optimum: tuple[float, float]  # where both are at the optimum
    # whether the cost is what the linear model at the optimum expects, not simulated
    expected: bool = False


def landscape(
    residual_fn: Callable[..., Any],
    params: ParameterDict,
    x_name: str,
    y_name: str,
    *,
    x: FloatArray | None = None,
    y: FloatArray | None = None,
    points: int = 25,
) -> Landscape:
    """The cost of a residual function around parameters, simulated in large batches.

    Args:
      residual_fn: As for :func:`sysid_ros.engine.estimation.optimize`.
      params: The parameters at the optimum; not changed.
      x_name: One free scalar, by its name or as ``name[2]``.
      y_name: Another one.
      x: Its values; default: ``points`` from half below to half above the optimum, in bounds.
      y: Likewise.
      points: Size of each side of a grid that is not given.

    Raises:
      ParameterError: There is no such free parameter, or both are the same.
    """
    i, j = _index(params, x_name), _index(params, y_name)
    if i == j:
        raise ParameterError(f"a landscape needs two parameters, got {x_name!r} twice")
    optimum = params.as_vector()
    low, high = params.get_bounds()
    grids = [
        np.asarray(given, dtype=np.float64)
        if given is not None
        else grid(optimum[k], low[k], high[k], points)
        for given, k in ((x, i), (y, j))
    ]
    sets = grid_points(optimum, i, j, *grids)
    costs: list[float] = []
    for first in range(0, len(sets), COLUMNS_AT_ONCE):
        costs += _costs(residual_fn, sets[first : first + COLUMNS_AT_ONCE], params)
    return on_grid((x_name, y_name), grids, costs, (optimum[i], optimum[j]))


def _costs(residual_fn: Callable[..., Any], sets: FloatArray, params: ParameterDict) -> list[float]:
    """The cost of each set (k, p); infinite for one whose model does not compile."""
    try:
        residuals, *_ = residual_fn(sets.T, params)
    except ModelError:
        if len(sets) == 1:
            return [np.inf]
        return [_costs(residual_fn, each[np.newaxis], params)[0] for each in sets]
    return [0.5 * float(column @ column) for column in np.concatenate(residuals).T]


def grid(value: float, low: float, high: float, points: int) -> FloatArray:
    """``points`` even values around ``value`` within its bounds."""
    scale = parameter_scale(np.array([low]), np.array([high]), np.array([value]))[0]
    return np.linspace(max(low, value - REACH * scale), min(high, value + REACH * scale), points)


def grid_points(optimum: FloatArray, i: int, j: int, x: FloatArray, y: FloatArray) -> FloatArray:
    """All sets of parameters, (len(y) * len(x), p), the first parameter changing fastest."""
    sets = np.repeat(optimum[np.newaxis], len(x) * len(y), axis=0)
    sets[:, i] = np.tile(x, len(y))
    sets[:, j] = np.repeat(y, len(x))
    return sets


def on_grid(
    names: tuple[str, str],
    grids: Sequence[FloatArray],
    costs: Sequence[float],
    optimum: tuple[float, float],
) -> Landscape:
    """Costs in the order of :func:`grid_points` as a landscape."""
    x, y = grids
    cost = np.asarray(costs, dtype=np.float64).reshape(len(y), len(x))
    cost[~np.isfinite(cost)] = np.inf
    return Landscape(names[0], names[1], x, y, cost, (float(optimum[0]), float(optimum[1])))


def _index(params: ParameterDict, name: str) -> int:
    names = params.scalar_names()
    if name not in names:
        raise ParameterError(unknown_name("free parameter", name, names))
    return names.index(name)
