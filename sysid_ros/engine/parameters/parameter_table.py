# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The table that shows initial, true and identified parameters side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.parameters.bounds import Bounds
from sysid_ros.errors import ParameterError

_HEADERS = (
    "Parameter", "Initial", "Nominal", "Identified", "Lower", "Upper", "Abs Err", "Abs Del",
    "Rel Err", "Rel Del", "",
)  # fmt: skip


def comparison_table(
    names: Sequence[str],
    bounds: Bounds,
    initial: npt.ArrayLike,
    identified: npt.ArrayLike,
    true: npt.ArrayLike | None,
    *,
    digits: int,
) -> str:
    """Lay out one row per free scalar component; see ParameterDict.compare_parameters."""
    if not names:
        return "No non-frozen parameters to compare."
    start = _checked("Initial", initial, len(names))
    found = _checked("Predicted", identified, len(names))
    known = None if true is None else _checked("True", true, len(names))
    flags = bounds.flags(found)
    rows = []
    for i, name in enumerate(names):
        row = [name, _number(start[i], digits)]
        row.append("" if known is None else _number(known[i], digits))
        row += [_number(value[i], digits) for value in (found, bounds.lower, bounds.upper)]
        row.append("" if known is None else _number(abs(found[i] - known[i]), digits))
        row.append(_number(abs(found[i] - start[i]), digits))
        row.append("" if known is None else _percent(found[i], known[i]))
        row.append(_percent(found[i], start[i]))
        row.append(", ".join(flags[i]))
        rows.append(row)
    lines = [_aligned(rows)]
    lines.append(f"RMSE: {'' if known is None else format(_rms(found - known), '.4g')}")
    lines.append(f"RMS Delta: {_rms(found - start):.4g}")
    return "\n".join(lines)


def _checked(what: str, vector: npt.ArrayLike, size: int) -> FloatArray:
    flat = np.asarray(vector, dtype=np.float64).ravel()
    if flat.size != size:
        raise ParameterError(
            f"{what} parameter vector length {flat.size} does not match the number of non-frozen "
            f"parameters {size}."
        )
    return flat


def _number(value: float, digits: int) -> str:
    small = 0.0 < abs(value) < 0.01
    return f"{value:.{digits}e}" if small else f"{value:.{digits}f}"


def _percent(value: float, reference: float) -> str:
    return "" if reference == 0.0 else f"{abs(value - reference) / abs(reference):.1%}"


def _aligned(rows: list[list[str]]) -> str:
    table = [list(_HEADERS), *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(_HEADERS))]
    lines = []
    for row in table:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths[:-1]))
    return "\n".join(lines)


def _rms(difference: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.square(difference))))
