# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One estimated scalar with its uncertainty.

Near a bound the interval is built on the estimate within the bounds (Mandelkern & Schultz 2000,
"The statistical analysis of Gaussian and Poisson signals near physical boundaries"), whose
distribution is the normal one with all that is beyond the bound upon it (Chernoff 1954; Self &
Liang 1987). It is never empty, and never shrinks because the data points beyond the bound, as an
interval around the unbounded estimate does that is cut off. If the truth is within half an
interval of a bound, the end away from the bound cannot miss it. So the other end may miss it in 3.5
instead of 2.5 of 100 cases; with 5 the interval would be exact, and nothing would be left for what
the linear model misses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy

from sysid_ros.engine.parameters import AT_A_BOUND, POORLY_DETERMINED, UNIDENTIFIABLE, ParameterDict

NEAR_A_BOUND = 0.7  # share of what an interval may miss that the end towards a near bound may miss


@dataclass(frozen=True)
class ParameterEstimate:
    """One scalar parameter with its uncertainty, in its own unit.

    ``standard_error`` and the interval are ``None`` where none can be claimed: where neither data
    nor prior determines the parameter (see ``flags``). At a bound the error is the one that the
    parameter has without it.

    ``systematic`` is the part of the error that noise does not explain: scatter between recordings,
    and what another time step, window or filter moves. ``extrapolated`` is the value to be expected
    at a time step of zero; ``value`` is the one to use at the model's.
    """

    name: str
    unit: str
    initial: float
    value: float
    lower: float
    upper: float
    standard_error: float | None
    dof: float
    flags: tuple[str, ...] = ()  # words of engine.parameters.flags
    systematic: float = 0.0
    extrapolated: float | None = None

    @property
    def by_noise(self) -> float | None:
        """The part of the standard error that noise explains."""
        error = self.standard_error
        return None if error is None else math.sqrt(max(0.0, error**2 - self.systematic**2))

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Student-t interval at ``level`` within the bounds, or ``None`` where none is claimed."""
        if self.standard_error is None:
            return None
        return (
            -self._end(level, -self.value, -self.lower, -self.upper),
            self._end(level, self.value, self.upper, self.lower),
        )

    @property
    def bounds_reached(self) -> tuple[str, ...]:
        """The flags of the bounds that the value lies at."""
        return tuple(flag for flag in self.flags if flag in AT_A_BOUND)

    @property
    def unidentifiable(self) -> bool:
        """True where the data leaves the parameter open."""
        return UNIDENTIFIABLE in self.flags

    @property
    def undetermined(self) -> bool:
        """True where no interval is claimed, or one that is no less than all that bounds allow."""
        return self.unidentifiable or self.interval() == (self.lower, self.upper)

    @property
    def vague(self) -> bool:
        """True where the value is no more than a place within the bounds, or their end."""
        return not AT_A_BOUND.union((UNIDENTIFIABLE, POORLY_DETERMINED)).isdisjoint(self.flags)

    @property
    def may_be_zero(self) -> bool:
        """True where what cannot change its sign has an interval that reaches zero."""
        interval = self.interval()
        one_signed = self.lower >= 0.0 or self.upper <= 0.0
        return one_signed and interval is not None and interval[0] <= 0.0 <= interval[1]

    @property
    def relative(self) -> float | None:
        """Half the interval over the value; ``None`` without the one or the other."""
        interval = self.interval()
        if interval is None or not self.value:
            return None
        return 0.5 * (interval[1] - interval[0]) / abs(self.value)

    def _end(self, level: float, value: float, near: float, far: float) -> float:
        """The upper end with ``near`` as the upper bound; the lower one with all signs changed."""
        error = self.standard_error or 0.0
        half = error * student_quantile(self.dof, 0.5 * (1.0 + level))
        end = value + half
        halfway = 0.5 * (value + near)  # it moves only outwards as the error grows
        if end > halfway and near - far >= 2.0 * half:
            shorter = value + error * student_quantile(self.dof, 1.0 - NEAR_A_BOUND * (1.0 - level))
            end = max(shorter, halfway)
        return min(end, near)


def unfitted(params: ParameterDict) -> tuple[ParameterEstimate, ...]:
    """The free scalars at their start, of which nothing is claimed."""
    units = [unit for parameter in params.free() for unit in parameter.scalar_units()]
    names, start = params.scalar_names(), params.as_vector().tolist()
    lower, upper = (bound.tolist() for bound in params.get_bounds())
    return tuple(
        ParameterEstimate(name, unit, value, value, low, high, None, math.inf)
        for name, unit, value, low, high in zip(names, units, start, lower, upper, strict=True)
    )


def student_quantile(dof: float, probability: float) -> float:
    """Return what a number of Student's t distribution stays below with this probability, 0 to 1.

    The degrees of freedom are infinite for the normal distribution; NaN without any.
    """
    return float(scipy.special.stdtrit(dof, probability))
