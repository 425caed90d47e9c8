# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Changes since earlier results of the same model, in one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sysid_ros.judgement import Outcome
from sysid_ros.report.several_results import SIGNIFICANT, standard_errors_apart
from sysid_ros.report.svg import number, percent_change, plural, to_error, unit


@dataclass(frozen=True)
class HistoryRow:
    """One earlier result beside the present one."""

    label: str  # the earlier result's folder
    error: str  # its error, on what it held out or else on what it was fitted to
    unit: str  # of that error
    change: str  # from its error to the present one; empty where they do not compare
    kind: str  # ``"held out"`` or ``"training"``
    same_data: bool  # whether both used the same recordings
    # parameters with another value than uncertainty explains, as ``name: old → new``
    moved: tuple[str, ...]
    freed: tuple[str, ...]  # parameters that only the present result has
    left: tuple[str, ...]  # parameters that only the earlier one has

    @property
    def summary(self) -> str:
        """The changes in a few words."""
        parts = []
        if self.moved:
            parts.append(f"{plural(len(self.moved), 'parameter')} moved")
        if self.freed or self.left:
            parts.append("other parameters were free")
        if not self.same_data:
            parts.append("other recordings were used")
        return ", ".join(parts) or "no parameter moved by more than its uncertainty"


def history_rows(outcome: Outcome, previous: Mapping[str, Outcome]) -> list[HistoryRow]:
    """One row per earlier result, in the order given."""
    return [_row(outcome, label, earlier) for label, earlier in previous.items()]


def _row(outcome: Outcome, label: str, earlier: Outcome) -> HistoryRow:
    now = {p.name: p for p in outcome.fit.parameters}
    then = {p.name: p for p in earlier.fit.parameters}
    moved = []
    for name in (name for name in now if name in then):
        apart = standard_errors_apart(now[name], then[name])
        if apart is not None and apart > SIGNIFICANT:
            old, new = (to_error(p.value, p.standard_error) for p in (then[name], now[name]))
            moved.append(f"{name}: {old} → {new} {unit(now[name].unit)}".rstrip())
    score, before = (o.score for o in (outcome, earlier))
    same_data = set(outcome.input_hashes.values()) == set(earlier.input_hashes.values())
    comparable = same_data and (outcome.validation is None) == (earlier.validation is None)
    return HistoryRow(
        label=label,
        error=number(before.rmse_all, zeros=True) if before else "",
        unit=unit(before.unit_all) if before else "",
        change=percent_change(before.rmse_all, score.rmse_all)
        if before and score and comparable
        else "",
        kind=earlier.scored_on,
        same_data=same_data,
        moved=tuple(moved),
        freed=tuple(name for name in now if name not in then),
        left=tuple(name for name in then if name not in now),
    )
