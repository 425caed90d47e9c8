# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the table of estimates over lengths of windows and halves of the recordings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sysid_ros.engine.estimation import WindowCheck, WindowEstimate
from sysid_ros.report.svg import number, unit


@dataclass(frozen=True)
class WindowCell:
    """One estimate with its interval; ``apart`` from that of the fit itself."""

    value: str
    interval: str
    apart: bool


@dataclass(frozen=True)
class WindowRow:
    """One parameter by every cut."""

    name: str
    unit: str
    cells: tuple[WindowCell, ...]


def window_rows(check: WindowCheck) -> list[WindowRow]:
    """One row per parameter."""
    return [
        WindowRow(
            name, unit(check.units[k]), tuple(_cell(check, each, k) for each in check.estimates)
        )
        for k, name in enumerate(check.names)
    ]


def _cell(check: WindowCheck, each: WindowEstimate, k: int) -> WindowCell:
    value, low, high = float(each.values[k]), float(each.lower[k]), float(each.upper[k])
    if not math.isfinite(value):
        return WindowCell("not possible", "", apart=False)
    interval = f"{number(low)} to {number(high)}" if math.isfinite(low) else ""
    apart = check.names[k] in check.apart(check.estimates[0], each)
    return WindowCell(number(value), interval, apart)
