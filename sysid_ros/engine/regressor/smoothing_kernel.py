# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A zero-phase low-pass and its exact derivatives.

The kernel is an ideal low-pass in a window (Harris, On the use of windows for harmonic analysis,
Proceedings of the IEEE 66, 1978),

    h(t) = sin(2 pi f t) / (pi t) * w(t / T),   |t| <= T = 2 / f,

w(x) = cos(pi x / 2)^4; symmetric, thus without delay, and known in closed form with its
derivatives: h' * x is the derivative of h * x, not a difference of neighbouring samples, which
falls short by a sixth of (omega dt)^2. It has an end, so that what a gap touches is known exactly.
"""

from __future__ import annotations

import numpy as np

from sysid_ros.arrays import FloatArray

HALF_LENGTH = 2.0  # periods of the cut-off on either side
_WINDOW = (0.375, 0.5, 0.125)  # cos^4, whose first three derivatives vanish at the ends


def half_samples(cutoff: float, step: float) -> int:
    """Samples on either side that the kernel reaches."""
    return max(1, int(np.floor(HALF_LENGTH / (cutoff * step) + 1e-6)))


def smoothing_kernel(cutoff: float, step: float, order: int = 0, shift: float = 0.0) -> FloatArray:
    """Weights of a low-pass or of one of its derivatives for evenly sampled signals.

    All orders pass the same frequencies: derivatives are those of the smoothed signal.

    Args:
      cutoff: Hz, where the amplitude has fallen to a half; below 0.3 / step.
      step: s between samples.
      order: 0 for the signal, 1 or 2 for its derivatives.
      shift: s by which the filtered value is later than the sample, a fraction of a step or more.

    Returns:
      (2 n + 1,) in 1/s^order, with n = half_samples without a shift; the filtered value at sample
      i is the sum over k of weight[k] * signal[i + k - n].
    """
    half = half_samples(cutoff, step) + int(np.ceil(abs(shift) / step))
    t = step * np.arange(-half, half + 1, dtype=np.float64) - shift
    inside = (np.abs(t) <= HALF_LENGTH / cutoff * (1.0 + 1e-6)).astype(np.float64)
    sinc = _sinc(cutoff, t)
    window: FloatArray = inside * np.stack(_window(cutoff, t))
    plain: FloatArray = sinc[0] * window[0]
    total = float(plain.sum())
    if order == 0:
        return np.asarray(plain / total)
    if order == 1:
        # Weights are read forwards, convolution backwards: odd derivatives change sign.
        return np.asarray(-(sinc[1] * window[0] + sinc[0] * window[1]) / total)
    weights: FloatArray = (
        sinc[2] * window[0] + 2.0 * sinc[1] * window[1] + sinc[0] * window[2]
    ) / total
    weights -= weights.sum() * plain / total  # a constant has no second derivative
    return weights


def _sinc(cutoff: float, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """sin(w t) / (pi t) and its first two derivatives."""
    w = 2.0 * np.pi * cutoff
    x = w * t
    small = np.abs(x) < 1e-2
    safe = np.where(small, 1.0, x)
    s, c = np.sin(safe), np.cos(safe)
    value = np.where(small, 1 - x**2 / 6 + x**4 / 120, s / safe)
    first = np.where(small, -x / 3 + x**3 / 30, c / safe - s / safe**2)
    second = np.where(small, -1 / 3 + x**2 / 10, -s / safe - 2 * c / safe**2 + 2 * s / safe**3)
    return value * w / np.pi, first * w**2 / np.pi, second * w**3 / np.pi


def _window(cutoff: float, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The window and its first two derivatives."""
    scale = np.pi * cutoff / HALF_LENGTH
    value, first, second = np.zeros_like(t), np.zeros_like(t), np.zeros_like(t)
    for k, a in enumerate(_WINDOW):
        value += a * np.cos(k * scale * t)
        first -= a * k * scale * np.sin(k * scale * t)
        second -= a * (k * scale) ** 2 * np.cos(k * scale * t)
    return value, first, second
