# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Sums of squares of a window's rows, without what is zero."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.problem.window_rows import MANY, gram_of


@pytest.mark.parametrize("count", [100, MANY // 20])
def test_leaving_out_zeros_changes_no_sum(count: int) -> None:
    rng = np.random.default_rng(0)
    signals = np.arange(count) % 3  # one after the other at each instant
    rows = rng.standard_normal((count, 21))
    for signal in range(3):
        own = np.arange(21) % 3 == signal
        own[-3:] = True  # what all share
        rows[np.ix_(signals == signal, ~own)] = 0.0
    expected = np.einsum("mi,mj->ij", rows, rows)
    np.testing.assert_allclose(gram_of(rows, signals), expected, rtol=1e-10, atol=1e-9)
