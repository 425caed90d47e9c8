# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A comparison of models as a table in the terminal."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.table import Table

from sysid_ros.comparison.compare import Comparison
from sysid_ros.report import number
from sysid_ros.terminal import console_for, plain_table, plain_text


def print_comparison(comparison: Comparison, *, stream: TextIO | None = None) -> None:
    """Print every model's size and errors, the choice and the warnings.

    Args:
      comparison: What was compared.
      stream: Where to write; standard output by default.
    """
    console = console_for(sys.stdout if stream is None else stream)
    console.print(_models(comparison))
    if len(comparison.joints) > 1:
        console.print(_joints(comparison))
    overall = comparison.overall
    choice = f"Chosen: {overall.chosen}. " if overall.chosen else "No choice: "
    console.print(plain_text(f"{choice}{overall.reason}.", style="bold"))
    for warning in comparison.warnings:
        console.print(plain_text(f"warning: {warning}", style="yellow"))


def _models(comparison: Comparison) -> Table:
    table = plain_table(
        "model", "parameters", "held-out RMSE", "untuned", "unit", "BIC", "p if no worse", "note"
    )
    least = min(comparison.bic.values())
    for name, outcome in comparison.outcomes.items():
        score = outcome.validation
        table.add_row(
            plain_text(name),
            str(len(outcome.fit.parameters)),
            number(score.rmse_all if score else None, zeros=True),
            number(score.rmse_all_initial if score else None, zeros=True),
            plain_text(score.unit_all if score else ""),
            f"{comparison.bic[name] - least:+.1f}",
            number(comparison.overall.p_worse[name], 2),
            plain_text(", ".join(notes(comparison, name))),
        )
    for name, failure in comparison.failures.items():
        table.add_row(plain_text(name), "", "", "", "", "", "", plain_text(f"failed: {failure}"))
    return table


def notes(comparison: Comparison, name: str) -> list[str]:
    """Return remarks about one model beside its numbers."""
    found = []
    if name == comparison.overall.chosen:
        found.append("chosen")
    if name == comparison.overall.best:
        found.append("predicts best")
    if comparison.bic[name] == min(comparison.bic.values()):
        found.append("lowest BIC")
    return found


def _joints(comparison: Comparison) -> Table:
    table = plain_table("joint", "model", *comparison.outcomes, "unit")
    for joint, found in comparison.joints.items():
        errors = [number(found.rmse[name], zeros=True) for name in comparison.outcomes]
        table.add_row(
            plain_text(joint), plain_text(found.chosen or "-"), *errors, plain_text(found.unit)
        )
    return table
