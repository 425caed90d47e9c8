# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The result of a fit by inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.inverse_dynamics.base_parameters import BaseParameters
from sysid_ros.engine.inverse_dynamics.free import FreeParameters
from sysid_ros.engine.inverse_dynamics.prediction import TorquePrediction, root_mean_square
from sysid_ros.engine.inverse_dynamics.statistics import Uncertainty
from sysid_ros.engine.parameters import BIASED_BY_NOISE
from sysid_ros.engine.regressor import Filters, HeldSetPoints


@dataclass(frozen=True)
class InverseDynamicsFit:
    """Physically consistent parameters, their uncertainty, and the torque they predict."""

    free: FreeParameters  # what was estimated, with names, bounds and the model's values
    x: FloatArray  # estimates, (k,): kg, kg m, kg m^2, and N m per unit
    weights: FloatArray  # of kinds of rows, inverse variances of filtered torque, (kinds,)
    uncertainty: Uncertainty  # covariance and intervals that hold under coloured residuals
    # what noise of positions in the regressor has added to each estimate, (k,)
    noise_bias: FloatArray
    at_bound: BoolArray  # parameters on a bound, (k,)
    # names of bodies on the margin of consistency or the edge of their geometry
    on_edge: tuple[str, ...]
    # factors of measured torques that were estimated, by joint, with standard errors
    gains: Mapping[str, tuple[float, float]]
    residual_std: FloatArray  # of filtered torque, (nv,) N m; NaN where none was measured
    filters: Filters  # the low-passes, and how their cut-offs were chosen
    base: BaseParameters  # the combinations that the data determine
    predictions: tuple[TorquePrediction, ...]  # measured and predicted torque of each recording
    status: str  # the solver's word
    held: HeldSetPoints | None = None  # drives whose set points are held, where torque shows it

    @property
    def values(self) -> dict[str, float]:
        """Estimates by name."""
        return dict(zip(self.free.names, self.x.tolist(), strict=True))

    def theta(self, condition: str | None = None) -> FloatArray:
        """All parameters of a condition, free or not, (p,)."""
        return self.free.theta(self.x, self.free.conditions[0] if condition is None else condition)

    def intervals(self) -> FloatArray:
        """Confidence intervals, (k, 2)."""
        half = self.uncertainty.half_widths()
        return np.column_stack([self.x - half, self.x + half])

    def flags(self, index: int) -> tuple[str, ...]:
        """Remarks on a parameter: open, at a bound, biased by noise."""
        words = []
        if self.uncertainty.open[index]:
            words.append("open")
        if self.at_bound[index]:
            words.append("at bound")
        error = self.uncertainty.standard_errors[index]
        if abs(self.noise_bias[index]) > 0.5 * error > 0.0:
            words.append(BIASED_BY_NOISE)
        return tuple(words)

    @property
    def torque_rmse(self) -> FloatArray:
        """Root mean square of filtered torque errors over all recordings, (nv,) N m."""
        return root_mean_square([one.measured - one.total for one in self.predictions])
