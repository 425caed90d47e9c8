# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Charts of two parameters: the region of their values, and the cost around the optimum."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitResult, Landscape
from sysid_ros.report.svg.axis import Axis
from sysid_ros.report.svg.element import element, group
from sysid_ros.report.svg.frame import Frame
from sysid_ros.report.svg.numbers import number, with_unit

_CHI_SQUARE_95 = 5.991  # two degrees of freedom
_FAINTEST, _DARKEST, _DIVERGED = 0.04, 0.92, 0.3  # opacity of cells


def ellipse_chart(fit: FitResult, first: str, second: str) -> Markup:
    """The 95 % region of two parameters, from their covariance."""
    x, y = _ellipse(fit, first, second)
    center = [fit[name].value for name in (first, second)]
    frame = Frame(
        Axis.over(x.tolist(), with_unit(first, fit[first].unit)),
        Axis.over(y.tolist(), with_unit(second, fit[second].unit)),
        f"95 % region of {first} and {second}",
    )
    return frame.svg(frame.path(x.tolist(), y.tolist(), "fitted"), frame.dots(*_points(center)))


def landscape_chart(fit: FitResult, landscape: Landscape) -> Markup:
    """The cost over two parameters, dark where it is low, with the optimum and its 95 % region."""
    names = landscape.x_name, landscape.y_name
    x_edges, y_edges = _edges(landscape.x), _edges(landscape.y)
    frame = Frame(
        Axis(float(x_edges[0]), float(x_edges[-1]), with_unit(names[0], fit[names[0]].unit)),
        Axis(float(y_edges[0]), float(y_edges[-1]), with_unit(names[1], fit[names[1]].unit)),
        f"Cost over {names[0]} and {names[1]}: {number(_lowest(landscape))} at the optimum",
    )
    cells = _cells(frame, landscape, x_edges, y_edges)
    ellipse = _ellipse(fit, *names)
    inside = [
        _within(curve, edges) for curve, edges in zip(ellipse, (x_edges, y_edges), strict=True)
    ]
    region = [np.where(inside[0] & inside[1], curve, np.nan) for curve in ellipse]
    return frame.svg(
        group(cells, css="cells"),
        frame.path(region[0].tolist(), region[1].tolist(), "region"),
        frame.dots(*_points(landscape.optimum)),
    )


def _ellipse(fit: FitResult, first: str, second: str) -> tuple[FloatArray, FloatArray]:
    """Points on the edge of the 95 % region; NaN where no error is claimed."""
    names = [parameter.name for parameter in fit.parameters]
    chosen = [names.index(first), names.index(second)]
    covariance = fit.covariance[np.ix_(chosen, chosen)]
    if not np.isfinite(covariance).all():
        return np.full(1, np.nan), np.full(1, np.nan)
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.sqrt(_CHI_SQUARE_95) * np.vstack([np.cos(angle), np.sin(angle)])
    center = np.array([fit.parameters[i].value for i in chosen])
    x, y = center[:, None] + vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    return x, y


def _cells(
    frame: Frame, landscape: Landscape, x_edges: FloatArray, y_edges: FloatArray
) -> list[Markup]:
    """One rectangle per grid point."""
    opacities = _opacities(landscape)
    cells = []
    for row, column in np.ndindex(landscape.cost.shape):
        left, right = frame.column(x_edges[column]), frame.column(x_edges[column + 1])
        top, bottom = frame.row(y_edges[row + 1]), frame.row(y_edges[row])
        cells.append(
            element(
                "rect",
                element("title", _cell_text(landscape, row, column)),
                css="low" if np.isfinite(landscape.cost[row, column]) else "diverged",
                x=left,
                y=top,
                width=right - left,
                height=bottom - top,
                fill_opacity=f"{opacities[row, column]:.2f}",
            )
        )
    return cells


def _opacities(landscape: Landscape) -> FloatArray:
    """Darker the lower the cost, by the logarithm of its rise above the lowest; (m, n)."""
    finite = np.isfinite(landscape.cost)
    rise = np.where(finite, landscape.cost, np.nan) - _lowest(landscape)
    above = rise[finite & (rise > 0.0)]
    low, high = (above.min(), above.max()) if above.size else (1.0, 1.0)
    height = np.log(np.maximum(rise, low) / low) / (np.log(high / low) or 1.0)
    return np.where(finite, _DARKEST - (_DARKEST - _FAINTEST) * height, _DIVERGED)


def _cell_text(landscape: Landscape, row: int, column: int) -> str:
    cost = float(landscape.cost[row, column])
    said = number(cost) if np.isfinite(cost) else "cannot be simulated"
    return f"{number(landscape.x[column])}, {number(landscape.y[row])}: {said}"


def _lowest(landscape: Landscape) -> float:
    finite = landscape.cost[np.isfinite(landscape.cost)]
    return float(finite.min()) if finite.size else np.nan


def _edges(values: FloatArray) -> FloatArray:
    """Edges between increasing values, (n + 1,), so that each value lies within its own two."""
    if values.size == 1 or values[0] == values[-1]:
        half = 0.5 * abs(values[0]) or 0.5
        return np.linspace(values[0] - half, values[0] + half, values.size + 1)
    middles = 0.5 * (values[1:] + values[:-1])
    first = values[0] - (middles[0] - values[0])
    last = values[-1] + (values[-1] - middles[-1])
    return np.concatenate([[first], middles, [last]])


def _within(values: FloatArray, edges: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    with np.errstate(invalid="ignore"):
        return np.asarray((values >= edges[0]) & (values <= edges[-1]))


def _points(pair: tuple[float, float] | list[float]) -> tuple[list[float], list[float]]:
    return [float(pair[0])], [float(pair[1])]
