# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A change within or between recordings is found, whatever else they leave open."""

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


def test_a_recording_that_differs_from_others_is_found_as_a_whole() -> None:
    rng = np.random.default_rng(0)
    blocks = []
    for block in range(12):
        columns = rng.normal(size=(100, 2))
        left = 0.05 * rng.normal(size=100) + (4 <= block < 8) * 0.5 * columns[:, 1]
        rows = np.column_stack([columns, left])
        blocks.append(rows.T @ rows)
    own, recordings = np.array([0, 1]), {f"day{k}": range(4 * k, 4 * k + 4) for k in range(3)}
    found = change_in_time(np.array(blocks), own, np.array([1]), recordings, 4)
    assert found is not None
    assert found.span.is_whole
    assert found.span.recording == "day1"
    assert abs(found.step - 0.5) < found.reach < 0.05
    assert change_in_time(np.array(blocks)[4:8], own, np.array([1]), {"day1": range(4)}, 4) is None
