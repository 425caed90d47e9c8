# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The unit cube that searches move in, and the parameters that its points stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.parameters import ParameterDict
from sysid_ros.errors import ExperimentError

DECADES = 100.0  # bounds whose ratio is at least this are searched on a logarithmic scale


@dataclass(frozen=True)
class SearchSpace:
    """Bounds of the free scalars; (p,) each."""

    names: tuple[str, ...]  # of the scalars
    lower: FloatArray  # lower bounds
    upper: FloatArray  # upper bounds
    logarithmic: BoolArray  # where the scale is logarithmic
    start: FloatArray  # where the experiment would start

    @classmethod
    def of(cls, params: ParameterDict) -> SearchSpace:
        """The bounds of the free parameters.

        Raises:
          ExperimentError: A parameter has no finite bounds.
        """
        names = tuple(params.scalar_names())
        lower, upper = params.get_bounds()
        endless = [
            name
            for name, low, high in zip(names, lower, upper, strict=True)
            if not (np.isfinite(low) and np.isfinite(high))
        ]
        if endless:
            raise ExperimentError(
                f"a search needs finite bounds; give min and max for {', '.join(endless[:6])}"
            )
        spans = (lower > 0.0) & (upper >= DECADES * np.maximum(lower, np.finfo(float).tiny))
        start = np.clip(params.as_vector(), lower, upper)
        return cls(names, lower, upper, spans, start)

    def values(self, points: FloatArray) -> FloatArray:
        """Parameter values of points of the unit cube, both (..., p)."""
        low, high = self._scaled(self.lower), self._scaled(self.upper)
        scaled = low + np.clip(points, 0.0, 1.0) * (high - low)
        values = np.where(self.logarithmic, np.exp(scaled), scaled)
        clipped: FloatArray = np.clip(values, self.lower, self.upper)
        return clipped

    def points(self, values: FloatArray) -> FloatArray:
        """Points of the unit cube for parameter values, both (..., p)."""
        low, high = self._scaled(self.lower), self._scaled(self.upper)
        width = np.where(high > low, high - low, 1.0)
        points: FloatArray = np.clip((self._scaled(values) - low) / width, 0.0, 1.0)
        return points

    def _scaled(self, values: FloatArray) -> FloatArray:
        safe = np.where(self.logarithmic, np.maximum(values, np.finfo(float).tiny), 1.0)
        scaled: FloatArray = np.where(self.logarithmic, np.log(safe), values)
        return scaled
