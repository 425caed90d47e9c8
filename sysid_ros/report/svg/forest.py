# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""One parameter's estimates below each other, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from sysid_ros.report.svg.axis import Axis
from sysid_ros.report.svg.element import element
from sysid_ros.report.svg.numbers import number
from sysid_ros.sysid.fit_result import ParameterEstimate

_WIDTH = 180.0
_ROW = 12.0


def forest(estimates: Sequence[ParameterEstimate | None]) -> Markup:
    """Draw the 95 % intervals and values of one parameter on a common scale.

    Args:
      estimates: One per result, ``None`` where a result lacks the parameter.

    Returns:
      An SVG element with one line per result, from top to bottom.
    """
    known = [p for p in estimates if p is not None and math.isfinite(p.value)]
    ends = [end for p in known for end in (p.value, *(p.interval() or ()))]
    axis = Axis.over(ends, "")
    parts = []
    for row, parameter in enumerate(estimates):
        middle = (row + 0.5) * _ROW
        parts.append(element("line", css="grid", x1=0.0, x2=_WIDTH, y1=middle, y2=middle))
        if parameter is None or not math.isfinite(parameter.value):
            continue
        interval = parameter.interval()
        if interval is not None:
            start, end = (_WIDTH * axis.fraction(value) for value in interval)
            width = max(end - start, 1.5)
            parts.append(
                element("rect", css="interval", x=start, y=middle - 2.5, width=width, height=5.0)
            )
        place = _WIDTH * axis.fraction(parameter.value)
        parts.append(
            element("line", css="value", x1=place, x2=place, y1=middle - 5.0, y2=middle + 5.0)
        )
    height = _ROW * len(estimates)
    return element(
        "svg",
        *parts,
        css="forest",
        width=_WIDTH,
        height=height,
        viewBox=f"0 0 {_WIDTH:g} {height:g}",
        role="img",
        aria_label="Values: "
        + ", ".join("none" if p is None else number(p.value) for p in estimates),
    )
