# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The correlation matrix of the parameters as coloured squares."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from sysid_ros.arrays import FloatArray
from sysid_ros.report.svg.element import element, text, turned_text

_CELL = 34.0
_NUMBERS_UP_TO = 14
_CHARACTER = 6.2  # width of one letter at the labels' size


def heatmap(names: Sequence[str], matrix: FloatArray) -> Markup:
    """Draw a matrix (n, n) with values in [-1, 1]: orange positive, blue negative; a name a row.

    Returns:
      An SVG element with the numbers in the cells where there is room.
    """
    count = len(names)
    cell = _CELL if count <= _NUMBERS_UP_TO else 14.0
    margin = 8.0 + _CHARACTER * max(len(name) for name in names)
    parts = []
    for row, name in enumerate(names):
        middle = margin + (row + 0.5) * cell
        parts.append(text(name, margin - 5.0, middle + 4.0, css="tick", anchor="end"))
        parts.append(turned_text(name, middle + 4.0, margin - 5.0, css="tick", anchor="start"))
        for column in range(count):
            left = margin + column * cell
            parts.extend(_cell(float(matrix[row, column]), left, middle - 0.5 * cell, cell))
    size = f"{margin + count * cell + 2.0:.0f}"
    return element(
        "svg",
        *parts,
        css="heatmap",
        width=size,
        height=size,
        viewBox=f"0 0 {size} {size}",
        role="img",
        aria_label=f"Correlation matrix of {count} parameters",
    )


def _px(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")


def _cell(value: float, x: float, y: float, size: float) -> list[Markup]:
    # Numbers alone need no escaping, and a hundred parameters make ten thousand cells.
    square = Markup(  # noqa: S704
        f'<rect class="{"positive" if value > 0.0 else "negative"}" x="{_px(x)}" y="{_px(y)}" '
        f'width="{_px(size - 1.0)}" height="{_px(size - 1.0)}" '
        f'fill-opacity="{min(abs(value), 1.0):.2f}"><title>{value:.3f}</title></rect>'
    )
    if size < _CELL:
        return [square]
    css = "cell strong" if abs(value) > 0.6 else "cell"
    center, base = x + 0.5 * size, y + 0.5 * size + 4.0
    return [square, text(f"{round(value, 2) + 0.0:.2f}", center, base, css=css)]
