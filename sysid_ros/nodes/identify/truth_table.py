# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identified parameters against the truth, where a simulation knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from sysid_ros.engine.estimation import FitResult
from sysid_ros.engine.uncertainty import ParameterEstimate
from sysid_ros.terminal import plain_table, plain_text

RELATIVE_TOLERANCE = 0.05
LEVEL = 0.99  # of the interval that may hold the truth instead


@dataclass(frozen=True)
class TruthRow:
    """One parameter with its true value."""

    name: str
    truth: float
    estimate: ParameterEstimate | None  # None: it was not identified at all

    @property
    def identifiable(self) -> bool:
        """True if the data determines the parameter."""
        return self.estimate is None or not self.estimate.unidentifiable

    @property
    def close(self) -> bool:
        """True if the estimate lies within 5 % of the truth, or its 99 % interval around it."""
        if self.estimate is None:
            return False
        if abs(self.estimate.value - self.truth) <= RELATIVE_TOLERANCE * abs(self.truth):
            return True
        interval = self.estimate.interval(LEVEL)
        return interval is not None and interval[0] <= self.truth <= interval[1]


def compare(fit: FitResult, truth: Mapping[str, float]) -> tuple[TruthRow, ...]:
    """Set every true value beside its estimate."""
    estimates = {estimate.name: estimate for estimate in fit.parameters}
    return tuple(TruthRow(name, value, estimates.get(name)) for name, value in truth.items())


def all_close(rows: tuple[TruthRow, ...]) -> bool:
    """Return whether every parameter that the data determines was found, and one at least."""
    judged = [row.close for row in rows if row.identifiable]
    return bool(judged) and all(judged)


def truth_table(rows: tuple[TruthRow, ...]) -> Table:
    """The comparison for a terminal."""
    table = plain_table("parameter", "true", "identified", "95 % interval", "unit", "error", "")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: TruthRow) -> tuple[str | Text, ...]:
    name = plain_text(row.name)
    if row.estimate is None:
        return name, f"{row.truth:.4g}", "-", "-", "", "", Text("missing", style="red")
    interval = row.estimate.interval()
    shown = "-" if interval is None else f"{interval[0]:.4g} .. {interval[1]:.4g}"
    error = f"{row.estimate.value / row.truth - 1.0:+.2%}" if row.truth else "-"
    if not row.identifiable:
        mark = Text("not identifiable", style="yellow")
    else:
        mark = Text("ok", style="green") if row.close else Text("off", style="red")
    unit = plain_text(row.estimate.unit)
    return name, f"{row.truth:.4g}", f"{row.estimate.value:.4g}", shown, unit, error, mark
