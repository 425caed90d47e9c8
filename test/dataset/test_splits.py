# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hold-out blocks."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sysid_ros.dataset.splits import contiguous_split
from sysid_ros.errors import DataError


@given(st.floats(-10, 10), st.floats(0.1, 1e4), st.floats(0.01, 0.99), st.floats(0.0, 0.5))
def test_blocks_and_gap_fill_the_recording(start, length, fraction, gap) -> None:
    assume(gap < (1.0 - fraction) * length * 0.99)
    split = contiguous_split(start, start + length, fraction, gap=gap)
    assert split.training[0] == start
    assert split.validation[1] == start + length
    assert split.training[0] < split.training[1] <= split.validation[0] < split.validation[1]
    assert split.validation[0] - split.training[1] == pytest.approx(gap, abs=1e-6)
    held_out = split.validation[1] - split.validation[0]
    assert held_out == pytest.approx(fraction * length, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.2, float("nan")])
def test_fractions_that_are_none(fraction) -> None:
    with pytest.raises(DataError, match="must lie between 0 and 1"):
        contiguous_split(0.0, 1.0, fraction)


def test_a_gap_that_leaves_nothing() -> None:
    with pytest.raises(DataError, match="leaves nothing to fit"):
        contiguous_split(0.0, 1.0, 0.5, gap=0.6)
