# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The low-pass is that of scipy away from the ends."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from sysid_ros.engine.signals import low_pass


@pytest.mark.parametrize(("cutoff", "count"), [(0.1, 1200), (0.3, 801), (0.9, 800)])
def test_it_is_a_butterworth_filter_of_third_order_both_ways(cutoff: float, count: int) -> None:
    signals = np.cumsum(np.random.default_rng(0).standard_normal((2, count)), axis=1)
    expected = scipy.signal.filtfilt(*scipy.signal.butter(3, cutoff), signals, axis=1)
    inner = slice(200, -200)
    assert low_pass(signals, cutoff)[:, inner] == pytest.approx(expected[:, inner], abs=1e-3)


def test_a_straight_line_stays_one_to_its_ends() -> None:
    line = np.linspace(-1.0, 3.0, 300)[None, :]
    assert low_pass(line, 0.1) == pytest.approx(line, abs=1e-3)
