# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What left the horizon counts as long as it is not forgotten, however it is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sysid_ros.engine.moving_horizon.arrival_cost import MOST_SHARES, ArrivalCost, Share, gram_of
from sysid_ros.engine.problem import sums_by_signal


def _shares(count: int) -> list[Share]:
    """Information of windows of a second, each of its own point."""
    rng = np.random.default_rng(1)
    found = []
    for k in range(count):
        rows = rng.standard_normal((5, 2))
        squares = {"angle": (float(rng.random()), 5.0)}
        gradient = rng.standard_normal(2)
        found.append(Share(float(k), rng.standard_normal(2), rows.T @ rows, gradient, squares))
    return found


@pytest.mark.parametrize("forgetting", [None, 30.0])
def test_joining_shares_keeps_their_sums(forgetting: float | None):
    shares, now, theta = _shares(5 * MOST_SHARES), 250.0, np.array([0.3, -2.0])
    past = ArrivalCost(forgetting)
    for share in shares:
        past.add(share)
    kept = past.at(now)
    assert len(kept) == MOST_SHARES
    weights = [1.0 if forgetting is None else math.exp((s.time - now) / forgetting) for s in shares]
    expected = [s.scaled(w) for s, w in zip(shares, weights, strict=True)]
    np.testing.assert_allclose(gram_of(kept, theta), gram_of(expected, theta), rtol=1e-9)
    assert sums_by_signal(s.squares for s in kept)["angle"] == pytest.approx(
        sums_by_signal(s.squares for s in expected)["angle"]
    )
    counts = [share.windows for share in kept]
    if forgetting is None:  # no cluster outweighs the others
        assert sum(counts) == len(shares) and max(counts) <= 2.0 * len(shares) / MOST_SHARES


def test_nothing_grows_for_ever():
    past = ArrivalCost(10.0)
    for hour in range(3):
        for share in _shares(300):
            past.add(Share(share.time + 300 * hour, share.theta, share.hessian, share.gradient))
    assert len(past.at(900.0)) == MOST_SHARES
    assert not past.at(1e6)[-1].hessian.any()
