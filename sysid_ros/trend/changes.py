# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Change points and drift of one parameter, by likelihood ratio tests over all positions.

At each position between two entries a step is compared with no change, and over all of them a
straight line: under normal errors of unknown scale the largest ratio of likelihoods is the largest
Student's t (D. M. Hawkins, Testing a sequence of observations for a shift in location, J. Am. Stat.
Assoc. 72, 1977). Its significance is multiplied by the number of positions and of parameters
(Bonferroni), which bounds the rate of false alarms for any number of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray
from sysid_ros.trend.scatter import ScatterPrior
from sysid_ros.trend.series import Series

FALSE_ALARMS = 0.01  # share of stationary robots in which anything at all is reported
FEWEST = 4  # entries of a series; two on either side, so that one bad recording is no change
_INTERVAL = 0.975
_COLLINEAR = 1e-9


@dataclass(frozen=True)
class Effect:
    """The size of one change, in the parameter's unit or per day."""

    size: float  # best estimate
    error: float  # its standard error, at least what the estimates' own errors leave
    dof: float  # degrees of freedom of that
    p: float  # two-sided significance by itself, not corrected

    def interval(self) -> tuple[float, float]:
        """Interval of 95 %."""
        half = self.error * float(scipy.special.stdtrit(self.dof, _INTERVAL))
        return self.size - half, self.size + half


def weights_of(series: Series) -> FloatArray:
    """Weights of entries, (n,); none weighs more than the middle one.

    A day of many recordings is known better than others, and yet is one day among others.
    """
    variances = series.errors**2
    return 1.0 / np.maximum(variances, np.median(variances))


def scatter_of(series: Series, base: FloatArray) -> tuple[float, int]:
    """Return the variance around a model of columns (n, b) in squared errors, with its dof."""
    roots = np.sqrt(weights_of(series))
    left = _without(base * roots[:, None], series.values * roots)
    dof = series.values.size - base.shape[1]
    return (float(left @ left) / dof if dof > 0 else 0.0), dof


def effects(
    series: Series, base: FloatArray, columns: FloatArray, prior: ScatterPrior
) -> list[Effect | None]:
    """Effects of columns, (n, c), each added alone to a model of columns (n, b).

    The scatter is estimated from what each leaves unexplained (Knapp and Hartung, Improved tests
    for a random effects meta-regression with a single covariate, Stat. Med. 22, 2003), together
    with what other parameters show (Smyth 2004). The error is never below what the estimates' own
    errors leave.

    Returns:
      One effect for each column; None where the model has it already or too little is left.
    """
    roots = np.sqrt(weights_of(series))
    rest = series.values.size - base.shape[1] - 1
    if rest < 1:
        return [None] * columns.shape[1]
    scaled = base * roots[:, None]
    tried = columns * roots[:, None]
    own, values = _without(scaled, tried), _without(scaled, series.values * roots)
    squares = np.sum(own**2, axis=0)
    usable = squares > _COLLINEAR * np.sum(tried**2, axis=0)
    norm = np.where(usable, squares, 1.0)
    size = own.T @ values / norm
    left = np.sum((values[:, None] - own * size) ** 2, axis=0)
    dof = rest + prior.dof
    scatter = (left + prior.dof * prior.variance) / dof
    known = np.sum((own * roots[:, None] * series.errors[:, None]) ** 2, axis=0) / norm**2
    seen, stated = np.sqrt(scatter / norm), np.sqrt(known)
    error = np.maximum(seen, stated)
    # Both must exclude chance: the scatter, which is estimated, and the errors, which are stated.
    p = 2.0 * np.maximum(
        scipy.special.stdtr(dof, -np.abs(size) / np.maximum(seen, 1e-12 * error)),
        scipy.special.ndtr(-np.abs(size) / np.where(usable, stated, 1.0)),
    )
    return [
        Effect(float(size[i]), float(error[i]), float(dof), float(p[i])) if usable[i] else None
        for i in range(size.size)
    ]


def _without(base: FloatArray, columns: FloatArray) -> FloatArray:
    """Return what a model leaves unexplained of columns."""
    directions, _ = np.linalg.qr(base)
    return np.asarray(columns - directions @ (directions.T @ columns))


@dataclass(frozen=True)
class Search:
    """Outcome of a search: steps before entries, or a drift."""

    steps: tuple[int, ...]  # index of the first entry after each change point, in order
    drift: bool  # true where a straight line explains the series better than any step
    p: float  # significance of the first finding, corrected for positions and parameters


def steps_at(series: Series, places: list[int]) -> FloatArray:
    """Columns that are one from an entry on, (n, places)."""
    numbers = np.arange(series.values.size)
    return (numbers[:, None] >= np.array(places, dtype=int)).astype(float)


def search(series: Series, prior: ScatterPrior, parameters: int) -> Search:
    """Look for change points and drift in one of so many parameters.

    Further change points are looked for on either side of the first (binary segmentation).
    """
    count = series.values.size
    factor = parameters * max(1, count - 2)  # positions of a step, and the line
    place, p = _best(series, 0, count, prior, line=True)
    corrected = min(1.0, factor * p)
    if corrected > FALSE_ALARMS or place is None:
        return Search((), False, corrected)
    if place == count:
        return Search((), True, corrected)
    found, open_parts = [place], [(0, place), (place, count)]
    while open_parts:
        first, last = open_parts.pop()
        place, p = _best(series, first, last, prior, line=False)
        if place is not None and factor * p <= FALSE_ALARMS:
            found.append(place)
            open_parts += [(first, place), (place, last)]
    return Search(tuple(sorted(found)), False, corrected)


def _best(
    series: Series, first: int, last: int, prior: ScatterPrior, *, line: bool
) -> tuple[int | None, float]:
    """Most significant step within a part, or the number of entries for the line; and its p."""
    if last - first < FEWEST:
        return None, 1.0
    part = Series(
        series.times[first:last],
        series.values[first:last],
        series.errors[first:last],
        None if series.covariate is None else series.covariate[first:last],
        series.scatter,
        series.by_day,
    )
    places = list(range(2, last - first - 1))
    columns = steps_at(part, places)
    if line:
        columns = np.column_stack([columns, part.times - part.times[0]])
    tried = effects(part, part.base(), columns, prior)
    names = [first + place for place in places] + [last] * line
    known = [(one.p, name) for one, name in zip(tried, names, strict=True) if one is not None]
    p, name = min(known, default=(1.0, -1))
    return (None if name < 0 else name), p
