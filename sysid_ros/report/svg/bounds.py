# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A parameter between its bounds, as a bar that fits into a table cell."""

from __future__ import annotations

import math

from markupsafe import Markup

from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.report.svg.element import element, picture
from sysid_ros.report.svg.numbers import number

_WIDTH = 140.0
_HEIGHT = 18.0
_MARGIN = 5.0


def bounds_bar(parameter: ParameterEstimate) -> Markup:
    """Draw value, start and 95 % interval on the line between the bounds.

    A side without a bound ends where the numbers end, without a stop.
    """
    interval = parameter.interval() if math.isfinite(parameter.value) else None
    inside = [parameter.value, parameter.initial, *(interval or ())]
    low, high = _range(parameter, [value for value in inside if math.isfinite(value)])

    def column(value: float) -> float:
        fraction = min(max((value - low) / (high - low), 0.0), 1.0)
        return _MARGIN + fraction * (_WIDTH - 2.0 * _MARGIN)

    middle = 0.5 * _HEIGHT
    parts = [element("line", css="track", x1=column(low), x2=column(high), y1=middle, y2=middle)]
    for bound in (parameter.lower, parameter.upper):
        if math.isfinite(bound):
            parts.append(_stroke("stop", column(bound), middle - 5.0, middle + 5.0))
    if interval is not None:
        start, end = column(interval[0]), column(interval[1])
        width = max(end - start, 1.5)
        parts.append(
            element("rect", css="interval", x=start, y=middle - 3.0, width=width, height=6.0)
        )
    if math.isfinite(parameter.initial):
        start = column(parameter.initial)
        parts.append(element("circle", css="start", r=3.5, cx=start, cy=middle))
    if math.isfinite(parameter.value):
        parts.append(_stroke("value", column(parameter.value), 2.0, _HEIGHT - 2.0))
    label = (
        f"{number(parameter.value)} between {number(parameter.lower)} and "
        f"{number(parameter.upper)}, started at {number(parameter.initial)}"
    )
    return picture(parts, _WIDTH, _HEIGHT, label, css="bounds")


def _stroke(css: str, x: float, top: float, bottom: float) -> Markup:
    return element("line", css=css, x1=x, x2=x, y1=top, y2=bottom)


def _range(parameter: ParameterEstimate, inside: list[float]) -> tuple[float, float]:
    """The bounds, with missing ones replaced by what the numbers need."""
    low, high = parameter.lower, parameter.upper
    if not math.isfinite(low):
        low = min([*inside, 0.0] if math.isfinite(high) or not inside else inside)
    if not math.isfinite(high):
        high = max(inside or [low + 1.0])
    if high <= low:
        low, high = low - 0.5, high + 0.5
    return low, high
