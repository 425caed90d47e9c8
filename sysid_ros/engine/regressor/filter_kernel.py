# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Finite filters of which only every so many-th value is wanted, compiled."""

from __future__ import annotations

from typing import Any

import numba

_compiled: Any = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})


@_compiled
def thin(weights, every, rows, out):  # type: ignore[no-untyped-def]
    """Add a filtered signal, of which only every so many-th value is kept.

    Args:
      weights: (taps,).
      every: Steps between values that are kept.
      rows: (n, width).
      out: (m, width) with (m - 1) every + taps <= n.
    """
    for m in range(len(out)):
        for k in range(len(weights)):
            weight = weights[k]
            row = rows[m * every + k]
            for c in range(out.shape[1]):
                out[m, c] += weight * row[c]


@_compiled
def weighted_windows(signal, weights, first, every, out):  # type: ignore[no-untyped-def]
    """Filter a signal in several ways at evenly spaced places.

    Args:
      signal: (n,).
      weights: (filters, taps).
      first: Where the first window begins.
      every: From one window to the next.
      out: (m, filters), overwritten.
    """
    for m in range(out.shape[0]):
        start = first + m * every
        for f in range(weights.shape[0]):
            total = 0.0
            for k in range(weights.shape[1]):
                total += weights[f, k] * signal[start + k]
            out[m, f] = total
