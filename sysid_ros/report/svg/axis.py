# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One axis of a chart: its range and its round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

_FARTHEST = 1e300  # of what is drawn: margins beyond it would overflow
_NEAREST = 1e-300  # to zero; below it numbers lose their digits


@dataclass(frozen=True)
class Axis:
    """Range, label and scale. ``low < high``; both are positive if ``logarithmic``."""

    low: float
    high: float
    label: str
    logarithmic: bool = False

    @classmethod
    def over(
        cls, values: Iterable[float], label: str, *, logarithmic: bool = False, pad: float = 0.05
    ) -> Axis:
        """An axis that covers the usable among ``values`` with a margin of ``pad``."""
        known = [v if abs(v) >= _NEAREST else 0.0 for v in values if abs(v) <= _FARTHEST]
        usable = [v for v in known if v > 0.0 or not logarithmic]
        low, high = (min(usable), max(usable)) if usable else (1.0, 2.0)
        if logarithmic:
            if high / low < 10.0:  # less than a decade has no ticks
                low, high = low / 4.0, high * 4.0
            return cls(low, high, label, logarithmic=True)
        if high <= low:
            half = 0.5 * abs(low) or 1.0
            low, high = low - half, high + half
        margin = pad * (high - low)
        return cls(low - margin, high + margin, label)

    def widened(self, length: float) -> Axis:
        """The same about its middle, with another length."""
        middle = 0.5 * (self.low + self.high)
        return replace(self, low=middle - 0.5 * length, high=middle + 0.5 * length)

    def fraction(self, value: float) -> float:
        """Return the place of ``value``, 0 at the low end and 1 at the high end."""
        if self.logarithmic:
            if value <= 0.0:
                return 0.0
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, count: int = 5) -> list[float]:
        """About ``count`` round values within the range."""
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            every = max(1, math.ceil((last - first + 1) / count))
            return [10.0**power for power in range(first, last + 1, every)]
        step = self._step(count)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [index * step for index in range(first, last + 1)]

    def tick_text(self, tick: float) -> str:
        """A short text for one of :meth:`ticks`."""
        if self.logarithmic:
            return f"{tick:.4g}" if 0.01 <= tick <= 1000.0 else f"1e{round(math.log10(tick))}"
        # Neighbours differ in the last digit that is shown.
        farthest = math.log10(max(abs(self.low), abs(self.high)))
        digits = max(4, math.floor(farthest) - math.floor(math.log10(self._step(5))) + 1)
        return f"{tick:.{digits}g}".replace("e-0", "e-").replace("e+0", "e")

    def _step(self, count: int) -> float:
        """The round distance between about ``count`` ticks of a linear scale."""
        raw = (self.high - self.low) / count
        magnitude = 10.0 ** math.floor(math.log10(raw))
        return next(
            (m * magnitude for m in (1.0, 2.0, 5.0) if m * magnitude >= raw), 10 * magnitude
        )


@dataclass(frozen=True)
class NamedAxis(Axis):
    """An axis with one named place per entry, at 0, 1, 2 and so on."""

    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str], label: str = "") -> NamedAxis:
        """An axis over names."""
        return cls(-0.5, len(names) - 0.5, label, names=tuple(names))

    def ticks(self, count: int = 5) -> list[float]:
        """Every place."""
        return [float(i) for i in range(len(self.names))]

    def tick_text(self, tick: float) -> str:
        """The name there, shortened where many share the width."""
        name, most = self.names[round(tick)], max(3, 42 // len(self.names))
        return name if len(name) <= most else name[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
