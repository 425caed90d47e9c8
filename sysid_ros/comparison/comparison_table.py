# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A comparison of models as a table in the terminal."""

from __future__ import annotations

import sys

from rich.table import Table

from sysid_ros.comparison.compare import Comparison
from sysid_ros.comparison.model_rows import joint_rows, model_rows
from sysid_ros.terminal import console_for, plain_table, plain_text


def print_comparison(comparison: Comparison) -> None:
    """Print every model's size and errors, the choice and the warnings."""
    console = console_for(sys.stdout)
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
    for row in model_rows(comparison):
        table.add_row(
            plain_text(row.name),
            str(row.parameters),
            row.rmse,
            row.untuned,
            plain_text(row.unit),
            f"+{row.bic}",
            row.p_worse,
            plain_text(row.note),
        )
    for name, failure in comparison.failures.items():
        table.add_row(plain_text(name), "", "", "", "", "", "", plain_text(f"failed: {failure}"))
    return table


def _joints(comparison: Comparison) -> Table:
    table = plain_table("joint", "model", *comparison.outcomes, "unit")
    for row in joint_rows(comparison):
        table.add_row(
            plain_text(row.name), plain_text(row.chosen), *row.errors, plain_text(row.unit)
        )
    return table
