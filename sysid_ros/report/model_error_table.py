# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the table of errors that noise does not explain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.engine.estimation import FitResult, Shift
from sysid_ros.engine.parameters import moves_with
from sysid_ros.report.svg import number, to_error, unit


@dataclass(frozen=True)
class ModelErrorRow:
    """One parameter: its errors, its value at a time step of zero, and its shifts."""

    name: str
    unit: str
    value: str
    extrapolated: str
    statistical: str
    error: str
    scatter: str
    shifts: tuple[tuple[str, bool], ...]  # the text, and whether it is flagged


def model_error_rows(fit: FitResult) -> list[ModelErrorRow]:
    """One row per parameter with an interval; none where nothing was found out."""
    found = fit.model_error
    if found is None:
        return []
    return [
        ModelErrorRow(
            name=parameter.name,
            unit=unit(parameter.unit),
            value=to_error(parameter.value, parameter.standard_error),
            extrapolated=""
            if parameter.extrapolated is None
            else to_error(parameter.extrapolated, parameter.standard_error),
            statistical=number(float(found.statistical[j]), 2),
            error=number(parameter.standard_error, 2),
            scatter=f"{found.scatter[j]:.2g} times",
            shifts=tuple(_shift(shift, j, parameter.flags) for shift in found.shifts),
        )
        for j, parameter in enumerate(fit.parameters)
        if parameter.standard_error is not None
    ]


def _shift(shift: Shift, j: int, flags: tuple[str, ...]) -> tuple[str, bool]:
    value = float(shift.values[j])
    if not np.isfinite(value):
        return "not possible" if shift.problem else "", False
    return f"{value:+.2g}", moves_with(shift.change) in flags
