# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Shifts of estimates by choices that should not matter, in the words of the report's tables."""

from __future__ import annotations

import math

from sysid_ros.engine.estimation import BiasCheck, Refit, Shift
from sysid_ros.engine.parameters import moves_with


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
