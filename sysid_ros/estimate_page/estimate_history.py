# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The course of estimates, told by one thread and read by others."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import thinned
from sysid_ros.engine.moving_horizon import HorizonEstimate, SignalTrace
from sysid_ros.files import plain

_MOST = 600  # estimates kept; of more, every second one goes, and so does every second new one
_POINTS = 300  # of a signal
_DIGITS = 6
_BACK = 2.0  # s by which an estimate is older than the one before only in another recording
_LOOKED_AT = 5.0  # s since somebody asked last, for which somebody looks


class EstimateHistory:
    """Estimates since the beginning, as a browser asks for them; safe for several threads."""

    room, cancel = "sysid_ros.estimate_page", None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began = 0  # counts beginnings, so that a page notices a new one
        self._asked = float("-inf")  # time.monotonic() of the last question
        self._title, self._said, self._problem = "", "", ""
        self._forget()

    def _forget(self) -> None:
        self._stride, self._number = 1, 0  # of the estimates that are kept; of all
        self._heads: list[dict[str, Any]] = []
        self._steps: list[dict[str, Any]] = []
        self._latest: dict[str, Any] | None = None
        self._signals: list[dict[str, Any]] = []

    def begin(self, title: str) -> None:
        """Begin with an experiment; everything before is forgotten."""
        with self._lock:
            self._began += 1
            self._title, self._said, self._problem = title, "", ""
            self._forget()

    @property
    def is_looked_at(self) -> bool:
        """True if somebody has asked lately, so that signals are worth the work."""
        with self._lock:
            return time.monotonic() - self._asked < _LOOKED_AT

    def add(self, estimate: HorizonEstimate, said: str) -> None:
        """Append an estimate; one of a much earlier time begins another recording.

        Args:
          estimate: The estimate.
          said: One sentence: can it be trusted, and why not.
        """
        heads = [
            {"name": one.name, "unit": one.unit, "initial": one.initial, "flags": list(one.flags)}
            for one in estimate.parameters
        ]
        ends = [one.interval() or (float("nan"), float("nan")) for one in estimate.parameters]
        step = {
            "time": _rounded([estimate.time])[0],
            "values": _rounded([one.value for one in estimate.parameters]),
            "lower": _rounded([low for low, _ in ends]),
            "upper": _rounded([high for _, high in ends]),
        }
        with self._lock:
            if self._latest is not None and step["time"] < self._latest["time"] - _BACK:
                self._began += 1
                self._forget()
            elif self._latest is not None:  # without the latest rows, where they are set apart
                step["time"] = max(step["time"], self._latest["time"])
            self._heads, self._latest, self._said = heads, step, said
            if self._number % self._stride == 0:
                self._steps.append(step)
            self._number += 1
            if len(self._steps) > _MOST:
                self._steps = self._steps[::2]
                self._stride *= 2

    def fails(self, problem: str) -> None:
        """Tell why nothing new is estimated; empty where something is."""
        with self._lock:
            self._problem = problem

    def show(self, traces: Sequence[SignalTrace]) -> None:
        """Take over the latest signals, in the place of those before."""
        shown = [
            {
                "name": one.signal,
                "unit": one.unit,
                "times": _rounded(thinned(one.times, _POINTS)),
                "measured": _rounded(thinned(one.measured, _POINTS)),
                "simulated": _rounded(thinned(one.simulated, _POINTS)),
            }
            for one in traces
        ]
        with self._lock:
            self._signals = shown

    def snapshot(self, known: str = "", count: int = 0) -> dict[str, Any]:
        """Everything, or what is new.

        Args:
          known: ``series`` of the last snapshot that the caller has.
          count: How many steps the caller has of it.

        Returns:
          Plain data: ``title``, ``said``, ``problem``, ``parameters``, the steps from number
          ``first`` on, the ``latest`` one, ``signals``, and ``series``, which changes when earlier
          steps do not count any more.
        """
        with self._lock:
            self._asked = time.monotonic()
            series = f"{self._began}.{self._stride}.{len(self._heads)}"
            first = count if series == known and 0 <= count <= len(self._steps) else 0
            found: dict[str, Any] = plain(
                {
                    "series": series,
                    "title": self._title,
                    "said": self._said,
                    "problem": self._problem,
                    "parameters": self._heads,
                    "first": first,
                    "steps": self._steps[first:],
                    "latest": self._latest,
                    "signals": self._signals,
                }
            )
            return found


def _rounded(values: Sequence[float] | FloatArray) -> list[float]:
    """Numbers as short as a picture needs them."""
    return [float(f"{value:.{_DIGITS}g}") for value in values]
