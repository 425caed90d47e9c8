# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The report's static charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.least_squares import Iteration
from sysid_ros.judgement import ResidualDiagnostics, ResidualTrend
from sysid_ros.report.svg.axis import Axis
from sysid_ros.report.svg.frame import Frame
from sysid_ros.report.svg.numbers import unit, with_unit


def rounds(trace: Sequence[Iteration]) -> list[list[Iteration]]:
    """Cut a trace where the iterations start again, as after a new estimate of the noise.

    Costs compare within a round only: the noise levels scale them.
    """
    parts: list[list[Iteration]] = []
    for step in trace:
        if not parts or step.iteration <= parts[-1][-1].iteration:
            parts.append([])
        parts[-1].append(step)
    return parts


def cost_chart(trace: Sequence[Iteration]) -> Markup:
    """Cost over iterations on a logarithmic axis, one line per round."""
    frame = Frame(
        Axis.over([float(step.iteration) for step in trace], "iteration", pad=0.02),
        Axis.over([step.cost for step in trace], "cost", logarithmic=True),
        f"Cost over iterations, from {trace[0].cost:.4g} to {trace[-1].cost:.4g}",
    )
    parts = []
    for part in rounds(trace):
        numbers = [float(step.iteration) for step in part]
        costs = [step.cost for step in part]
        parts += [frame.path(numbers, costs, "fitted"), frame.dots(numbers, costs)]
    return frame.svg(*parts)


def parameter_chart(fit: FitResult, index: int) -> Markup:
    """One parameter's value over iterations."""
    numbers = [float(step.iteration) for step in fit.trace]
    values = [float(step.values[index]) for step in fit.trace]
    name = fit.trace[0].names[index]
    units = {parameter.name: parameter.unit for parameter in fit.parameters}
    label = with_unit(name, units.get(name, ""))
    frame = Frame(
        Axis.over(numbers, "iteration", pad=0.02),
        Axis.over(values, label),
        f"{label} over iterations, from {values[0]:.4g} to {values[-1]:.4g}",
    )
    return frame.svg(frame.path(numbers, values, "fitted"))


def histogram_chart(entry: ResidualDiagnostics) -> Markup:
    """Distribution of the residual, before and after, with the normal one of equal spread."""
    edges = entry.bin_edges
    middles = 0.5 * (edges[:-1] + edges[1:])
    normal = np.exp(-0.5 * ((middles - entry.mean) / entry.std) ** 2)
    normal /= entry.std * np.sqrt(2.0 * np.pi)
    top = 1.08 * float(max(entry.density.max(), normal.max()))
    frame = Frame(
        Axis(float(edges[0]), float(edges[-1]), f"{entry.signal} residual [{unit(entry.unit)}]"),
        Axis(0.0, top, "density"),
        f"Distribution of the residual of {entry.signal}: standard deviation {entry.std:.3g} "
        f"{unit(entry.unit)}, mean {entry.mean:.3g} {unit(entry.unit)}",
    )
    return frame.svg(
        frame.bars(edges.tolist(), entry.density.tolist()),
        frame.path(middles.tolist(), entry.density_initial.tolist(), "initial"),
        frame.path(middles.tolist(), normal.tolist(), "reference"),
    )


def normal_chart(entry: ResidualDiagnostics) -> Markup:
    """Quantiles of the residual against a normal distribution's; a straight line is normal."""
    x, y = entry.quantiles, entry.residual_quantiles
    frame = Frame(
        Axis.over(x.tolist(), "normal quantile"),
        Axis.over([*y.tolist(), *x.tolist()], "residual quantile"),
        f"Normal plot of the residual of {entry.signal}",
    )
    ends = [float(x[0]), float(x[-1])]
    return frame.svg(
        frame.path(ends, ends, "reference"), frame.path(x.tolist(), y.tolist(), "fitted")
    )


def autocorrelation_chart(entry: ResidualDiagnostics) -> Markup:
    """Autocorrelation with the band of a white residual."""
    frame = Frame(
        Axis(0.0, max(float(entry.lags[-1]), 1e-9), "lag [s]"),
        Axis(min(-0.25, 1.1 * float(entry.autocorrelation.min())), 1.05, "autocorrelation"),
        f"Autocorrelation of the residual of {entry.signal}",
    )
    return frame.svg(
        frame.band(-entry.white_limit, entry.white_limit),
        frame.path([0.0, float(entry.lags[-1])], [0.0, 0.0], "zero"),
        frame.path(entry.lags.tolist(), entry.autocorrelation.tolist(), "fitted"),
    )


def spectrum_chart(entry: ResidualDiagnostics) -> Markup:
    """Power density of the residual."""
    frame = Frame(
        Axis(float(entry.frequencies[0]), float(entry.frequencies[-1]), "frequency [Hz]", True),
        Axis.over(entry.spectrum.tolist(), f"[{unit(entry.unit)}²/Hz]", logarithmic=True),
        f"Spectrum of the residual of {entry.signal}",
    )
    return frame.svg(frame.path(entry.frequencies.tolist(), entry.spectrum.tolist(), "fitted"))


def trend_chart(trend: ResidualTrend) -> Markup:
    """The residual's mean and its middle 90 % against velocity or torque."""
    middles = (0.5 * (trend.edges[:-1] + trend.edges[1:])).tolist()
    frame = Frame(
        Axis(
            float(trend.edges[0]),
            float(trend.edges[-1]),
            f"{trend.against} [{unit(trend.against_unit)}]",
        ),
        Axis.over([*trend.low.tolist(), *trend.high.tolist(), 0.0], f"[{unit(trend.unit)}]"),
        f"Residual of {trend.signal} against the {trend.against} of its joint",
    )
    return frame.svg(
        frame.area(middles, trend.low.tolist(), trend.high.tolist()),
        frame.path([float(trend.edges[0]), float(trend.edges[-1])], [0.0, 0.0], "zero"),
        frame.path(middles, trend.mean.tolist(), "fitted"),
    )


def singular_value_chart(values: FloatArray) -> Markup:
    """Singular values from the best determined combination of parameters to the worst."""
    positive = values[values > 0.0]
    low, high = (positive.min(), positive.max()) if positive.size else (1.0, 1.0)
    frame = Frame(
        Axis(0.5, values.size + 0.5, "combination"),
        Axis(0.3 * float(low), 2.0 * float(high), "singular value", logarithmic=True),
        "Singular values of the scaled Jacobian: " + ", ".join(f"{v:.3g}" for v in values),
    )
    edges = [0.5 + i for i in range(values.size + 1)]
    return frame.svg(frame.bars(edges, values.tolist()))


def limited_chart(
    times: Sequence[float],
    values: Sequence[float],
    limits: Sequence[float],
    label: str,
    other: Sequence[float] = (),
) -> Markup:
    """A quantity over time between its limits, of which infinite ones are left out.

    ``other`` is what it is elsewhere, at the same instants, if anything.
    """
    shown = [limit for limit in limits if np.isfinite(limit)]
    ends = [times[0], times[-1]]
    peak = max(values, key=abs)
    frame = Frame(
        Axis.over(times, "s", pad=0.0),
        Axis.over([*values, *other, *shown], label),
        f"{label} over time, at most {peak:.4g}; limits {', '.join(f'{x:.4g}' for x in shown)}",
    )
    lines = [frame.path(ends, [limit, limit], "reference") for limit in shown]
    if other:
        lines.append(frame.path(times, other, "initial"))
    return frame.svg(*lines, frame.path(times, values, "fitted"))
