# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Rows of inverse dynamics of a recording that grows, each made once.

A row lies half a filter before the latest sample. So that an estimate need not be that old, rows of
shorter filters fill the time up to :data:`EDGE` before the end, until those of the fit take their
place. A linear filter leaves a linear equation true, be it long or short; a short one lets more
noise pass.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.inverse_dynamics import Recording
from sysid_ros.engine.moving_horizon.torque_blocks import Block
from sysid_ros.engine.regressor import (
    HALF_LENGTH,
    BlockedRows,
    Filters,
    Regressor,
    RowGrid,
    SmoothStretch,
    smooth,
    stretches_of,
    sum_grams,
)

EDGE = 0.05  # s before the latest sample, where its shortest filters allow rows
_BEYOND = 4.0  # times the row filter's cut-off: the motion filter's
_FASTEST = 0.3  # of the sampling rate, a cut-off
FEWEST_SAMPLES = 64  # of a stretch


class GrowingRows:
    """Rows through one set of filters.

    Attributes:
      filters: The low-passes.
      done: The latest row, s; NaN before the first one.
      latest: What the rows of the last call are made of.
    """

    def __init__(
        self,
        regressor: Regressor,
        filters: Filters,
        *,
        apart: bool,
        merge: FloatArray | None = None,
        weight: Regressor | None = None,
    ) -> None:
        """Begin without rows.

        Args:
          regressor: The robot's.
          filters: The low-passes.
          apart: Whether rows are kept apart in which friction's sign is uncertain.
          merge: From columns that are wanted to all of them, (p, w); by default all are.
          weight: Of one body alone, whose weight has columns besides.
        """
        self._reversals_apart, self._merge, self._weight = apart, merge, weight
        self.filters = filters
        self.done = math.nan
        self.latest: list[SmoothStretch] = []
        self._regressor = regressor

    @property
    def needed_from(self) -> float:
        """The first instant whose samples the next rows need, s."""
        return self.done - self.filters.reach

    def new(self, recording: Recording) -> Block | None:
        """Sum the rows that have come since the last call."""
        found = self.latest = self._smoothed(recording)
        if not found:
            return None
        begin = float(found[0].times[0]) if math.isnan(self.done) else self.done
        self.done = float(found[-1].times[-1])
        numbers = [np.zeros(len(s.times), dtype=np.intp) for s in found]
        wanted = BlockedRows(found, self.filters, numbers, 1, apart=self._reversals_apart)
        grams = sum_grams(self._regressor, wanted, merge=self._merge, weight=self._weight)
        return Block(begin, self.done, grams)

    def _smoothed(self, recording: Recording) -> list[SmoothStretch]:
        """The new rows, on the grid of those before."""
        model = self._regressor.model
        later, after = recording, -math.inf
        if not math.isnan(self.done) and len(recording.times) > 1:
            step = float(np.median(np.diff(recording.times)))
            grid = RowGrid.of(self.filters, step)
            begin = self.done + (grid.apart - grid.first) * step
            first = int(np.searchsorted(recording.times, begin - 0.5 * step))
            while first > 0 and len(recording.times) - first < FEWEST_SAMPLES:
                first -= grid.apart
            later, after = _behind(recording, max(first, 0)), self.done + 0.25 * grid.apart * step
        if len(later.times) < FEWEST_SAMPLES:
            return []
        cut = (smooth(model, one, self.filters) for one in stretches_of(model, later))
        rows = (one.later_than(after) for one in cut if one is not None)
        return [one for one in rows if one is not None]


def shortest_filters(filters: Filters, rate: float) -> Filters | None:
    """Filters that end :data:`EDGE` before the latest sample, or as near to it as a rate allows.

    Returns:
      ``None`` where the given ones do so.
    """
    rows = min(HALF_LENGTH * (1.0 + 1.0 / _BEYOND) / EDGE, _FASTEST * rate)
    found = Filters(np.full_like(filters.motion, min(_BEYOND * rows, _FASTEST * rate)), rows, {})
    return found if found.reach < 0.8 * filters.reach else None


def _behind(recording: Recording, first: int) -> Recording:
    """A recording from one of its samples on."""
    return replace(
        recording,
        times=recording.times[first:],
        qpos=recording.qpos[first:],
        torque=recording.torque[first:],
    )
