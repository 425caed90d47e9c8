# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Values of sampled signals between their samples.

NaN in the samples means "not measured": between a missing sample and its neighbours the result is
NaN too, never a bridge. Before the first and after the last sample the signal keeps that value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.errors import SignalError, unknown_name
from sysid_ros.time_intervals import runs_of, shortest_gap

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

InterpolationMethod = Literal["linear", "cubic", "quadratic", "quintic", "zero_order_hold", "zoh"]

_DEGREES = {"quadratic": 2, "cubic": 3, "quintic": 5}


def interpolate(times: FloatArray, data: FloatArray, at: FloatArray, method: str) -> FloatArray:
    """Evaluate sampled signals.

    Args:
      times: Instants of the samples, strictly increasing, (n,).
      data: Samples, (n, ...).
      at: Where to evaluate, (m,).
      method: linear, zoh (hold the last sample; also ``zero_order_hold``), or a spline:
        quadratic, cubic, quintic.

    Returns:
      Values, (m, ...).

    Raises:
      SignalError: The method is unknown, or there are too few samples for it.
    """
    check_method(method)
    if is_held(method):
        held: FloatArray = data[_previous(times, at)]
        return held
    if method == "linear" or len(times) == 1:
        return _linear(times, data, at)
    return _spline(times, data, at, _DEGREES[method])


def value_at(times: FloatArray, values: FloatArray, at: FloatArray, method: str) -> FloatArray:
    """A signal without missing samples at some instants.

    Args:
      times: Instants of the samples, strictly increasing, (n,).
      values: Samples, (n,).
      at: Where to evaluate, (m,).
      method: zoh (its last sample), linear, or cubic (see :func:`smooth_curve`).

    Returns:
      Values, (m,); before the first and after the last sample that one.
    """
    if is_held(method):
        return values[_previous(times, at)]
    if method == "cubic" and len(times) > 1:
        curve: FloatArray = smooth_curve(times, values)(np.clip(at, times[0], times[-1]))
        return curve
    return np.interp(at, times, values)


def smooth_curve(times: FloatArray, values: FloatArray) -> PPoly:
    """The cubic spline through samples (n,), two at least: both its derivatives are continuous.

    Its ends are such that more samples of the spline itself change nothing ("not-a-knot", de Boor,
    A Practical Guide to Splines, 1978). Where the samples stand still, so does it, and there is
    another before and after: a planned motion ends, and nothing more is said until the next.
    """
    steps, same = np.diff(times), np.diff(values) == 0.0
    beside = np.concatenate([[True], same, [True]])
    still = same & (beside[:-2] | beside[2:] | (steps > shortest_gap(times)))
    slopes = np.where(still, 0.0, np.diff(values) / steps)
    powers = np.vstack([np.zeros((2, len(steps))), slopes, values[:-1]])
    bounds = runs_of(~still)
    for first, last in bounds[np.diff(bounds)[:, 0] > 1].tolist():  # one step alone is a line
        own = slice(first, last + 1)
        powers[:, first:last] = scipy.interpolate.CubicSpline(times[own], values[own]).c
    return scipy.interpolate.PPoly(powers, times)


def interpolate_columns(
    times: FloatArray, data: FloatArray, at: FloatArray, methods: Sequence[str]
) -> FloatArray:
    """As :func:`interpolate` for data (n, d) with one method per column."""
    result = np.empty((len(at), data.shape[1]))
    for method in dict.fromkeys(methods):
        columns = [i for i, each in enumerate(methods) if each == method]
        result[:, columns] = interpolate(times, data[:, columns], at, method)
    return result


def check_method(method: str) -> None:
    """Refuse an unknown method.

    Raises:
      SignalError: It is unknown; the message lists the valid ones.
    """
    if method not in get_args(InterpolationMethod):
        raise SignalError(unknown_name("interpolation", str(method), get_args(InterpolationMethod)))


def is_held(method: str) -> bool:
    """Return whether a signal keeps its last sample, under either of the method's names."""
    return method in ("zoh", "zero_order_hold")


def _previous(times: FloatArray, at: FloatArray) -> IndexArray:
    """Index of the last sample at or before each instant."""
    return np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 1)


def samples_between(times: FloatArray, start: float, end: float) -> slice:
    """The samples with start <= time <= end.

    Raises:
      SignalError: There is none.
    """
    first, last = np.searchsorted(times, [start, np.nextafter(end, np.inf)]).tolist()
    if first >= last:
        raise SignalError(
            f"no samples between {start:g} s and {end:g} s; there are some from "
            f"{times[0]:g} s to {times[-1]:g} s"
        )
    return slice(first, last)


class LinearPlaces(NamedTuple):
    """Instants between samples: the samples left and right, and how far on the way, (m,) each."""

    left: IndexArray
    right: IndexArray
    fraction: FloatArray

    def values(self, data: FloatArray) -> FloatArray:
        """Evaluate samples (n, ...) there, (m, ...)."""
        start = data[self.left]
        if not self.fraction.any():
            return start
        fraction = self.fraction.reshape(-1, *(1,) * (data.ndim - 1))
        between = start + fraction * (data[self.right] - start)
        # On a sample its own value counts, even next to a missing one.
        return np.where(fraction == 0.0, start, between)


def linear_places(times: FloatArray, at: FloatArray) -> LinearPlaces:
    """Find instants (m,) between those of samples, (n,)."""
    left = _previous(times, at)
    right = np.minimum(left + 1, len(times) - 1)
    width = np.where(right > left, times[right] - times[left], 1.0)
    return LinearPlaces(left, right, np.clip((at - times[left]) / width, 0.0, 1.0))


def _linear(times: FloatArray, data: FloatArray, at: FloatArray) -> FloatArray:
    return linear_places(times, at).values(data)


def _spline(times: FloatArray, data: FloatArray, at: FloatArray, degree: int) -> FloatArray:
    if data.ndim > 1 and np.isnan(data).any():
        columns = [_spline(times, column, at, degree) for column in data.T]
        return np.stack(columns, axis=-1)
    known = np.isfinite(data) if data.ndim == 1 else np.ones(len(times), dtype=bool)
    if known.sum() <= degree:
        raise SignalError(
            f"a spline of degree {degree} needs {degree + 1} samples, there are {known.sum()}"
        )
    spline = scipy.interpolate.make_interp_spline(times[known], data[known], k=degree)
    inside = np.clip(at, times[0], times[-1])
    values: FloatArray = spline(inside)
    if not known.all():
        values[np.isnan(_linear(times, data, inside))] = np.nan
    return values
