# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is left of a signal by columns that may add so much and no more."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.diagnosis.fits import left_by_any

COLUMN = np.sin(np.linspace(0.0, 20.0, 500))


@pytest.mark.parametrize("factor", [0.9, -0.9])
def test_columns_take_away_what_they_may_add(factor: float) -> None:
    assert left_by_any(COLUMN[:, None], factor * COLUMN + 3.0) < 1e-6


def test_what_is_beyond_their_most_is_left() -> None:
    assert left_by_any(COLUMN[:, None], 4.0 * COLUMN) == pytest.approx(0.75, rel=1e-6)
    assert left_by_any(np.zeros((500, 1)), COLUMN) == pytest.approx(1.0)
