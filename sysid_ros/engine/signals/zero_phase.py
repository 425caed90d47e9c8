# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Low-pass filters without delay; importing ``scipy.signal`` for them would take longer than a fit.

The coefficients are those of the bilinear transform, the ends are continued by reflection and the
filter starts in the steady state of the first sample (Gustafsson 1996, "Determining the initial
states in forward-backward filtering", for what that is good for).
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray

_PADDING = 9  # samples that the ends are continued by, as scipy.signal.filtfilt does by default


def zero_phase(values: FloatArray, cutoff: float) -> FloatArray:
    """Filter forwards and backwards by a second-order Butterworth low-pass.

    Args:
      values: Even samples, (n,), n at least two.
      cutoff: -3 dB frequency of one pass, relative to the Nyquist frequency, between 0 and 1.

    Returns:
      Shape (n,).
    """
    numerator, denominator = butterworth(cutoff)
    size = min(len(values) - 1, _PADDING)
    before = 2.0 * values[0] - values[size:0:-1]
    behind = 2.0 * values[-1] - values[-2 : -size - 2 : -1]
    filtered = np.concatenate([before, values, behind])
    for _ in range(2):
        filtered = _filtered(numerator, denominator, filtered)[::-1]
    return np.ascontiguousarray(filtered[size : size + len(values)])


def butterworth(cutoff: float) -> tuple[FloatArray, FloatArray]:
    """Coefficients (b0, b1, b2) and (1, a1, a2) of the second-order low-pass."""
    k = math.tan(0.5 * math.pi * cutoff)
    scale = 1.0 / (1.0 + math.sqrt(2.0) * k + k * k)
    numerator = k * k * scale * np.array([1.0, 2.0, 1.0])
    second = (1.0 - math.sqrt(2.0) * k + k * k) * scale
    return numerator, np.array([1.0, 2.0 * (k * k - 1.0) * scale, second])


def _filtered(b: FloatArray, a: FloatArray, x: FloatArray) -> FloatArray:
    """Solve ``y_n + a1 y_(n-1) + a2 y_(n-2) = b0 x_n + b1 x_(n-1) + b2 x_(n-2)``.

    Before the first sample both were always as there.
    """
    earlier = np.concatenate([[x[0], x[0]], x])
    right = b[0] * x + b[1] * earlier[1:-1] + b[2] * earlier[:-2]
    right[0] -= (a[1] + a[2]) * x[0]
    right[1] -= a[2] * x[0]
    bands = np.repeat(a[:, np.newaxis], len(x), axis=1)
    solved: FloatArray = scipy.linalg.solve_banded((2, 0), bands, right, check_finite=False)
    return solved
