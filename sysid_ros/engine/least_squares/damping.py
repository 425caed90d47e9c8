# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The damping that holds back the steps of a search."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.least_squares.gauss_newton import Linearization

INITIAL_DAMPING = 1e-3
GROWTH = 4.0
SHRINKAGE = 0.1
# Where a step that promises so little of the cost fails, the cost is rough (a joint sticks a time
# step earlier or later) rather than curved: a step that is hardly shorter would fail as well.
ROUGHNESS, GROWTH_IN_ROUGHNESS = 1e-3, 16.0
GOOD_GAIN, POOR_GAIN = 0.5, 0.25  # shares of the decrease that was expected: the model holds; badly
SILENT = 1e-12  # curvature relative to the largest: such a parameter must not move by rounding
# What a refused step raises the least curvature by, and at most.
RAISE, MOST_RAISED = 100.0, 1e4


@dataclass
class Damping:
    """Little after a useful step, ever more after refused ones."""

    factor: float
    least: float
    scale: FloatArray  # (p,): the curvature of each parameter
    curved: bool = False  # whether any step brought far less than was expected
    raised: float = 1.0  # how far the least curvature is
    most: float = field(default_factory=lambda: MOST_RAISED)
    floor: FloatArray = field(default_factory=lambda: np.zeros(0))  # (p,): where it is not raised
    before: FloatArray | None = None  # (p,): the scale before it was raised, until a step is tried

    def see(self, here: Linearization, least: FloatArray) -> None:
        """Take over the curvatures at a point.

        Args:
          here: The Gauss-Newton model at the point.
          least: What no curvature counts as less than, in costs there, (p,).
        """
        p = here.prior.shape[0] - 1
        sizes = sum((gram.diagonal()[:p] for gram in here.grams), here.prior.diagonal()[:p])
        silent = SILENT * max(sizes.max(initial=0.0), 1e-300)
        self.floor = here.cost * least
        self.scale = np.maximum(np.maximum(sizes, silent), self.raised * self.floor)

    def failed(self, expected: float) -> None:
        """Take note of a refused step that promised such a share of the cost."""
        higher = np.maximum(self.scale, RAISE * self.raised * self.floor)
        if self.raised < self.most and np.any(higher > GROWTH * self.scale):
            # What the cost hardly depends on may have run away. More damping of all would first
            # have to stop what is known well.
            self.before, self.scale = self.scale, higher
            self.raised *= RAISE
            return
        growth = GROWTH if expected > ROUGHNESS else GROWTH_IN_ROUGHNESS
        self.factor *= growth if self.factor > 1e-6 else 100.0
        self.curved = True

    def raised_in_vain(self) -> None:
        """Take back what made a step no shorter."""
        if self.before is not None:
            self.scale, self.before, self.raised = self.before, None, self.raised / RAISE
            self.most = self.raised

    def succeeded(self, gain: float) -> None:
        """Take note of a step that brought such a share of what was expected."""
        self.curved = self.curved or gain < GOOD_GAIN
        if gain >= GOOD_GAIN:
            self.factor = max(self.least, self.factor * SHRINKAGE)
        elif gain < POOR_GAIN:
            self.factor *= 2.0
