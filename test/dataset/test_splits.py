# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Hold-out blocks."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.dataset import Dataset, SequenceSet
from sysid_ros.dataset.splits import SPLIT_GAP, held_out_end
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
    training = SequenceSet((), {"run": ((1.0, 2.0), (8.0, math.inf)), "other": ((0.0, 1.0),)})
    held_out = SequenceSet((), {"run": ((-math.inf, 8.5), (9.0, 9.5)), "more": ((0.0, 3.0),)})
    dataset = Dataset(None, training, held_out, {}, (), (), {})
    assert dataset.unused == {
        "run": ((1.0, 2.0), (8.0, 8.5), (9.0, 9.5)),
        "other": ((0.0, 1.0),),
    }
