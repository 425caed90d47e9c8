"""A parameter between its bounds, as a bar that fits into a table cell."""

from __future__ import annotations

import math

from markupsafe import Markup

from sysid_ros.report.numbers import number
from sysid_ros.sysid.fit_result import ParameterEstimate

_WIDTH = 140.0
_HEIGHT = 18.0
_MARGIN = 5.0


def bounds_bar(parameter: ParameterEstimate) -> Markup:
    """Draw value, start and 95 % interval on the line between the bounds.

    A side without a bound ends where the numbers end, without a stop.
    """
    interval = parameter.interval()
    inside = [parameter.value, parameter.initial, *(interval or ())]
    low, high = _range(parameter, [value for value in inside if math.isfinite(value)])

    def column(value: float) -> float:
        fraction = min(max((value - low) / (high - low), 0.0), 1.0)
        return _MARGIN + fraction * (_WIDTH - 2.0 * _MARGIN)

    middle = 0.5 * _HEIGHT
    left, right = column(low), column(high)
    parts = [f'<line class="track" x1="{left:.1f}" x2="{right:.1f}" y1="{middle}" y2="{middle}"/>']
    for bound, place in ((parameter.lower, left), (parameter.upper, right)):
        if math.isfinite(bound):
            parts.append(
                f'<line class="stop" x1="{place:.1f}" x2="{place:.1f}" y1="{middle - 5}"'
                f' y2="{middle + 5}"/>'
            )
    if interval is not None:
        start, end = column(interval[0]), column(interval[1])
        parts.append(
            f'<rect class="interval" x="{start:.1f}" y="{middle - 3}"'
            f' width="{max(end - start, 1.5):.1f}" height="6"/>'
        )
    if math.isfinite(parameter.initial):
        place = column(parameter.initial)
        parts.append(f'<circle class="start" r="3.5" cx="{place:.1f}" cy="{middle}"/>')
    if math.isfinite(parameter.value):
        place = column(parameter.value)
        parts.append(
            f'<line class="value" x1="{place:.1f}" x2="{place:.1f}" y1="2" y2="{_HEIGHT - 2}"/>'
        )
    label = (
        f"{number(parameter.value)} between {number(parameter.lower)} and "
        f"{number(parameter.upper)}, started at {number(parameter.initial)}"
    )
    return Markup(
        '<svg class="bounds" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(f"{_WIDTH:g}", f"{_HEIGHT:g}", label, Markup("".join(parts)))


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
