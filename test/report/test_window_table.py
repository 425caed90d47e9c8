# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the table of windows and halves."""

from __future__ import annotations

import numpy as np
from outcomes import windows

from sysid_ros.report.window_table import window_rows


def test_what_is_apart_is_marked_and_what_failed_is_said() -> None:
    check = windows()
    rows = window_rows(check)
    assert [row.name for row in rows] == list(check.names)
    assert [[cell.apart for cell in row.cells] for row in rows] == [
        [False, name in check.apart(*check.estimates[:2]), False, False] for name in check.names
    ]
    assert any(cell.apart for row in rows for cell in row.cells)
    assert {row.cells[3].value for row in rows} == {"not possible"}
    claimed = np.isfinite(check.estimates[0].lower)
    assert [" to " in row.cells[0].interval for row in rows] == claimed.tolist()
    assert not any(row.cells[3].interval for row in rows)
