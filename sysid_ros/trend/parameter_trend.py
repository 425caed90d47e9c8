# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The trend of one parameter and the judgement of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.trend.changes import Effect
from sysid_ros.trend.series import Series


class Level(str, Enum):
    """The judgement of one parameter's course, as in diagnostic messages."""

    OK = "OK"
    WARN = "WARN"  # it changes by more than scatter explains
    ERROR = "ERROR"  # by more than the stated limit, too
    UNKNOWN = "UNKNOWN"  # too few results to tell


@dataclass(frozen=True)
class Change:
    """One change point."""

    last_before: float  # date of the last entry before it, in days since 1970
    first_after: float  # date of the first entry after it
    before: float  # value before
    effect: Effect  # the step

    @property
    def percent(self) -> float:
        """Size relative to the value before, in percent."""
        return percent_of(self.effect.size, self.before)


@dataclass(frozen=True)
class ParameterTrend:
    """One parameter's course over the results."""

    name: str  # the parameter's
    unit: str  # of its values
    level: Level  # the judgement
    sentence: str  # the reason for it
    times: FloatArray  # date of each result that determines it, in days since 1970, (n,)
    values: FloatArray  # the estimates, (n,)
    errors: FloatArray  # their standard errors as the results state them, (n,)
    series: Series | None = None  # the same, joined by day; None where there is too little
    course: FloatArray | None = None  # value at each entry of the series as the trend has it, (k,)
    course_at_mean: FloatArray | None = None  # the same at the mean of the covariate, (k,)
    # half the interval of 95 % within which an entry is expected there, (k,)
    half_width: FloatArray | None = None
    changes: tuple[Change, ...] = ()  # change points
    drift: Effect | None = None  # slope per day beside the changes; None where it cannot be told
    drifting: bool = False  # true if it is the drift that is significant
    p: float = 1.0  # significance of change or drift, corrected for positions and parameters
    # change of the value per unit of the covariate, if there is one
    covariate: Effect | None = None

    @property
    def percent(self) -> float:
        """Largest change that is significant, in percent of the value before; zero if none is."""
        sizes = [change.percent for change in self.changes]
        if self.course_at_mean is not None and (self.changes or self.drifting):
            first, last = float(self.course_at_mean[0]), float(self.course_at_mean[-1])
            sizes.append(percent_of(last - first, first))
        return max(sizes, key=abs, default=0.0)


def percent_of(change: float, before: float) -> float:
    """Return a change in percent of the value before; infinite where that is zero."""
    with np.errstate(divide="ignore"):
        return float(100.0 * np.divide(change, abs(before))) if change else 0.0
