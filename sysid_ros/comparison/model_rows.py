# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of a comparison's tables, on a terminal and in a page."""

from __future__ import annotations

from dataclasses import dataclass

from sysid_ros.comparison.compare import Comparison
from sysid_ros.report import number


@dataclass(frozen=True)
class ModelRow:
    """One model with its errors on what was held out; ``bic`` is above the lowest."""

    name: str
    parameters: int
    rmse: str
    untuned: str
    unit: str
    bic: str
    p_worse: str
    note: str


@dataclass(frozen=True)
class JointRow:
    """One joint with the error of every model and the one that is chosen for it."""

    name: str
    chosen: str
    errors: tuple[str, ...]
    unit: str
    reason: str


def model_rows(comparison: Comparison) -> list[ModelRow]:
    """One row per model that was fitted."""
    least = min(comparison.bic.values())
    rows = []
    for name, outcome in comparison.outcomes.items():
        score = outcome.validation
        rows.append(
            ModelRow(
                name=name,
                parameters=len(outcome.fit.parameters),
                rmse=number(score.rmse_all if score else None, zeros=True),
                untuned=number(score.rmse_all_initial if score else None, zeros=True),
                unit=score.unit_all if score else "",
                bic=f"{comparison.bic[name] - least:.1f}",
                p_worse=number(comparison.overall.p_worse[name], 2),
                note=", ".join(_notes(comparison, name)),
            )
        )
    return rows


def joint_rows(comparison: Comparison) -> list[JointRow]:
    """One row per joint."""
    return [
        JointRow(
            name=joint,
            chosen=found.chosen or "-",
            errors=tuple(number(found.rmse[name], zeros=True) for name in comparison.outcomes),
            unit=found.unit,
            reason=found.reason,
        )
        for joint, found in comparison.joints.items()
    ]


def _notes(comparison: Comparison, name: str) -> list[str]:
    """Return remarks about one model beside its numbers."""
    found = []
    if name == comparison.overall.chosen:
        found.append("chosen")
    if name == comparison.overall.best:
        found.append("predicts best")
    if comparison.bic[name] == min(comparison.bic.values()):
        found.append("lowest BIC")
    return found
