# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A low-pass without delay; importing ``scipy.signal`` for one would take longer than a check."""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray

_SETTLED = 4.0  # periods of the cut-off, after which nothing is left of an edge


def zero_phase(signals: FloatArray, cutoff: float, order: int = 2) -> FloatArray:
    """Filter forwards and backwards by a Butterworth low-pass.

    The squared gain of the bilinear design multiplies the spectrum. At either end the signal goes
    on as its own image, turned about the end point.

    Args:
      signals: Even samples, (..., n), n at least two.
      cutoff: -3 dB frequency of one pass, relative to the Nyquist frequency, between 0 and 1.
      order: Of the filter that is applied twice.

    Returns:
      (..., n).
    """
    n = signals.shape[-1]
    more = min(n - 1, int(np.ceil(_SETTLED * 2.0 / cutoff)))
    before = 2.0 * signals[..., :1] - signals[..., more:0:-1]
    after = 2.0 * signals[..., -1:] - signals[..., -2 : -2 - more : -1]
    longer = np.concatenate([before, signals, after], axis=-1)
    size = _quick_length(longer.shape[-1])
    rest = np.broadcast_to(longer[..., -1:], (*longer.shape[:-1], size - longer.shape[-1]))
    spectrum = np.fft.rfft(np.concatenate([longer, rest], axis=-1))
    gain = zero_phase_gain(np.fft.rfftfreq(size).astype(np.float64), cutoff, order)
    smooth = np.fft.irfft(spectrum * gain, size)
    return np.ascontiguousarray(smooth[..., more : more + n])


def zero_phase_gain(frequency: FloatArray, cutoff: float, order: int = 2) -> FloatArray:
    """The gain of :func:`zero_phase` at some frequencies.

    Args:
      frequency: Relative to the sampling rate, 0 to 0.5.
      cutoff: As there, or 1, at which everything passes.
      order: As there.
    """
    angle = np.pi * frequency  # half of that per sample
    ratio = np.tan(np.minimum(angle, 0.499 * np.pi)) / np.tan(0.5 * np.pi * cutoff)
    return np.asarray(1.0 / (1.0 + ratio ** (2 * order)))


def _quick_length(length: int) -> int:
    """A length not below another that has no large prime factor, of which transforms are slow."""
    block = 1 << max(0, length.bit_length() - 4)
    return -(-length // block) * block
