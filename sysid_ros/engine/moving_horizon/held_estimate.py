# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An estimate whose models do not hold, kept near where it was searched for.

Where the cost is rough, as where joints stick, a Gauss-Newton model promises what no simulation
keeps, and the next one promises something else. Searching for ever would take all the time there
is. So the estimate rests until there are twice as many windows, and its intervals reach to what
the models promise, and to where the search before has led.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.moving_horizon.information import optimum
from sysid_ros.engine.parameters import Bounds
from sysid_ros.engine.uncertainty import Covariance

REACH = 0.02, 1.0  # in magnitudes and in standard errors: how far it may go from there
ROUGH = (
    "simulations do not keep what their derivatives promise, as where joints stick or the model is "
    "wrong: estimates rest, and intervals reach to what was promised"
)


class HeldEstimate:
    """The point where an estimate rests, and for how long.

    Attributes:
      at: The point, (p,); ``None`` while models hold.
      promised: What the models promise, less the estimate, (p,).
      moved: From where the search before has led, (p,).
      sentences: Why it rests, if it does.
    """

    def __init__(self) -> None:
        self.at: FloatArray | None = None
        self.promised: FloatArray | None = None
        self.moved: FloatArray | None = None
        self._led: FloatArray | None = None  # where the latest search has
        self.sentences: tuple[str, ...] = ()
        self._until = 0

    def rests(self, windows: int) -> bool:
        """Return whether it rests with so many windows."""
        return windows < self._until

    def begin(self, theta: FloatArray, windows: int) -> None:
        """Rest at a point until there are twice as many windows."""
        self.at, self._until, self.sentences = theta, 2 * windows, (ROUGH,)
        self.moved = np.zeros_like(theta) if self._led is None else theta - self._led
        self._led = theta

    def wait(self, theta: FloatArray) -> None:
        """Rest at a point while the optimum is searched for."""
        self.at = theta

    def end(self) -> None:
        """Go on."""
        self.at, self.promised, self.sentences = None, None, ()

    def near(
        self, bounds: Bounds, gram: FloatArray, free: FloatArray, errors: FloatArray
    ) -> FloatArray:
        """The optimum of the models not far from where the estimate rests, (p,).

        Args:
          bounds: Of the parameters.
          gram: ``[J r]^T [J r]`` where it rests, (p + 1, p + 1).
          free: The optimum within the bounds alone, (p,).
          errors: Standard errors by noise, (p,).
        """
        if self.at is None:
            return free
        reach = np.maximum(REACH[0] * bounds.scale_at(self.at), REACH[1] * errors)
        found = optimum(bounds.near(self.at, reach), gram, self.at)
        self.promised = free - found
        return found

    def widened(self, found: Covariance) -> Covariance:
        """A covariance that reaches to what the models promise, and as far as searches differ."""
        if self.promised is None:
            return found
        added = self.promised**2 + (0.0 if self.moved is None else self.moved**2)
        errors = np.sqrt(found.errors**2 + added)
        matrix = found.matrix + np.diag(added)
        return replace(found, errors=errors, matrix=matrix)
