# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motion, and what is only noise."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.diagnosis.filtered import motion_bandwidth

RATE = 200.0  # Hz


def encoder(reach: float) -> np.ndarray:
    """A joint that turns once a second by some radians, read with noise in steps of 1e-4."""
    times = np.arange(0.0, 4.0, 1.0 / RATE)
    noise = 5e-5 * np.random.default_rng(0).standard_normal(len(times))
    return 1e-4 * np.round((reach * np.sin(2.0 * np.pi * times) + noise) / 1e-4 + 0.2)


def test_noise_is_no_motion() -> None:
    assert motion_bandwidth(encoder(0.0), RATE) is None


def test_small_motion_is_told_from_noise() -> None:
    assert motion_bandwidth(encoder(1e-3), RATE) == pytest.approx(1.0, abs=0.3)
