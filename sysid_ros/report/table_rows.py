# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the report's tables, with every number already in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.estimation import (
    BiasCheck,
    FitResult,
    Refit,
    Shift,
    WindowCheck,
    WindowEstimate,
)
from sysid_ros.engine.parameters import FROM_THE_PRIOR, MAY_BE_ZERO, moves_with
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.files import yaml_line
from sysid_ros.judgement import (
    Outcome,
    PredictionError,
    Score,
    SequenceFit,
    SignalFit,
    prediction_errors,
)
from sysid_ros.recording.bags import FASTEST_CLOCK
from sysid_ros.recording.mapping import TopicQuality
from sysid_ros.report.svg import bounds_bar, number, to_error, unit, with_unit

_TELLING = 1000.0  # %, beyond which a value is as good as zero


@dataclass(frozen=True)
class ParameterRow:
    """One parameter; ``sort`` has the numbers behind the texts."""

    name: str
    unit: str
    value: str
    initial: str
    interval: str
    relative: str  # half the interval relative to the value
    bar: Markup
    flags: tuple[str, ...]
    value_sort: float
    initial_sort: float
    relative_sort: float


def clock_relation(topic: TopicQuality) -> str:
    """The offset of a topic's clock from the recorder's and its drift, in words."""
    if topic.clock_offset is None or topic.clock_drift is None:
        return ""
    if abs(topic.clock_drift) > FASTEST_CLOCK:  # of a simulation, whose zero means nothing either
        return "not the recorder's time"
    offset, drift = number(1e3 * topic.clock_offset, 3), number(1e6 * topic.clock_drift, 2)
    return f"{offset} ms, {drift} ppm{', corrected' if topic.clock_corrected else ''}"


def parameter_rows(fit: FitResult) -> list[ParameterRow]:
    """One row per parameter, in the fit's order, coordinates of inertias behind all others.

    Such a coordinate has no unit and means nothing by itself.
    """
    rows = [_parameter_row(parameter) for parameter in fit.parameters]
    return sorted(rows, key=lambda row: is_coordinate(row.name, row.unit))


def is_coordinate(parameter: str, unit_text: str) -> bool:
    """True of a coordinate of an inertia, by its name and unit: one of several without a unit."""
    return not unit_text and parameter.endswith("]")


def unclaimed_rows(fit: FitResult) -> list[ParameterRow]:
    """The rows of parameters at a bound, and of those that the data alone does not determine."""
    open_flags = {FROM_THE_PRIOR, MAY_BE_ZERO}
    return [_parameter_row(p) for p in fit.parameters if p.vague or open_flags & {*p.flags}]


def _parameter_row(parameter: ParameterEstimate) -> ParameterRow:
    error = parameter.standard_error
    interval = parameter.interval()
    relative = math.inf if parameter.relative is None else 100.0 * parameter.relative
    return ParameterRow(
        name=parameter.name,
        unit=unit(parameter.unit),
        value=to_error(parameter.value, error),
        initial=number(parameter.initial),
        interval=""
        if interval is None
        else f"{to_error(interval[0], error)} … {to_error(interval[1], error)}",
        relative=f"±{number(relative, 2)} %" if relative < _TELLING else "",
        bar=bounds_bar(parameter),
        flags=parameter.flags,
        value_sort=parameter.value,
        initial_sort=parameter.initial,
        relative_sort=relative if math.isfinite(relative) else 1e300,
    )


def parameters_as_yaml(fit: FitResult) -> str:
    """``name: value  # unit`` per line, for the clipboard."""
    lines = []
    for parameter in fit.parameters:
        pair = f"{yaml_line(parameter.name)}: {yaml_line(parameter.value)}"
        lines.append(f"{pair}  # {parameter.unit}" if parameter.unit else pair)
    return "\n".join(lines) + "\n"


def errors(score: Score | None, outcome: Outcome) -> list[PredictionError]:
    """The errors of each signal of ``score``, of several those of all, and of joints' torques."""
    if score is None:
        return []
    found = prediction_errors(score, outcome.fit.noise, outcome.torques)
    if len(score.rmse) == 1:  # the second is the same once more
        del found[1]
    return found


@dataclass(frozen=True)
class SequenceRow:
    """One sequence with the error of each signal; empty text where it lacks one."""

    index: int
    name: str
    role: str
    duration: str
    errors: tuple[tuple[str, str], ...]  # (before, after) per signal name


