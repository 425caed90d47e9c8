# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What several models predict on the same recordings, as the page's script reads it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sysid_ros.judgement.outcome import SequenceFit, SignalFit
from sysid_ros.report.decimate import reduce_curves
from sysid_ros.report.render import asset, json_for_html
from sysid_ros.report.signal_data import packed_curve, packed_times
from sysid_ros.report.svg.numbers import unit

_VALUE_BUDGET = 3_000_000  # 16-bit values in base64: 8 MB
_MAX_POINTS = 8_000  # per curve
_MIN_POINTS = 200


def overlay_data(predictions: Mapping[str, Sequence[SequenceFit]]) -> list[dict[str, Any]]:
    """Lay the predictions of several models over each other.

    Args:
      predictions: By model, the same recordings in the same order.

    Returns:
      One dictionary per recording, ready for JSON: what was measured, and each model's curve.
    """
    first = next(iter(predictions.values()))
    signals = max(1, sum(len(sequence.signals) for sequence in first))
    share = _VALUE_BUDGET // (signals * (len(predictions) + 1))
    points = max(_MIN_POINTS, min(_MAX_POINTS, share)) // 2 * 2
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
    """What a template that includes ``overlay_section.html.j2`` asks for.

    Args:
      predictions: As for :func:`overlay_data`.
    """
    sequences = overlay_data(predictions)
    return {
        "overlay_names": list(predictions),
        "overlay_sequences": [sequence["name"] for sequence in sequences],
        "overlay": json_for_html({"names": list(predictions), "sequences": sequences}),
        "licence": asset("uplot.LICENSE"),
    }
