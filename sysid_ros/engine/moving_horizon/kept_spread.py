# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A covariance that is found anew now and then, as it takes longer than the estimate itself."""

from __future__ import annotations

from collections.abc import Callable

from sysid_ros.engine.uncertainty import Covariance

EVERY = 0.25  # s
Spread = tuple[Covariance, bool]  # and whether it is what the fit would report


class KeptSpread:
    """The latest covariance."""

    def __init__(self) -> None:
        self._latest: tuple[float, int, Spread] | None = None

    def at(self, time: float, place: int, make: Callable[[], Spread], *, anew: bool) -> Spread:
        """The covariance at an instant.

        Args:
          time: The instant, s.
          place: Another number wherever the estimate has been searched for.
          make: Finds it anew.
          anew: Whether it must be.
        """
        kept = self._latest
        if anew or kept is None or kept[1] != place or not 0.0 <= time - kept[0] < EVERY:
            self._latest = kept = (time, place, make())
        return kept[2]