def sequence_rows(sequences: Sequence[SequenceFit]) -> tuple[list[str], list[SequenceRow]]:
    """The signal names (with units) and one row per sequence.

    Returns:
      Column headings and rows; the errors are root mean squares over the instants that have
      both a measurement and a prediction.
    """
    units = {s.name: s.unit for sequence in sequences for s in sequence.signals}
    rows = []
    for index, sequence in enumerate(sequences):
        by_name = {signal.name: signal for signal in sequence.signals}
        rows.append(
            SequenceRow(
                index=index,
                name=sequence.name,
                role=sequence.role,
                duration=f"{_length(sequence):.1f} s",
                errors=tuple(_errors(by_name.get(name)) for name in units),
            )
        )
    return [with_unit(name, text) for name, text in units.items()], rows


def first_shown(sequences: Sequence[SequenceFit]) -> int:
    """The index of the longest sequence that was held out, or else that was fitted."""
    held_out = any(s.role == "validation" for s in sequences)
    eligible = [i for i, s in enumerate(sequences) if s.role == "validation" or not held_out]
    return max(eligible, key=lambda i: round(_length(sequences[i]), 1))


def _length(sequence: SequenceFit) -> float:
    spans = [(float(s.times[0]), float(s.times[-1])) for s in sequence.signals if s.times.size]
    return max(b for _, b in spans) - min(a for a, _ in spans) if spans else 0.0


def _errors(signal: SignalFit | None) -> tuple[str, str]:
    if signal is None:
        return "", ""
    before = _rmse(signal.measured - signal.initial)
    after = _rmse(signal.measured - signal.fitted)
    return number(before, 3, zeros=True), number(after, 3, zeros=True)


def _rmse(residual: FloatArray) -> float:
    known = residual[np.isfinite(residual)]
    return float(np.sqrt(np.mean(np.square(known)))) if known.size else math.nan


@dataclass(frozen=True)
class Correlations:
    """The parameters that have an error, and how their errors hang together."""

    names: tuple[str, ...]
    matrix: FloatArray  # (n, n)
    left_out: tuple[str, ...]
    strongest: tuple[tuple[str, str, str], ...]  # all pairs with their correlation, in order
    strong: tuple[tuple[str, str, str], ...]  # those above the threshold


def correlations(fit: FitResult, *, strong: float = 0.9) -> Correlations:
    """Correlation matrix of the parameters' errors, from the covariance."""
    variances = np.diag(fit.covariance)
    usable = np.flatnonzero(np.isfinite(variances) & (variances > 0.0))
    names = [parameter.name for parameter in fit.parameters]
    deviations = np.sqrt(variances[usable])
    matrix = fit.covariance[np.ix_(usable, usable)] / np.outer(deviations, deviations)
    kept = tuple(names[i] for i in usable)
    pairs = sorted(
        (
            (abs(matrix[i, j]), kept[i], kept[j], f"{matrix[i, j]:.2f}")
            for i in range(len(kept))
            for j in range(i)
        ),
        reverse=True,
    )
    return Correlations(
        names=kept,
        matrix=np.nan_to_num(matrix),
        left_out=tuple(name for i, name in enumerate(names) if i not in usable),
        strongest=tuple((a, b, text) for _, a, b, text in pairs),
        strong=tuple((a, b, text) for size, a, b, text in pairs if size >= strong),
    )


def refit_shift(check: BiasCheck, refit: Refit, k: int) -> tuple[str, str, bool]:
    """The shift of one parameter by a refit, the same in halves of the interval, and a flag."""
    shift = float(refit.values[k] - check.values[k])
    if not math.isfinite(shift):
        return "not possible", "", False
    half_width = float(check.half_widths[k])
    relative = f"{abs(shift) / half_width:.2g} times" if half_width > 0.0 else ""
    return f"{shift:+.2g}", relative, check.names[k] in check.moved(refit)


def error_shift(shift: Shift, k: int, flags: tuple[str, ...]) -> tuple[str, bool]:
    """The shift of one parameter to first order, and whether it is flagged."""
    value = float(shift.values[k])
    if not math.isfinite(value):
        return "not possible" if shift.problem else "", False
    return f"{value:+.2g}", moves_with(shift.change) in flags


def window_estimate(check: WindowCheck, each: WindowEstimate, k: int) -> tuple[str, str, bool]:
    """One parameter by one cut, its interval, and whether that is apart from the fit's own."""
    value, low, high = float(each.values[k]), float(each.lower[k]), float(each.upper[k])
    if not math.isfinite(value):
        return "not possible", "", False
    interval = f"{number(low)} to {number(high)}" if math.isfinite(low) else ""
    return number(value), interval, check.names[k] in check.apart(check.estimates[0], each)
