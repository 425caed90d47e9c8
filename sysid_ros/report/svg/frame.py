"""Axes of a chart: from data to pixels, with ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH = 360.0
HEIGHT = 210.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 8.0, 8.0, 38.0


@dataclass(frozen=True)
class Axis:
    """One axis: its range, label and scale. ``low < high``; both positive if logarithmic."""

    low: float
    high: float
    label: str
    logarithmic: bool = False

    @classmethod
    def over(
        cls, values: Iterable[float], label: str, *, logarithmic: bool = False, pad: float = 0.05
    ) -> Axis:
        """An axis that covers the usable among ``values`` with a margin of ``pad``."""
        usable = [v for v in values if math.isfinite(v) and (v > 0 or not logarithmic)]
        low, high = (min(usable), max(usable)) if usable else (1.0, 2.0)
        if logarithmic:
            if high / low < 10.0:  # less than a decade says nothing on a logarithmic axis
                low, high = low / 3.0, high * 3.0
            return cls(low, high, label, logarithmic=True)
        if high <= low:
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        margin = pad * (high - low)
        return cls(low - margin, high + margin, label)

    def fraction(self, value: float) -> float:
        """Where ``value`` lies, 0 at the low end and 1 at the high end."""
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
        raw = (self.high - self.low) / max(count, 1)
        magnitude = 10.0 ** math.floor(math.log10(raw))
        step = next(m * magnitude for m in (1.0, 2.0, 5.0, 10.0) if m * magnitude >= raw)
        first = math.ceil(self.low / step)
        last = math.floor(self.high / step)
        return [index * step for index in range(first, last + 1)]


@dataclass(frozen=True)
class Frame:
    """The plotting area of one chart."""

    x: Axis
    y: Axis
    title: str  # what a screen reader says

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Pixel position of a data point, limited to the plotting area's height."""
        right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
        below = min(max(self.y.fraction(y), -0.02), 1.02)
        return _LEFT + self.x.fraction(x) * (right - _LEFT), bottom - below * (bottom - _TOP)

    def path(self, xs: Sequence[float], ys: Sequence[float], css: str) -> Markup:
        """A polyline through the points, interrupted where a value is NaN."""
        parts = []
        pen = "M"
        for x, y in zip(xs, ys):
            if not (math.isfinite(x) and math.isfinite(y)):
                pen = "M"
                continue
            column, row = self.point(x, y)
            parts.append(f"{pen}{column:.1f} {row:.1f}")
            pen = "L"
        return Markup('<path class="line {}" d="{}"/>').format(css, "".join(parts))

    def bars(self, edges: Sequence[float], heights: Sequence[float], css: str) -> Markup:
        """A histogram's bars from the lower end of the y axis."""
        base = self.point(edges[0], self.y.low)[1]
        rects = []
        for low, high, height in zip(edges[:-1], edges[1:], heights):
            left, top = self.point(low, height)
            right = self.point(high, height)[0]
            rects.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left - 0.5, 0.5):.1f}"'
                f' height="{max(base - top, 0.0):.1f}"/>'
            )
        return Markup('<g class="bars {}">{}</g>').format(css, Markup("".join(rects)))

    def band(self, low: float, high: float, css: str) -> Markup:
        """A horizontal band over the full width."""
        left, top = self.point(self.x.low, high)
        right, bottom = self.point(self.x.high, low)
        return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
            css, f"{left:.1f}", f"{top:.1f}", f"{right - left:.1f}", f"{bottom - top:.1f}"
        )

    def svg(self, *content: Markup) -> Markup:
        """The whole chart with axes, grid, labels and ``content``."""
        return Markup(
            '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}</svg>'
        ).format(f"{WIDTH:g}", f"{HEIGHT:g}", self.title, self._axes(), Markup("").join(content))

    def _axes(self) -> Markup:
        left, bottom = self.point(self.x.low, self.y.low)
        right, top = self.point(self.x.high, self.y.high)
        parts = []
        for tick in self.x.ticks():
            column = self.point(tick, self.y.low)[0]
            parts.append(
                f'<line class="grid" x1="{column:.1f}" x2="{column:.1f}" y1="{top:.1f}"'
                f' y2="{bottom:.1f}"/><text class="tick" x="{column:.1f}" y="{bottom + 13:.1f}"'
                f' text-anchor="middle">{_tick_text(tick, self.x)}</text>'
            )
        for tick in self.y.ticks():
            row = self.point(self.x.low, tick)[1]
            parts.append(
                f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{row:.1f}"'
                f' y2="{row:.1f}"/><text class="tick" x="{left - 5:.1f}" y="{row + 3.5:.1f}"'
                f' text-anchor="end">{_tick_text(tick, self.y)}</text>'
            )
        middle = 0.5 * (left + right)
        center = 0.5 * (top + bottom)
        parts.append(
            f'<text class="label" x="{middle:.1f}" y="{HEIGHT - 5:.1f}" text-anchor="middle">'
            f"{escape(self.x.label)}</text>"
            f'<text class="label" text-anchor="middle" transform="translate(11 {center:.1f})'
            f' rotate(-90)">{escape(self.y.label)}</text>'
        )
        return Markup("".join(parts))


def _tick_text(tick: float, axis: Axis) -> str:
    text = f"{tick:.4g}"
    if axis.logarithmic or "e" in text:
        mantissa, _, exponent = f"{tick:.0e}".partition("e")
        return f"{mantissa}e{int(exponent)}" if axis.logarithmic or abs(tick) >= 1e5 else text
    return text
