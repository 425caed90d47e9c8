# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Lines and cubics through samples; importing ``scipy.interpolate`` would take longer than a fit.

On an even grid a cubic spline is sum_k c_k B(t/h - k) with the cubic B-spline B, and its
coefficients are the samples filtered by sqrt(3) z^|k|, z = sqrt(3) - 2 (Unser, Aldroubi & Eden
1993, "B-spline signal processing"). What the ends ask for is added as z^k from either end. On an
uneven one its slopes at the samples solve a tridiagonal system.
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
class Cubics:
    """A function that is a cubic between samples, and goes on beyond them."""

    times: FloatArray  # (n,) s, strictly increasing, n >= 2
    powers: FloatArray  # of the time behind each sample but the last, the third first, (4, n - 1)

    def __call__(self, t: FloatArray) -> FloatArray:
        """The values at some instants, in the shape of these."""
        left = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        third, second, first, value = self.powers[:, left]
        after = t - self.times[left]
        return np.asarray(((third * after + second) * after + first) * after + value)


def cubic_powers(times: FloatArray, values: FloatArray) -> FloatArray:
    """The powers of the cubic spline that has no knots beside its ends ("not a knot").

    Args:
      times: Strictly increasing, s, (n,), n >= 3.
      values: Samples, (n,).

    Returns:
      As :attr:`Cubics.powers`, (4, n - 1).
    """
    steps = np.diff(times)
    rises = np.diff(values) / steps
    slopes = _slopes(steps, rises)
    bend = (slopes[:-1] + slopes[1:] - 2.0 * rises) / steps
    return np.stack([bend / steps, (rises - slopes[:-1]) / steps - bend, slopes[:-1], values[:-1]])


def _slopes(steps: FloatArray, rises: FloatArray) -> FloatArray:
    """Slopes of that spline at the samples, (n,), of those between them (de Boor 1978)."""
    if len(steps) == 2:  # a parabola
        curve = (rises[1] - rises[0]) / (steps[0] + steps[1])
        return np.append(rises[0] + curve * np.array([-1.0, 1.0]) * steps[0],
                         rises[1] + curve * steps[1])  # fmt: skip
    low, high, both = steps[1:].copy(), steps[:-1].copy(), steps[:-1] + steps[1:]
    middle, right = 2.0 * both, 3.0 * (low * rises[:-1] + high * rises[1:])
    ends = []  # the third derivative does not jump at the second sample, nor at the last but one
    for end, beside in ((0, 1), (-1, -2)):
        outer, inner = steps[end], steps[beside]
        known = (outer + 2.0 * both[end]) * inner * rises[end] + outer**2 * rises[beside]
        ends.append((inner, both[end], known / both[end]))
        middle[end] -= both[end]
        right[end] -= known / both[end]
    low[0] = high[-1] = 0.0
    inside = _tridiagonal(low, middle, high, right)
    first, last = (
        (known - width * inside[end]) / inner
        for end, (inner, width, known) in zip((0, -1), ends, strict=True)
    )
    return np.concatenate([[first], inside, [last]])


def _tridiagonal(
    low: FloatArray, middle: FloatArray, high: FloatArray, right: FloatArray
) -> FloatArray:
    """The solution of a diagonally dominant system by cyclic reduction, (n,).

    Args:
      low: Left of the diagonal, the first zero, (n,).
      middle: The diagonal, (n,).
      high: Right of it, the last zero, (n,).
      right: The right side, (n,).
    """
    if len(middle) == 1:
        return right / middle
    if len(middle) % 2 == 0:  # so that every other row has two neighbours
        low, high, right = (np.append(own, 0.0) for own in (low, high, right))
        return _tridiagonal(low, np.append(middle, 1.0), high, right)[:-1]
    before, after = -low[1::2] / middle[:-1:2], -high[1::2] / middle[2::2]
    every_other = _tridiagonal(
        before * low[:-1:2],
        middle[1::2] + before * high[:-1:2] + after * low[2::2],
        after * high[2::2],
        right[1::2] + before * right[:-1:2] + after * right[2::2],
    )
    found = np.empty_like(right)
    found[1::2] = every_other
    beside = np.concatenate([[0.0], every_other, [0.0]])
    found[::2] = (right[::2] - low[::2] * beside[:-1] - high[::2] * beside[1:]) / middle[::2]
    return found


@dataclass(frozen=True)
class CubicSlope:
    """The derivative of a cubic spline through even samples, which goes on beyond them."""

    start: float  # the first sample's instant, s
    interval: float  # between samples, s
    # of the B-splines from one before the first sample to one after the last, (n + 2,)
    coefficients: FloatArray

    @classmethod
    def of(cls, start: float, interval: float, values: FloatArray) -> CubicSlope:
        """The one that has no knots beside its ends ("not a knot").

        Args:
          start: The first sample's instant, s.
          interval: Between samples, s.
          values: Samples, (n,), n >= 4.
        """
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
