# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The derivative of a comparison: a sparse linear map from simulated rows to residuals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray, IndexArray
from sysid_ros.engine.residuals import Comparison, PreparedComparison, SignalCorrection
from sysid_ros.engine.signals import TimeSeries, cubic_weights, stamp_offsets
from sysid_ros.engine.simulation.run_batch import ResidualSlope


def comparison_slope(
    predicted: TimeSeries,
    ready: PreparedComparison,
    model: Any,
    comparison: Comparison,
    corrections: Mapping[str, SignalCorrection],
) -> ResidualSlope:
    """Return the derivative of a comparison's residuals by the prediction.

    Args:
      predicted: Simulated sensors, equally spaced.
      ready: The comparison with the recording.
      model: The model that was simulated.
      comparison: What is compared.
      corrections: Delay, gain and bias by signal; no orientations are compared.

    Returns:
      The derivative by the sensor data of residuals that are flattened as in ``sysid.residual``,
      signal fastest.
    """
    mapping = ready.measured.signal_mapping or {}
    blocks = ready.blocks
    factors = ready.factors()
    offsets = stamp_offsets(model, mapping, comparison.stamping)
    sensors = predicted.signal_mapping or {}
    rows, weights, columns = [], [], []
    known: dict[float, tuple[IndexArray, FloatArray]] = {}  # by how late a signal is
    for block in blocks:
        for k, column in enumerate(block.columns):
            correction = corrections.get(block.name, SignalCorrection())
            late = correction.delay + float(offsets[column])
            if late not in known:
                instants = ready.measured.times - correction.delay - offsets[column]
                cubic = comparison.stamping == "true"
                known[late] = _interpolation(predicted.times, instants, cubic)
            rows.append(known[late][0])
            weights.append(known[late][1])
            columns.append(np.full(len(factors), sensors[block.name][1][k]))
    scaled = np.stack(weights, axis=1) * factors[:, :, None]
    return ResidualSlope(
        np.stack(rows, axis=1).reshape(-1, 4).astype(np.int64),
        np.ascontiguousarray(scaled.reshape(-1, 4)),
        np.stack(columns, axis=1).ravel().astype(np.int64),
    )


def _interpolation(
    times: FloatArray, instants: FloatArray, cubic: bool
) -> tuple[IndexArray, FloatArray]:
    """Rows (m, 4) and weights (m, 4) that evaluate equally spaced samples at instants."""
    spacing = (times[-1] - times[0]) / (len(times) - 1)
    position = np.clip((instants - times[0]) / spacing, 0.0, len(times) - 1.0)
    if cubic:
        each = cubic_weights(position, len(times))
        missing = 4 - each.rows.shape[1]
        return np.pad(each.rows, ((0, 0), (0, missing))), np.pad(
            each.weights, ((0, 0), (0, missing))
        )
    first = np.clip(np.floor(position).astype(np.intp), 0, len(times) - 2)
    fraction = position - first
    rows = np.minimum(first[:, None] + np.arange(4), len(times) - 1)
    weights = np.zeros((len(instants), 4))
    weights[:, 0], weights[:, 1] = 1.0 - fraction, fraction
    return rows, weights
