# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows that count ever less: their squares and their number alike."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.moving_horizon.torque_blocks import (
    Block,
    TorqueBlocks,
    joined,
    without_columns,
)
from sysid_ros.engine.regressor import INDEPENDENT, Grams


def rows(begin: float, end: float, count: int = 3) -> Block:
    """Rows of one kind without columns, whose torque is 1 N m."""
    sums = np.full((1, 1, 1), float(count))
    kinds = np.array([0])
    return Block(begin, end, Grams((kinds[:0],), (sums,), np.array([[count]]), 0, kinds))


@pytest.mark.parametrize("forgetting", [10.0, 60.0])
def test_a_few_rows_at_a_time_are_forgotten_in_number_too(forgetting: float) -> None:
    blocks = TorqueBlocks(forgetting)
    for k in range(1200):
        blocks.add(rows(0.1 * k, 0.1 * (k + 1)))
    whole = joined(blocks.at(120.0))
    squares, count = float(whole.sums[0].sum()), int(whole.counts.sum())
    expected = 30.0 * forgetting * (1.0 - np.exp(-120.0 / forgetting))
    assert squares == pytest.approx(expected, rel=0.02)
    assert count == pytest.approx(squares, rel=0.05)


def test_another_time_axis_brings_nothing_back() -> None:
    blocks = TorqueBlocks(1.0)
    blocks.add(rows(0.0, 0.1, 1000))
    blocks.add(rows(5.0, 5.1, 1000))
    before = joined(blocks.at(5.1)).counts.sum()
    blocks.begin_anew()
    assert joined(blocks.at(0.0)).counts.sum() == before


@pytest.mark.parametrize("count", [9, 30, 300])
def test_what_is_regressed_out_takes_its_noise_with_it(count: int) -> None:
    """A kind of few rows of which nothing is left is not one without noise, nor one that counts."""
    rng, columns, tied = np.random.default_rng(0), 4, 200
    squares, left = np.zeros(tied), np.zeros(tied)
    for i in range(tied):
        free = rng.normal(size=(count, columns + 2))  # one more that stays, and torque
        walk = free[1:] + free[:-1]  # neighbouring rows share noise, as behind a filter
        kinds = np.array([0])
        support = np.arange(columns + 1)
        gram = Grams((support,), ((walk.T @ walk)[None],), np.array([[len(walk)]]), 5, kinds)
        (kept,) = without_columns([Block(0.0, 1.0, gram)], np.arange(columns))
        squares[i], left[i] = kept.grams.sums[0][0, -1, -1], kept.grams.counts[0, 0]
    assert left[0] == max(round(count - 1 - columns / INDEPENDENT), 0)
    if left[0] >= 8:  # of which weights are made
        assert squares.mean() / left[0] == pytest.approx(2.0, rel=0.15)  # as before
