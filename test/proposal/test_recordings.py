# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is told seldom has gaps of its own."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.proposal.recordings import longest_gap


@pytest.mark.parametrize(
    ("intervals", "found"),
    [
        ([], None),
        ([0.005, 0.05], None),
        ([0.005, 0.1], 0.25),
        ([0.2, 0.1], 0.5),
        ([0.01, 0.0, np.inf], None),
    ],
)
def test_the_slowest_signal_decides(intervals: list[float], found: float | None) -> None:
    assert longest_gap(intervals) == found
