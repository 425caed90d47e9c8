# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One parameter over time: its recordings, joined by day where there are days enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.trend.scatter import variance_between

# With fewer days each recording stands for itself.
FEWEST_DAYS = 5


@dataclass(frozen=True)
class Series:
    """Values of one parameter in the order of time."""

    times: FloatArray  # days since 1970, UTC, (n,)
    values: FloatArray  # one per day, or per recording where days are few, (n,)
    errors: FloatArray  # standard errors, widened by the scatter within days, (n,)
    # what else may explain the values, around its mean, (n,); ``None`` if nothing
    covariate: FloatArray | None
    scatter: float  # standard deviation between recordings of one day beyond their standard errors
    by_day: bool  # true where an entry is a day

    def base(self) -> FloatArray:
        """Columns of a series that does not change, (n, 1 or 2)."""
        columns = [np.ones_like(self.times)]
        if self.covariate is not None and np.ptp(self.covariate) > 0.0:
            columns.append(self.covariate)
        return np.column_stack(columns)


def series_of(
    times: FloatArray, values: FloatArray, errors: FloatArray, covariate: FloatArray | None
) -> Series:
    """Join the recordings of one day.

    Recordings of one day share what that day brings, so that a day is one value of a trend, where
    there are days enough. Its error has a random effect of recordings in it.

    Args:
      times: Days since 1970, UTC, in order, (n,).
      values: Estimates, (n,).
      errors: Their standard errors, (n,), positive.
      covariate: What else may explain them, (n,).
    """
    days = np.floor(times)
    variance = variance_between(values, errors, days.astype(int).tolist())
    weights = 1.0 / (errors**2 + variance)
    unique, members = np.unique(days, return_inverse=True)
    by_day = unique.size >= FEWEST_DAYS
    if not by_day:
        members = np.arange(values.size)
    total = np.bincount(members, weights)

    def joined(numbers: FloatArray) -> FloatArray:
        if not by_day:  # as they are: rounding would set equal times apart
            return numbers
        return np.asarray(np.bincount(members, weights * numbers) / total)

    beside = None if covariate is None else joined(covariate)
    return Series(
        times=joined(times),
        values=joined(values),
        errors=1.0 / np.sqrt(total),
        covariate=None if beside is None else beside - beside.mean(),
        scatter=float(np.sqrt(variance)),
        by_day=by_day,
    )
