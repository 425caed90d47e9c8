# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Numbers as people write them: as many digits as they deserve."""

from __future__ import annotations

import math

_UNKNOWN = "\N{EM DASH}"
_MINUS = "\N{MINUS SIGN}"


def number(value: float | None, digits: int = 4, *, zeros: bool = False) -> str:
    """``value`` with ``digits`` significant digits, as a power of ten only where zeros pile up.

    Args:
      value: Any number; ``None`` and NaN become a dash.
      digits: How many significant digits.
      zeros: Keep zeros at the end, which say how precise a measured number is.

    Returns:
      For example ``0.0218``, ``1.53e-06`` or a dash.
    """
    if value is None or math.isnan(value):
        return _UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    text = f"{value:#.{digits}g}" if zeros else f"{value:.{digits}g}"
    if "e" in text and 1e-4 <= abs(value) < 1e7:
        return f"{value:.0f}"
    return text.removesuffix(".")


def to_error(value: float, standard_error: float | None) -> str:
    """``value`` with the digits that its standard error leaves: two of the error's own.

    Args:
      value: The estimate.
      standard_error: Its standard error in the same unit; ``None`` gives four digits.

    Returns:
      For example ``0.002130`` for an error of 0.00002.
    """
    if standard_error is None or not math.isfinite(value):
        return number(value)
    if not math.isfinite(standard_error) or standard_error <= 0.0:
        return number(value)
    last = math.floor(math.log10(standard_error)) - 1  # power of ten of the last digit shown
    first = math.floor(math.log10(abs(value))) if value else last
    if first < last:  # beside the error it is nothing
        return "0"
    digits = min(max(first - last + 1, 1), 15)
    if first < -4 or last > 0:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(-last, 0)}f}"


def percent_change(before: float, after: float) -> str:
    """Format the change from ``before`` to ``after``, for example ``-92 %``."""
    if not (math.isfinite(before) and math.isfinite(after)) or before == 0.0:
        return _UNKNOWN
    change = 100.0 * (after - before) / abs(before)
    if abs(change) >= 1000.0:
        return f"{after / before:.3g} times"
    sign = _MINUS if change < 0 else "+"
    nearly_all = -100.0 < change < -99.0  # what is left would be rounded away
    digits = 1 if 0.0 < abs(change) < 10.0 or nearly_all else 0
    shown = min(abs(change), 99.9) if nearly_all else abs(change)
    return f"{sign}{shown:.{digits}f} %"


def plural(count: int, noun: str) -> str:
    """``1 gap``, ``2 gaps``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def with_unit(name: str, text: str) -> str:
    """``name [unit]``, or the name alone of what has none."""
    return f"{name} [{unit(text)}]" if text else name


def unit(text: str) -> str:
    """A unit with raised exponents: ``kg m²`` for ``kg m^2``."""
    for plain, raised in (("^2", "²"), ("^3", "³"), ("^-1", "⁻¹"), ("^-2", "⁻²")):
        text = text.replace(plain, raised)
    return text
