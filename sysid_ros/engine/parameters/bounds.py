# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bounds of parameters: their width, what lies at them, and points inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import BoolArray, FloatArray
from sysid_ros.engine.parameters.flags import AT_LOWER_BOUND, AT_UPPER_BOUND

_AT = 1e-4  # share of the bounds' width within which a value counts as at the bound ...
_CLEAR = 4.0  # ... but not so many standard errors away: a small friction is not none


_INSET = 0.01  # magnitudes to the bounds: where a friction is zero, nothing shows its size


@dataclass(frozen=True)
class Bounds:
    """Bounds of free scalars."""

    lower: FloatArray  # lower bounds, (p,)
    upper: FloatArray  # upper bounds, (p,)
    scale: FloatArray  # a typical magnitude of each at the start, (p,)

    @classmethod
    def of(cls, lower: FloatArray, upper: FloatArray, start: FloatArray) -> Bounds:
        """The bounds of what starts at ``start``, (p,)."""
        return cls(lower, upper, parameter_scale(lower, upper, start))

    @property
    def width(self) -> FloatArray:
        """Distance of the bounds, or the magnitude of a parameter without finite ones, (p,)."""
        width = self.upper - self.lower
        return np.where(np.isfinite(width) & (width > 0.0), width, self.scale)

    def scale_at(self, theta: FloatArray) -> FloatArray:
        """A typical magnitude of each parameter at a point, (p,)."""
        return parameter_scale(self.lower, self.upper, theta)

    def inset(self, theta: FloatArray) -> FloatArray:
        """The nearest point that is clearly inside the bounds, (p,)."""
        wanted = np.minimum(_INSET * self.scale_at(theta), 0.5 * (self.upper - self.lower))
        return np.asarray(np.clip(theta, self.lower + wanted, self.upper - wanted))

    def near(self, theta: FloatArray, reach: FloatArray) -> Bounds:
        """The bounds that let nothing be farther than ``reach`` from a point, (p,) each."""
        low, high = np.maximum(self.lower, theta - reach), np.minimum(self.upper, theta + reach)
        return Bounds(low, high, self.scale)

    def free(self, theta: FloatArray) -> BoolArray:
        """Mark the parameters that are at no bound, (p,)."""
        below, above = self._at(theta)
        return np.asarray(~below & ~above)

    def flags(self, theta: FloatArray, errors: FloatArray | float = 0.0) -> list[tuple[str, ...]]:
        """:data:`AT_LOWER_BOUND` and :data:`AT_UPPER_BOUND` of each parameter for which it is so.

        Args:
          theta: Values, (p,).
          errors: Their standard errors, (p,), where they are known; zero or NaN where not.
        """
        names = (AT_LOWER_BOUND, AT_UPPER_BOUND)
        return [
            tuple(name for name, at in zip(names, sides, strict=True) if at)
            for sides in zip(*self._at(theta, errors), strict=True)
        ]

    def _at(
        self, theta: FloatArray, errors: FloatArray | float = 0.0
    ) -> tuple[BoolArray, BoolArray]:
        margin = _AT * self.width
        known = np.broadcast_to(errors, margin.shape)
        margin = np.where(known > 0.0, np.minimum(margin, _CLEAR * known), margin)
        return theta <= self.lower + margin, theta >= self.upper - margin


def parameter_scale(lower: FloatArray, upper: FloatArray, value: FloatArray) -> FloatArray:
    """A typical magnitude per parameter, for finite-difference steps.

    A value near zero inside finite bounds is scaled by a fiftieth of their distance.

    Returns:
      Positive, shape (p,).
    """
    span = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    scale = np.maximum(np.abs(value), 0.02 * span)
    return np.where(scale > 0.0, scale, 1.0)
