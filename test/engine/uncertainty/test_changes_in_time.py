# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A change within a recording is found, whatever else the recording leaves open."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.uncertainty import change_in_time


@pytest.mark.parametrize("telling", [0.0, 1e-160, 1.0])
def test_a_change_is_found_beside_a_column_that_may_tell_nothing(telling: float) -> None:
    rng = np.random.default_rng(0)
    blocks = []
    for block in range(12):
        columns = rng.normal(size=(100, 3)) * [1.0, telling, 1.0]
        left = 0.05 * rng.normal(size=100) + (block >= 6) * 0.5 * columns[:, 2]
        rows = np.column_stack([columns, left])
        blocks.append(rows.T @ rows)
    found = change_in_time(np.array(blocks), np.array([0, 1]), np.array([2]), {"bag": range(12)}, 2)
    assert found is not None
    assert (found.span.first, found.span.last) == (6, 12)
    assert abs(found.step - 0.5) < found.reach < 0.05
