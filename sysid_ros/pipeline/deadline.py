# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The time limit of a whole command: what each of its steps may take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.least_squares import FitStatus
from sysid_ros.errors import ErrorCode, SysidError

_RESERVED = 0.4  # of what is left after reading, for scoring and writing at most ...
_ENOUGH = 30.0  # s, which is plenty for them, unless the recordings took longer to read
_DRAWING = 10.0  # s, that an animation may take
_OVERDUE = 0.5  # of the reserve, that a step of the fit may use up before it is broken off


class TimeLimitError(SysidError):
    """The time limit passed before there was anything to write."""

    code = ErrorCode.NOT_CONVERGED


class Deadline:
    """Watches one command from its construction on.

    Args:
      limit: s for all of it; ``None`` for as long as it takes.
      clock: Monotonic seconds.
    """

    def __init__(self, limit: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._began = clock()
        self._fit_until = math.inf
        self._reserve = 0.0

    @property
    def remaining(self) -> float:
        """s; infinite without a limit, negative beyond it."""
        if self._limit is None:
            return math.inf
        return self._limit - (self._clock() - self._began)

    @property
    def allows_drawing(self) -> bool:
        """True if there is time for what is nice to have."""
        return self.remaining > _DRAWING

    def passed(self) -> bool:
        """Return whether no time is left; asked while scoring."""
        return self.remaining <= 0.0

    def while_reading(self, told: Callable[[float], None] | None) -> Callable[[float], None] | None:
        """Return a listener to reading that ends it when the time is up.

        Raises:
          TimeLimitError: By the listener; nothing can be fitted then.
        """
        if self._limit is None:
            return told

        def listen(share: float) -> None:
            if told is not None:
                told(share)
            if self.passed():
                raise TimeLimitError(
                    f"the time limit of {self._limit:g} s passed when {100 * share:.0f} % of the "
                    "recordings were read; raise fit.time_limit, or give sequences a start and end"
                )

        return listen

    def reading_ended(self) -> None:
        """Divide what is left between the fit and what comes after it."""
        if self._limit is not None:
            left = max(self.remaining, 0.0)
            self._reserve = min(_RESERVED * left, max(_ENOUGH, self._limit - left))
            self._fit_until = self._clock() + left - self._reserve

    def for_fit(self, elapsed: float = 0.0) -> float | None:
        """Return the time limit of the fit, s.

        Args:
          elapsed: s of an earlier run that it carries on, which the fit counts as its own.
        """
        if self._limit is None:
            return None
        return elapsed + max(self._fit_until - self._clock(), 0.0)

    def fit_is_overdue(self) -> bool:
        """Return whether a step of the search or the fit must be broken off."""
        return self._clock() > self._fit_until + _OVERDUE * self._reserve

    def explained(self, result: FitResult, *, asked: bool) -> FitResult:
        """Call a fit that was broken off for its time by its name.

        Args:
          result: As it ended.
          asked: Whether the user asked for it to stop.
        """
        if asked or result.status is not FitStatus.CANCELED or not self.fit_is_overdue():
            return result
        message = "the time limit passed in the middle of a step; raise fit.time_limit"
        return replace(result, status=FitStatus.TIME_LIMIT, message=message)


def either(*stops: Callable[[], bool] | None) -> Callable[[], bool]:
    """Return a function that asks several whether to stop."""
    asked = [stop for stop in stops if stop is not None]
    return lambda: any(stop() for stop in asked)
