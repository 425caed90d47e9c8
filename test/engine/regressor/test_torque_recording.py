# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Pieces of a stretch of recorded torque."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.engine.regressor import Stretch


@pytest.mark.parametrize(("share", "count"), [(0.3, 1), (0.5, 2), (1.0, 4)])
def test_pieces_are_spread_over_a_stretch(share: float, count: int):
    """One of few stands in the middle: at its beginning a robot rests."""
    qpos = np.arange(1000.0)[:, None]
    stretch = Stretch(0.0, 0.001, qpos, np.zeros((1000, 1)), 0)
    pieces = stretch.pieces(0.25, share)
    assert [len(piece.qpos) for piece in pieces] == [250] * count
    middles = [np.mean(piece.qpos) for piece in pieces]
    np.testing.assert_allclose(middles, (np.arange(count) + 0.5) * 1000 / count, atol=1.0)
    starts = [piece.qpos[0, 0] for piece in pieces]
    np.testing.assert_allclose([piece.start for piece in pieces], 0.001 * np.array(starts))
    assert stretch.pieces(0.25, 0.2) == [stretch]
