# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The priors of parameters as rows of an objective."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters import ParameterDict, minimum_change, priors


class ParameterPriors:
    """Means and precisions of the free scalars."""

    def __init__(self, params: ParameterDict, *, hold: bool) -> None:
        """Take them from the parameters.

        Args:
          params: The parameters.
          hold: Whether a weak pull holds those without one near their nominal value.
        """
        self._mean, precision = priors(params)
        if hold:
            bounds = params.bounds
            pull = minimum_change(params.as_nominal_vector(), bounds.lower, bounds.upper)
            self._mean = np.where(precision > 0.0, self._mean, pull[0])
            precision = np.where(precision > 0.0, precision, pull[1])
        self._weight = np.sqrt(precision)

    def residual(self, theta: FloatArray) -> FloatArray:
        """In standard deviations, (p,)."""
        return np.asarray((theta - self._mean) * self._weight)

    def rows(self, theta: FloatArray) -> FloatArray:
        """``[J_theta r]``, (p, p + 1)."""
        return np.hstack([np.diag(self._weight), self.residual(theta)[:, None]])

    def given_rows(self, theta: FloatArray) -> FloatArray:
        """Those of them that a prior has, (k, p + 1)."""
        return self.rows(theta)[self._weight > 0.0]

    def cost(self, theta: FloatArray) -> float:
        """Their share in the objective."""
        return 0.5 * float(np.sum(self.residual(theta) ** 2))
