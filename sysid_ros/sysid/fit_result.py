# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What a fit delivers, as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt
import scipy

from sysid_ros.sysid.landscape import Landscape
from sysid_ros.sysid.residual_size import ResidualSize

FloatArray = npt.NDArray[np.float64]


class FitStatus(str, Enum):
    """How a fit ended; each value suggests the remedy in :attr:`FitResult.message`."""

    CONVERGED = "CONVERGED"
    MAX_ITERATIONS = "MAX_ITERATIONS"
    TIME_LIMIT = "TIME_LIMIT"
    STALLED = "STALLED"  # no step lowers the cost although the gradient is not small
    CANCELED = "CANCELED"


@dataclass(frozen=True)
class Iteration:
    """One accepted step of the optimizer, as reported while it runs."""

    iteration: int
    cost: float
    gradient_norm: float
    names: tuple[str, ...]
    values: FloatArray  # (n_parameters,), in the parameters' own units
    elapsed: float  # s


@dataclass(frozen=True)
class ParameterEstimate:
    """One scalar parameter with its uncertainty, in its own unit.

    ``standard_error`` and the interval are ``None`` where none can be claimed: at a bound, or
    where the data does not determine the parameter (see ``flags``).
    """

    name: str
    unit: str
    initial: float
    value: float
    lower: float
    upper: float
    standard_error: float | None
    dof: float
    flags: tuple[str, ...] = ()  # "at lower bound", "at upper bound", "unidentifiable", ...

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Two-sided Student-t interval at ``level``, or ``None`` where none is claimed."""
        if self.standard_error is None:
            return None
        half = float(scipy.stats.t.ppf(0.5 + level / 2.0, self.dof)) * self.standard_error
        return self.value - half, self.value + half


@dataclass(frozen=True)
class FitResult:
    """The outcome of one fit. Arrays over parameters follow the order of ``parameters``."""

    status: FitStatus
    message: str
    parameters: tuple[ParameterEstimate, ...]
    covariance: FloatArray  # (p, p), NaN rows where no error is claimed
    cost_initial: float  # half the sum of squared weighted residuals, priors included
    cost_final: float
    iterations: int
    evaluations: int
    jacobians: int
    elapsed: float  # s
    trace: tuple[Iteration, ...]
    noise: Mapping[str, float]  # standard deviation used per signal, in its unit
    interval_method: str  # "clustered" by window | "blocks" inside windows | "white"
    singular_values: FloatArray  # of the Jacobian with columns scaled by the bounds
    unidentifiable: tuple[str, ...]  # combinations of parameters the data leaves open, in words
    optimizer: str
    landscapes: tuple[Landscape, ...] = ()  # around the optimum, for the most entangled pairs
    derivatives: Mapping[str, str] = field(default_factory=dict)  # "exact" or why not, by parameter
    residuals: Mapping[str, ResidualSize] = field(default_factory=dict)  # by signal; not stored

    @property
    def values(self) -> FloatArray:
        """The estimates, (p,)."""
        return np.array([parameter.value for parameter in self.parameters])

    def __getitem__(self, name: str) -> ParameterEstimate:
        """The estimate called ``name``; KeyError lists the names there are."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise KeyError(f"{name!r}; there are: {', '.join(p.name for p in self.parameters)}")
