# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A zero-phase low-pass; importing ``scipy.signal`` for one would take longer than a check."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray

_ORDER = 3
_SETTLED = 4.0  # periods of the cut-off, after which nothing is left of an edge


def low_pass(signals: FloatArray, cutoff: float) -> FloatArray:
    """A Butterworth filter of third order, applied forwards and backwards.

    The squared gain of the bilinear design multiplies the spectrum. At either end the signal goes
    on as its own image, turned about the end point.

    Args:
      signals: (k, n) evenly sampled, n at least two.
      cutoff: -3 dB frequency of one pass over the Nyquist frequency, below one.

    Returns:
      (k, n).
    """
    n = signals.shape[1]
    more = min(n - 1, int(np.ceil(_SETTLED * 2.0 / cutoff)))
    before = 2.0 * signals[:, :1] - signals[:, more:0:-1]
    after = 2.0 * signals[:, -1:] - signals[:, -2 : -2 - more : -1]
    longer = np.concatenate([before, signals, after], axis=1)
    spectrum = np.fft.rfft(longer, axis=1)
    angle = np.pi * np.fft.rfftfreq(longer.shape[1])  # half of that per sample
    ratio = np.tan(np.minimum(angle, 0.499 * np.pi)) / np.tan(0.5 * np.pi * cutoff)
    gain = 1.0 / (1.0 + ratio ** (2 * _ORDER))
    smooth = np.fft.irfft(spectrum * gain, longer.shape[1], axis=1)
    return np.asarray(smooth[:, more : more + n])
