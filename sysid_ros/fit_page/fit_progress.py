# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The state of the present fit, told by one thread and read by others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sysid_ros.engine.least_squares import Iteration
from sysid_ros.files import plain

_SHOWN = ("iteration", "cost", "elapsed", "values")  # of a step
_MOST = 5000  # steps kept; of longer fits every second one goes, again and again


class PageProgress:
    """The present fit, or the last one, as a browser asks for it; safe for several threads."""

    room = "sysid_ros.fit_page"

    def __init__(self, on_cancel: Callable[[], None]) -> None:
        """Begin without a fit.

        Args:
          on_cancel: Called, in a thread of the page's server, when somebody cancels the fit.
        """
        self._lock, self._on_cancel = threading.Lock(), on_cancel
        self._fit = 0  # counts the fits, so that a page notices a new one
        self._thinned = 0  # counts the times that steps were dropped
        self._state = "idle"  # idle, running, canceling, ended
        self._title = ""
        self._stage = ""
        self._message = ""
        self._share = 0.0
        self._names: tuple[str, ...] = ()
        self._units: tuple[str, ...] = ()
        self._steps: list[dict[str, Any]] = []

    def begin(self, title: str) -> None:
        """A fit starts; everything of the one before is forgotten."""
        with self._lock:
            self._fit += 1
            self._state, self._title = "running", title
            self._stage, self._message, self._share = "starting", "", 0.0
            self._names, self._units, self._steps = (), (), []

    def stage(self, text: str, share: float) -> None:
        """Tell what is being done now, and the estimated share of the work done, 0 to 1."""
        with self._lock:
            self._stage, self._share = text, share

    def iteration(self, step: Iteration, share: float) -> None:
        """One accepted step of the optimizer.

        Args:
          step: The step.
          share: Estimated share of the work done, 0 to 1.
        """
        with self._lock:
            if step.names != self._names:
                self._names, self._units, self._steps = step.names, step.units, []
            self._share = share
            shown = {name: getattr(step, name) for name in _SHOWN}
            self._steps.append(plain(shown))
            if len(self._steps) > _MOST:
                self._steps = [*self._steps[:-1:2], self._steps[-1]]
                self._thinned += 1

    def cancel(self) -> bool:
        """Cancel the fit, and return whether one runs."""
        with self._lock:
            if self._state != "running":
                return False
            self._state = "canceling"
        self._on_cancel()
        return True

    def end(self, message: str) -> None:
        """The fit is over; ``message`` says how."""
        with self._lock:
            self._state, self._message, self._share = "ended", message, 1.0

    def snapshot(self, known: str = "", count: int = 0) -> dict[str, Any]:
        """Everything, or what is new.

        Args:
          known: ``series`` of the last snapshot that the caller has.
          count: How many steps the caller has of it.

        Returns:
          Plain data: ``state``, ``title``, ``stage``, ``message``, ``share``, ``names``, their
          ``units``, the steps from number ``first`` on, and ``series``, which changes when earlier
          steps do not count any more.
        """
        with self._lock:
            series = f"{self._fit}.{self._thinned}.{len(self._names)}"
            first = count if series == known and 0 <= count <= len(self._steps) else 0
            return {
                "series": series,
                "state": self._state,
                "title": self._title,
                "stage": self._stage,
                "message": self._message,
                "share": self._share,
                "names": list(self._names),
                "units": list(self._units),
                "first": first,
                "steps": self._steps[first:],
            }
