# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The outcome of a fit as frozen dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation.error_growth import GrowingErrors
from sysid_ros.engine.estimation.landscape import Landscape
from sysid_ros.engine.estimation.shifts import ModelError
from sysid_ros.engine.estimation.torque_findings import TorqueFindings
from sysid_ros.engine.least_squares import FitStatus, Iteration
from sysid_ros.engine.uncertainty import ParameterEstimate, ResidualSize
from sysid_ros.engine.windows import WindowKey


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
    interval_method: (
        str  # "clustered" by window | "blocks" inside windows | "white" | "unresolved": none
    )
    singular_values: FloatArray  # of the Jacobian with columns scaled by the bounds
    unidentifiable: tuple[str, ...]  # combinations of parameters the data leaves open, in words
    optimizer: str
    landscapes: tuple[Landscape, ...] = ()  # around the optimum, for the most entangled pairs
    derivatives: Mapping[str, str] = field(default_factory=dict)  # "exact" or why not, by parameter
    simulated: str = "mujoco"  # what simulated trial steps: it, or the pass's "compiled" equation
    model_error: ModelError | None = None  # what widens intervals beyond noise
    residuals: Mapping[str, ResidualSize] = field(default_factory=dict)  # by signal; not stored
    torque: TorqueFindings | None = None  # of a fit by inverse dynamics
    growing: GrowingErrors | None = None  # where windows are longer than a simulation can follow
    # predicted minus measured with the initial parameters, from starts as measured, by model and
    # window, in the signals' units; for scores, not stored
    first_errors: Mapping[tuple[int, WindowKey], FloatArray] = field(default_factory=dict)

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


CHAOTIC = (
    "the simulation is chaotic with these parameters, so that the cost has no slope to go by and "
    "nothing can be said of their errors; try another start (--search starts), shorter windows or "
    "a shorter time step"
)
MESSAGES = {
    FitStatus.CONVERGED: "converged: the cost no longer decreases",
    FitStatus.MAX_ITERATIONS: "the iteration limit was reached first; raise fit.max_iterations",
    FitStatus.TIME_LIMIT: "the time limit was reached first; raise fit.time_limit",
    FitStatus.STALLED: "no step lowers the cost further although its slope is not zero; the model "
    "may be non-smooth here, try another start or a longer window",
    FitStatus.CANCELED: "canceled; the best parameters so far are kept",
}
