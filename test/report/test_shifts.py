# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the table of windows and halves."""

from __future__ import annotations

import numpy as np
from outcomes import windows

from sysid_ros.report.shifts import window_estimate


def test_what_is_apart_is_marked_and_what_failed_is_said() -> None:
    check = windows()
    rows = [[window_estimate(check, each, k) for each in check.estimates]
            for k in range(len(check.names))]  # fmt: skip
    assert [[apart for _, _, apart in row] for row in rows] == [
        [False, name in check.apart(*check.estimates[:2]), False, False] for name in check.names
    ]
    assert any(apart for row in rows for _, _, apart in row)
    assert {row[3][:2] for row in rows} == {("not possible", "")}
    claimed = np.isfinite(check.estimates[0].lower)
    assert [" to " in row[0][1] for row in rows] == claimed.tolist()
