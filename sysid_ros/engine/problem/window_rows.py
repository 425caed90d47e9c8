# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of the objective by window: of its residuals, and of its start's prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.windows import WindowBatch


@dataclass(frozen=True)
class WindowRows:
    """The contribution of one window at a point.

    Attributes:
      matrix: ``[J_theta J_start r]`` in units of noise, the start's prior rows last, shape
        (m + n_start, p + n_start + 1).
    """

    matrix: FloatArray


def start_rows(batch: WindowBatch, starts: FloatArray, width: int) -> FloatArray:
    """Rows of the priors of a batch's starts, (w, n_start, width)."""
    n_start = batch.n_start
    rows = np.zeros((len(starts), n_start, width))
    own = np.arange(n_start)
    rows[:, own, width - 1 - n_start + own] = 1.0 / batch.spread
    rows[:, :, -1] = starts / batch.spread
    return rows
