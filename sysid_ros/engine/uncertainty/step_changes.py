# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The change of a Gauss-Newton step where a problem is changed, and how much of it is chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.least_squares import ReducedSystem
from sysid_ros.engine.uncertainty.influence import influence

BY_CHANCE = 2.0  # standard deviations of a change that chance alone explains
NEARLY_AS_WELL = 1.5  # times the standard error of one of all windows that one of some has


@dataclass(frozen=True)
class StepChange:
    """The change of the step of some parameters, as some windows tell it."""

    values: FloatArray  # (k,)
    chance: FloatArray  # standard deviation of them by noise alone, (k,)
    spread: FloatArray  # standard errors of one such window if all noise is as assumed, (k,)

    def or_farther(self, some: StepChange) -> StepChange:
        """The change, as some of the windows tell it where that is farther and beyond chance."""
        beyond = np.abs(some.values) > np.maximum(np.abs(self.values), BY_CHANCE * some.chance)
        farther = beyond & (some.spread < NEARLY_AS_WELL * self.spread)
        return StepChange(
            np.where(farther, some.values, self.values),
            np.where(farther, some.chance, self.chance),
            self.spread,
        )


def beyond_chance(values: FloatArray, chance: FloatArray) -> FloatArray:
    """The part of changes that noise does not explain, (k,)."""
    beyond = np.abs(values) > BY_CHANCE * chance
    return np.where(beyond, np.sqrt(np.abs(values**2 - chance**2)), 0.0 * values)


def step_change(
    here: ReducedSystem, there: ReducedSystem, places: IndexArray, chosen: IndexArray
) -> StepChange:
    """Compare the steps of some parameters with the others fixed.

    Args:
      here: A problem.
      there: The changed one, linearized at the same parameters.
      places: The window of the former in which each window of the latter begins.
      chosen: The parameters, (k,).
    """
    before, after = influence(here, chosen), influence(there, chosen)
    parts = -before.parts
    np.add.at(parts, places, after.parts)
    scatter = len(parts) / max(1, len(parts) - 1) * np.sum(parts**2, axis=0)
    variances = len(parts) * np.diag(np.linalg.inv(here.of(chosen).hessian))
    spread = np.sqrt(np.where(variances > 0.0, variances, np.inf))  # rounding may leave none
    return StepChange(after.step - before.step, np.sqrt(scatter), spread)
