# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The plotting area of a chart: from data to pixels, with axes, grid and labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sysid_ros.report.svg.axis import Axis
from sysid_ros.report.svg.element import element, group, picture, text, turned_text, within

WIDTH = 290.0
HEIGHT = 190.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, WIDTH - 8.0, 8.0, HEIGHT - 38.0
_LETTER = 6.0  # pixels of one of a label, at the most
_LONG = 6  # letters of a tick from which on fewer of them stand side by side


@dataclass(frozen=True)
class Frame:
    """One chart's axes; ``title`` is what a screen reader says."""

    x: Axis
    y: Axis
    title: str

    @classmethod
    def to_scale(
        cls, xs: Sequence[float], ys: Sequence[float], labels: tuple[str, str], title: str
    ) -> Frame:
        """A frame over points in which a length is as long across as up."""
        x, y = Axis.over(xs, labels[0]), Axis.over(ys, labels[1])
        per_pixel = max((x.high - x.low) / (_RIGHT - _LEFT), (y.high - y.low) / (_BOTTOM - _TOP))
        return cls(
            x.widened(per_pixel * (_RIGHT - _LEFT)), y.widened(per_pixel * (_BOTTOM - _TOP)), title
        )

    def column(self, x: float) -> float:
        """Horizontal pixel position of a data value."""
        return _LEFT + self.x.fraction(x) * (_RIGHT - _LEFT)

    def row(self, y: float) -> float:
        """Vertical pixel position of a data value, kept within the plotting area."""
        return _BOTTOM - min(max(self.y.fraction(y), -0.02), 1.02) * (_BOTTOM - _TOP)

    def path(self, xs: Sequence[float], ys: Sequence[float], css: str) -> Markup:
        """A polyline through the points, interrupted where a value is NaN."""
        parts = []
        pen = "M"
        for x, y in zip(xs, ys, strict=True):
            if math.isfinite(x) and math.isfinite(y):
                parts.append(f"{pen}{self.column(x):.1f} {self.row(y):.1f}")
                pen = "L"
            else:
                pen = "M"
        return element("path", css=f"line {css}", d="".join(parts))

    def dots(self, xs: Sequence[float], ys: Sequence[float]) -> Markup:
        """A dot at each point."""
        return group(
            element("circle", css="dot", r=2.5, cx=self.column(x), cy=self.row(y))
            for x, y in zip(xs, ys, strict=True)
            if math.isfinite(x) and math.isfinite(y)
        )

    def bars(self, edges: Sequence[float], heights: Sequence[float]) -> Markup:
        """A histogram's bars from the lower end of the y axis; ``edges`` has one more entry."""
        return group(
            (
                element(
                    "rect",
                    x=self.column(low),
                    y=self.row(height),
                    width=max(self.column(high) - self.column(low) - 0.5, 0.5),
                    height=max(_BOTTOM - self.row(height), 0.0),
                )
                for low, high, height in zip(edges[:-1], edges[1:], heights, strict=True)
            ),
            css="bars fitted",
        )

    def band(self, low: float, high: float) -> Markup:
        """A horizontal band over the full width."""
        top, bottom = self.row(high), self.row(low)
        width = _RIGHT - _LEFT
        return element("rect", css="band", x=_LEFT, y=top, width=width, height=bottom - top)

    def area(self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> Markup:
        """The area between two curves, interrupted where either is NaN."""
        parts = []
        run: list[tuple[float, float, float]] = []
        for point in [*zip(xs, lows, highs, strict=True), (math.nan,) * 3]:
            if all(math.isfinite(value) for value in point):
                run.append(point)
            elif run:
                corners = [(x, high) for x, _, high in run] + [(x, low) for x, low, _ in run[::-1]]
                parts.append(
                    "M" + "L".join(f"{self.column(x):.1f} {self.row(y):.1f}" for x, y in corners)
                )
                run = []
        return element("path", css="band", d="Z".join(parts))

    def svg(self, *content: Markup) -> Markup:
        """The whole chart."""
        axes = [*self._vertical_grid(), *self._horizontal_grid(), *self._labels()]
        return picture([*axes, *content], WIDTH, HEIGHT, self.title, css="chart")

    def _vertical_grid(self) -> list[Markup]:
        parts = []
        ticks = self.x.ticks()
        if any(len(self.x.tick_text(tick)) > _LONG for tick in ticks):
            fewer = self.x.ticks(3)  # one alone would leave the scale open
            ticks = fewer if len(fewer) > 1 else ticks[:: 2 if len(ticks) > 3 else 1]
        for tick in ticks:
            x, label = self.column(tick), self.x.tick_text(tick)
            parts.append(element("line", css="grid", x1=x, x2=x, y1=_TOP, y2=_BOTTOM))
            inside = min(x, WIDTH - 0.5 * _LETTER * len(label))
            parts.append(text(label, inside, _BOTTOM + 13.0, css="tick"))
        return parts

    def _horizontal_grid(self) -> list[Markup]:
        parts = []
        for tick in self.y.ticks():
            y = self.row(tick)
            parts.append(element("line", css="grid", x1=_LEFT, x2=_RIGHT, y1=y, y2=y))
            label = self.y.tick_text(tick)
            parts.append(text(label, _LEFT - 5.0, y + 3.5, css="tick", anchor="end"))
        return parts

    def _labels(self) -> list[Markup]:
        middle, center = 0.5 * (_LEFT + _RIGHT), 0.5 * (_TOP + _BOTTOM)
        half = 0.5 * _LETTER * len(self.y.label)
        across, up = (
            within(label, room - 2.0, _LETTER)
            for label, room in ((self.x.label, WIDTH), (self.y.label, HEIGHT))
        )
        center = min(max(center, half), 0.5 * HEIGHT)
        return [
            text(self.x.label, middle, HEIGHT - 5.0, css="label", anchor="middle", **across),
            turned_text(self.y.label, 11.0, center, css="label", anchor="middle", **up),
        ]
