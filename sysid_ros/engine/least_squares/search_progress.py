# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The steps of a search and the ways in which it ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sysid_ros.arrays import FloatArray


class FitStatus(str, Enum):
    """The ways in which a fit ends; each suggests the remedy in :attr:`FitResult.message`."""

    CONVERGED = "CONVERGED"
    MAX_ITERATIONS = "MAX_ITERATIONS"
    TIME_LIMIT = "TIME_LIMIT"
    STALLED = "STALLED"  # no step lowers the cost although the gradient is not small
    CANCELED = "CANCELED"
    INTERRUPTED = "INTERRUPTED"  # what computed it failed or was killed


@dataclass(frozen=True)
class Iteration:
    """One accepted step of the optimizer, as reported while it runs."""

    iteration: int
    cost: float
    gradient_norm: float  # NaN where no derivative was needed
    names: tuple[str, ...]
    values: FloatArray  # (n_parameters,), in the parameters' own units
    elapsed: float  # s
    units: tuple[str, ...] = ()  # one per name; empty where they are not told
