# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From derivatives of a rollout's rows to derivatives at the instants of the measurements."""

from __future__ import annotations

from sysid_ros.arrays import FloatArray, IntArray
from sysid_ros.engine.compiled import compiled


@compiled
def interpolate(
    derivatives: FloatArray,
    rows: IntArray,
    weights: FloatArray,
    slots: IntArray,
    samples: IntArray,
    columns: IntArray,
    total: FloatArray,
    out: FloatArray,
) -> None:
    """Combine a few rows for every sample and add them to its derivatives.

    Args:
      derivatives: Of the readings, (steps, n_reading, n).
      rows: The rows around each sample, (m, k).
      weights: Their weights, (m, k).
      slots: The reading of each sample, (m,).
      samples: Where each belongs in ``out``, (m,).
      columns: Where each direction does, (n,).
      total: Scratch, (n,).
      out: Added to.
    """
    for i in range(slots.size):
        total[:] = 0.0
        for k in range(rows.shape[1]):
            weight = weights[i, k]
            if weight != 0.0:
                row = derivatives[rows[i, k], slots[i]]
                for c in range(total.size):
                    total[c] += weight * row[c]
        target = out[samples[i]]
        for c in range(total.size):
            target[columns[c]] += total[c]
