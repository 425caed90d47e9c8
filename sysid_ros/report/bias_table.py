# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The rows of the bias check's table."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sysid_ros.report.svg.numbers import number, unit
from sysid_ros.sysid.bias_check import BiasCheck, Refit


@dataclass(frozen=True)
class Shift:
    """How far one refit moved one parameter; ``relative`` is in halves of the interval."""

    text: str
    relative: str
    moved: bool


@dataclass(frozen=True)
class BiasRow:
    """One parameter with its shift in every refit."""

    name: str
    value: str
    unit: str
    shifts: tuple[Shift, ...]


def bias_rows(check: BiasCheck | None) -> list[BiasRow]:
    """One row per parameter; none without a check."""
    if check is None:
        return []
    return [
        BiasRow(
            name=name,
            value=number(float(check.values[k])),
            unit=unit(check.units[k]),
            shifts=tuple(_shift(check, refit, k) for refit in check.refits),
        )
        for k, name in enumerate(check.names)
    ]


def _shift(check: BiasCheck, refit: Refit, k: int) -> Shift:
    shift = float(refit.values[k] - check.values[k])
    if not math.isfinite(shift):
        return Shift("not possible", "", moved=False)
    half_width = float(check.half_widths[k])
    relative = f"{abs(shift) / half_width:.2g} times" if half_width > 0.0 else ""
    moved = check.names[k] in check.moved(refit)
    return Shift(f"{shift:+.2g}", relative, moved)
