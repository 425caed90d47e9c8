# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hold-out blocks."""

from __future__ import annotations

import math

import pendulum
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.dataset import Dataset
from sysid_ros.dataset.splits import SPLIT_GAP, held_out_end, split_by_time
from sysid_ros.errors import DataError


@given(st.floats(-10, 10), st.floats(0.1, 1e4), st.floats(0.01, 0.99))
def test_the_end_is_held_out_and_a_gap_before_it(start, length, fraction) -> None:
    length += 1.01 * SPLIT_GAP / (1.0 - fraction)
    last, first = held_out_end(start, start + length, fraction)
    assert start < last < first < start + length
    assert first - last == pytest.approx(SPLIT_GAP, abs=1e-6)
    assert start + length - first == pytest.approx(fraction * length, rel=1e-6, abs=1e-6)


def test_a_gap_that_leaves_nothing() -> None:
    with pytest.raises(DataError, match="leaves nothing to fit"):
        held_out_end(0.0, 0.9, 0.5)


def test_what_is_held_out_is_used() -> None:
    """What ``check`` leaves out is what nobody counts, not what judges a fit."""
    gaps = ((0.5, 1.0), (12.0, 12.5))
    recorded = pendulum.sequences(*pendulum.recording(duration=20.0 + pendulum.TIMESTEP))
    own = recorded.replaced(gaps=[gaps])
    other = own.replaced(sequence_name=["other"])
    training, held_out = split_by_time([own], 0.5)
    assert training[0].gaps == [((0.5, 1.0), (9.5, math.inf))]
    dataset = Dataset(None, (*training, other), held_out, {}, (), (), {})
    assert [group.gaps for group in dataset.whole] == [
        [((0.5, 1.0), (9.5, 10.0), (12.0, 12.5))],
        [gaps],
    ]
