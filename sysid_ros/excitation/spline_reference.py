# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A motion given by its knots: the cubic spline through them, at rest at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from sysid_ros.arrays import FloatArray


@dataclass(frozen=True)
class SplineReference:
    """The cubic spline through a table's rows, with velocity zero at both ends.

    It is the only one (Farin, Curves and Surfaces for CAGD, 2002, section 9.4), so that the rows
    of a designed motion at its knots say all of it.
    """

    joints: tuple[str, ...]
    times: FloatArray  # (m,) s, starting at 0
    table: FloatArray  # (m, n)
    rests: bool = True

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return float(self.times[-1])

    def values(self, times: FloatArray) -> FloatArray:
        """Commands (m, n) at ``times`` (m,) in seconds."""
        return np.asarray(self._spline(np.clip(times, 0.0, self.duration)))

    @cached_property
    def _spline(self) -> scipy.interpolate.CubicSpline:
        return scipy.interpolate.CubicSpline(self.times, self.table, bc_type="clamped")
