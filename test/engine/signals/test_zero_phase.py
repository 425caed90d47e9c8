# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The zero-phase low-pass against SciPy's."""

from __future__ import annotations

import numpy as np
import scipy.signal
from hypothesis import given
from hypothesis import strategies as st

from sysid_ros.engine.signals.zero_phase import butterworth, zero_phase


@given(st.integers(0, 10_000), st.integers(4, 400), st.floats(0.002, 0.95))
def test_it_is_the_filter_that_scipy_has(seed: int, n: int, cutoff: float) -> None:
    values = 3.0 + np.cumsum(np.random.default_rng(seed).normal(size=n))
    expected = scipy.signal.filtfilt(*scipy.signal.butter(2, cutoff), values, padlen=min(n - 1, 9))
    np.testing.assert_allclose(zero_phase(values, cutoff), expected, rtol=1e-6, atol=1e-6)


def test_half_the_power_passes_at_the_cutoff() -> None:
    numerator, denominator = butterworth(0.25)
    z = np.exp(-1j * np.pi * 0.25 * np.arange(3))
    response = abs(numerator @ z) / abs(denominator @ z)
    np.testing.assert_allclose(response, np.sqrt(0.5), rtol=1e-12)
