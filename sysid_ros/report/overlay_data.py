# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Predictions of several models on the same recordings, as the page's script reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sysid_ros.judgement import SequenceFit, SignalFit
from sysid_ros.report.decimate import points_each, reduce_curves
from sysid_ros.report.render import json_for_html
from sysid_ros.report.signal_data import packed_curve, packed_times
from sysid_ros.report.svg import unit

_VALUE_BUDGET = 3_000_000  # 16-bit values in base64: 8 MB
_MAX_POINTS = 8_000  # per curve


def overlay_data(predictions: Mapping[str, Sequence[SequenceFit]]) -> list[dict[str, Any]]:
    """Lay the predictions of several models over each other.

    Args:
      predictions: By model, the same recordings in the same order.

    Returns:
      One dictionary per recording, ready for JSON: what was measured, and each model's curve.
    """
    first = next(iter(predictions.values()))
    signals = sum(len(sequence.signals) for sequence in first)
    points = points_each(_VALUE_BUDGET, signals * (len(predictions) + 1), _MAX_POINTS)
    return [
        {
            "name": sequence.name,
            "signals": [
                _signal([fits[i].signals[k] for fits in predictions.values()], points)
                for k in range(len(sequence.signals))
            ],
        }
        for i, sequence in enumerate(first)
    ]


def _signal(fits: Sequence[SignalFit], points: int) -> dict[str, Any]:
    first = fits[0]
    curves = reduce_curves(first.times, (first.measured, *(fit.fitted for fit in fits)), points)
    return {
        "name": first.name,
        "unit": unit(first.unit),
        "rmse": [fit.rmse if math.isfinite(fit.rmse) else None for fit in fits],
        "times": packed_times(curves.times, even=curves.reduced),
        "curves": [packed_curve(curve) for curve in curves.values],
    }


def overlay_content(predictions: Mapping[str, Sequence[SequenceFit]]) -> dict[str, Any]:
    """Return the variables of templates that include ``overlay_section.html.j2``."""
    sequences = overlay_data(predictions)
    return {
        "overlay_names": list(predictions),
        "overlay_sequences": [sequence["name"] for sequence in sequences],
        "overlay": json_for_html({"names": list(predictions), "sequences": sequences}),
    }
