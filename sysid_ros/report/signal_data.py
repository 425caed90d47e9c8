# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The signals as the report's script reads them: compact, and never too many.

Values are 16-bit integers between a curve's smallest and largest value, which is finer than any
screen, in base64. Instants are either even (start and step) or 64-bit floats.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.judgement import SequenceFit, SignalFit
from sysid_ros.report.decimate import points_each, reduce_curves
from sysid_ros.report.svg import unit

# A report stays below 15 MB: 4 million values of 16 bits in base64 are 10.7 MB.
_VALUE_BUDGET = 4_000_000
_MAX_POINTS = 24_000  # per curve; more makes zooming sluggish and shows nothing new
_CURVES = ("measured", "initial", "fitted", "residual")
_MISSING = -32768
_LARGEST = 1e150  # a simulation that runs away; its span stays finite


def signal_data(
    sequences: Sequence[SequenceFit], noise: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Lay out all sequences for the plots.

    Args:
      sequences: What was fitted and scored.
      noise: Standard deviation per signal, drawn as a band under the residual.

    Returns:
      One dictionary per sequence, ready for JSON.
    """
    count = sum(len(sequence.signals) for sequence in sequences)
    points = points_each(_VALUE_BUDGET, count * len(_CURVES), _MAX_POINTS)
    return [
        {
            "name": sequence.name,
            "role": sequence.role,
            "windows": np.round(sequence.window_starts, 6).tolist(),
            "signals": [_signal(s, points, noise.get(s.name)) for s in sequence.signals],
        }
        for sequence in sequences
    ]


def _signal(signal: SignalFit, points: int, noise: float | None) -> dict[str, Any]:
    residual = signal.measured - signal.fitted
    curves = reduce_curves(
        signal.times, (signal.measured, signal.initial, signal.fitted, residual), points
    )
    return {
        "name": signal.name,
        "unit": unit(signal.unit),
        "noise": noise,
        "reduced": curves.reduced,
        "times": packed_times(curves.times, even=curves.reduced),
        "curves": dict(zip(_CURVES, map(packed_curve, curves.values), strict=True)),
    }


def packed_times(times: FloatArray, *, even: bool) -> dict[str, Any]:
    """Instants, as start, step and count if ``even``."""
    if even and times.size > 1:
        step = (times[-1] - times[0]) / (times.size - 1)
        return {"start": float(times[0]), "step": float(step), "count": int(times.size)}
    return {"float64": _base64(times.astype("<f8"))}


def packed_curve(curve: FloatArray) -> dict[str, Any]:
    """``curve`` as ``offset + scale * integer``, with one integer kept for missing values."""
    curve = np.clip(curve, -_LARGEST, _LARGEST)  # NaN stays NaN
    finite = np.isfinite(curve)
    if not finite.any():
        return {"offset": 0.0, "scale": 0.0, "int16": _base64(np.full(curve.size, _MISSING, "<i2"))}
    low, high = float(curve[finite].min()), float(curve[finite].max())
    scale = (high - low) / 65534.0
    offset = low + 32767.0 * scale
    steps = np.full(curve.size, _MISSING, dtype="<i2")
    if scale > 0.0:
        exact = np.round((curve[finite] - offset) / scale)
        steps[finite] = np.clip(exact, -32767, 32767).astype("<i2")
    else:
        steps[finite] = 0
        offset = low
    return {"offset": offset, "scale": scale, "int16": _base64(steps)}


def _base64(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")
