# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Estimates under choices that should not matter, in the words of the report's tables."""

from __future__ import annotations

import math

from sysid_ros.engine.estimation import BiasCheck, Refit, Shift, WindowCheck, WindowEstimate
from sysid_ros.engine.parameters import moves_with
from sysid_ros.report.svg import number


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


def window_estimate(check: WindowCheck, each: WindowEstimate, k: int) -> tuple[str, str, bool]:
    """One parameter by one cut, its interval, and whether that is apart from the fit's own."""
    value, low, high = float(each.values[k]), float(each.lower[k]), float(each.upper[k])
    if not math.isfinite(value):
        return "not possible", "", False
    interval = f"{number(low)} to {number(high)}" if math.isfinite(low) else ""
    return number(value), interval, check.names[k] in check.apart(check.estimates[0], each)
