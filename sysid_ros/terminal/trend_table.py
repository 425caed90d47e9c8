# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trends of parameters as a table."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sysid_ros.terminal.printing import console_for, plain_table, plain_text
from sysid_ros.trend import Level, ParameterTrend

_STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.ERROR: "bold red", Level.UNKNOWN: "dim"}


def print_trends(trends: Sequence[ParameterTrend]) -> None:
    """Print one row per parameter: its judgement, latest value, drift, and the reason."""
    console = console_for(sys.stdout)
    table = plain_table("parameter", "", "latest", "unit", "drift per day", "")
    for trend in trends:
        low, high = trend.drift.interval() if trend.drift is not None else (0.0, 0.0)
        latest = trend.values[-1:] if trend.course is None else trend.course[-1:]
        table.add_row(
            plain_text(trend.name),
            plain_text(trend.level.value, style=_STYLES[trend.level]),
            "".join(f"{value:.4g}" for value in latest),
            plain_text(trend.unit),
            "-" if trend.drift is None else f"{low:+.2g} .. {high:+.2g}",
            plain_text(trend.sentence),
        )
    console.print(table)
