"""The correlation matrix of the parameters as coloured squares."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from sysid_ros.outcome import FloatArray

_CELL = 34.0
_NUMBERS_UP_TO = 14
_CHARACTER = 6.2  # width of one letter at the labels' size


def heatmap(names: Sequence[str], matrix: FloatArray) -> Markup:
    """Draw ``matrix`` with values in [-1, 1]: orange positive, blue negative.

    Args:
      names: One per row.
      matrix: (n, n).

    Returns:
      An SVG element with the numbers in the cells where there is room.
    """
    count = len(names)
    cell = _CELL if count <= _NUMBERS_UP_TO else 14.0
    margin = 8.0 + _CHARACTER * max(len(name) for name in names)
    parts = []
    for row, name in enumerate(names):
        middle = margin + (row + 0.5) * cell
        parts.append(
            f'<text class="tick" x="{margin - 5:.1f}" y="{middle + 4:.1f}" text-anchor="end">'
            f"{escape(name)}</text>"
            f'<text class="tick" transform="translate({middle + 4:.1f} {margin - 5:.1f})'
            f' rotate(-90)">{escape(name)}</text>'
        )
        for column in range(count):
            parts.append(
                _cell(matrix[row, column], margin + column * cell, middle - 0.5 * cell, cell)
            )
    size = margin + count * cell + 2.0
    return Markup(
        '<svg class="heatmap" width="{0}" height="{0}" viewBox="0 0 {0} {0}" role="img"'
        ' aria-label="Correlation matrix of {1} parameters">{2}</svg>'
    ).format(f"{size:.0f}", count, Markup("".join(parts)))


def _cell(value: float, x: float, y: float, size: float) -> str:
    css = "positive" if value > 0 else "negative"
    rect = (
        f'<rect class="{css}" x="{x:.1f}" y="{y:.1f}" width="{size - 1:g}" height="{size - 1:g}"'
        f' fill-opacity="{min(abs(value), 1.0):.2f}"><title>{value:.3f}</title></rect>'
    )
    if size < _CELL:
        return rect
    strong = " strong" if abs(value) > 0.6 else ""
    return rect + (
        f'<text class="cell{strong}" x="{x + 0.5 * size:.1f}" y="{y + 0.5 * size + 4:.1f}"'
        f' text-anchor="middle">{value:.2f}</text>'
    )
