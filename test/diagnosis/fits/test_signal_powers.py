# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What noise leaves of a signal is told from what a wrong model leaves."""

from __future__ import annotations

import numpy as np

from sysid_ros.diagnosis.fits.signal_powers import lasting_shares


def test_noise_lasts_for_no_second_sample() -> None:
    random, windows = np.random.default_rng(0), 12
    times = [np.repeat(np.arange(0.0, 1.0, 0.004), 3) for _ in range(windows)]
    kinds = [np.tile([0, 1, 2], 250) for _ in range(windows)]
    noise, wrong = 1, 2
    residuals = []
    for at, own in zip(times, kinds, strict=True):
        rest = np.where(own == wrong, 0.0, random.normal(size=len(at)))
        rest += np.where(own == noise, 0.0, np.sqrt(2.0) * np.sin(5.0 * at + random.uniform(0, 6)))
        residuals.append(rest)
    shares = lasting_shares(residuals, kinds, times)
    np.testing.assert_allclose(shares, [0.5, 0.0, 1.0], atol=0.06)


def test_of_what_is_explained_nothing_is_called_noise() -> None:
    kinds = [np.zeros(5, dtype=int)]
    assert lasting_shares([np.zeros(5)], kinds, [np.arange(5.0)]) == [1.0]
