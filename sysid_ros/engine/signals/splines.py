# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lines and cubics through samples; importing ``scipy.interpolate`` would take longer than a fit.

On an even grid a cubic spline is sum_k c_k B(t/h - k) with the cubic B-spline B, and its
coefficients are the samples filtered by sqrt(3) z^|k|, z = sqrt(3) - 2 (Unser, Aldroubi & Eden
1993, "B-spline signal processing"). What the ends ask for is added as z^k from either end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray

_POLE = np.sqrt(3.0) - 2.0
_REACH = 30  # samples, after which nothing is left of one: z^30 is 1e-17
_RESPONSE = np.sqrt(3.0) * _POLE ** np.abs(np.arange(-_REACH, _REACH + 1))
_FOURTH_DIFFERENCE = np.array([1.0, -4.0, 6.0, -4.0, 1.0])


@dataclass(frozen=True)
class Line:
    """The function that is linear between samples, and goes on beyond them."""

    times: FloatArray  # (n,) s, strictly increasing, n >= 2
    values: FloatArray  # (n,) or (n, k)

    def __call__(self, t: float | FloatArray) -> FloatArray:
        """The values at one or several instants: (...) to (...) or (..., k)."""
        t = np.asarray(t, dtype=np.float64)
        left = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        share = (t - self.times[left]) / (self.times[left + 1] - self.times[left])
        share = np.reshape(share, t.shape + (1,) * (self.values.ndim - 1))
        line: FloatArray = (1.0 - share) * self.values[left] + share * self.values[left + 1]
        return line


@dataclass(frozen=True)
class CubicSlope:
    """The derivative of a cubic spline through even samples, which goes on beyond them."""

    start: float  # the first sample's instant, s
    interval: float  # between samples, s
    # of the B-splines from one before the first sample to one after the last, (n + 2,)
    coefficients: FloatArray

    @classmethod
    def of(cls, start: float, interval: float, values: FloatArray) -> CubicSlope:
        """The one through (n,) samples, n >= 4, without knots beside its ends ("not a knot")."""
        longer = np.pad(values, _REACH + 1, mode="edge")
        plain = np.convolve(longer, _RESPONSE, mode="valid")
        decay = _POLE ** np.arange(len(plain), dtype=np.float64)
        ends = np.stack([decay, decay[::-1]])
        # The third derivative does not jump at the second sample, nor at the last but one.
        jumps = np.array([[_FOURTH_DIFFERENCE @ each[:5], _FOURTH_DIFFERENCE @ each[-5:]]
                          for each in (plain, *ends)])  # fmt: skip
        shares = np.linalg.solve(jumps[1:].T, -jumps[0])
        return cls(start, interval, plain + shares @ ends)

    def __call__(self, t: float | FloatArray) -> FloatArray:
        """The derivative at one or several instants, in the shape of these, per second."""
        position = (np.asarray(t, dtype=np.float64) - self.start) / self.interval
        first = np.clip(np.floor(position), 0, len(self.coefficients) - 4).astype(np.intp)
        u = position - first
        c = self.coefficients
        slope: FloatArray = (
            -0.5 * (1.0 - u) ** 2 * c[first]
            + (1.5 * u - 2.0) * u * c[first + 1]
            + (0.5 + u - 1.5 * u * u) * c[first + 2]
            + 0.5 * u * u * c[first + 3]
        ) / self.interval
        return slope
