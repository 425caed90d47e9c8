# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Long lists of work in parts."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.simulation import even_portions


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1.0, [1, 1, 1, 1]), (25.0, [2, 2]), (1e9, [4]), (0.1, [1, 1, 1, 1])],
)
def test_runs_are_shared_out_whole(size: float, expected: list[int]) -> None:
    parts = even_portions(np.cumsum([10, 10, 20, 10]), size)
    assert [part.stop - part.start for part in parts] == expected
    assert [i for part in parts for i in range(part.start, part.stop)] == [0, 1, 2, 3]
