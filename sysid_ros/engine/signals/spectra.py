# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Power spectra; importing ``scipy.signal`` for them would take longer than a fit."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray


def density(signal: FloatArray, rate: float, length: int) -> tuple[FloatArray, FloatArray]:
    """One-sided power spectral density by Welch's method (IEEE Trans. Audio 15, 1967).

    Segments have ``length`` samples of the signal, (n,), whose rate is in Hz.

    Returns:
      Frequencies [Hz] and densities [signal^2/Hz], (length // 2 + 1,) each.
    """
    frequency, found = densities(signal, rate, length)
    return frequency, found.mean(axis=0)


def densities(signal: FloatArray, rate: float, length: int) -> tuple[FloatArray, FloatArray]:
    """Those of half-overlapping segments, each without its straight line and in a Hann window.

    Takes what :func:`density` takes.

    Returns:
      Frequencies [Hz], (f,), and densities [signal^2/Hz], (segments, f).
    """
    starts = np.arange(0, len(signal) - length + 1, max(1, length // 2))
    segments = np.stack([signal[start : start + length] for start in starts])
    t = np.arange(length) - (length - 1) / 2.0
    segments = segments - segments.mean(axis=1, keepdims=True)
    segments -= np.outer(segments @ t / (t @ t), t)
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(length) / length)
    power = np.abs(np.fft.rfft(segments * window, axis=1)) ** 2
    found: FloatArray = 2.0 * power / (rate * np.sum(window**2))
    frequency: FloatArray = np.fft.rfftfreq(length, 1.0 / rate).astype(np.float64)
    return frequency, found


def lagged_products(signal: FloatArray, count: int) -> FloatArray:
    """The sums of a signal's products with itself 0, 1, ... samples later, (count,)."""
    size = 1 << (len(signal) + count - 1).bit_length()
    power = np.abs(np.fft.rfft(signal, size)) ** 2
    return np.asarray(np.fft.irfft(power, size)[:count])
